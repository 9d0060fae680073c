/**
 * On one device, calls of one kind that stand alone are written in the order in which they were handed over, within a
 * rank; and one of a higher rank is not overtaken by one of a lower rank that has not yet waited the ten seconds of
 * ageing.
 */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import { endOf, groupedBy, startOf } from './trace.ts'

const name = 'order'
const AGEING_MS = 10_000

export const order: Invariant = {
  name,
  check: (history) => {
    const alone = history.calls.filter(({ plan, lane, orphaned }) => {
      return plan.device !== undefined && lane.plan.kind === 'batch' && lane.calls.length === 1 && !orphaned
    })
    const kinds = groupedBy(alone, ({ plan }) => `${plan.device} ${plan.name}`)
    return [...kinds.values()].flatMap((calls) => [...overtaken(history, calls)])
  },
}

function* overtaken(history: History, calls: readonly CallRecord[]): Generator<Violation> {
  for (const one of calls) {
    for (const other of calls) {
      if (one.submittedAt >= other.submittedAt || one.lane.life !== other.lane.life) continue
      const startedAt = startOf(history, other)
      if (startedAt === undefined) continue
      const rank = rankOf(one) - rankOf(other)
      // A lower rank may have grown by its age; a higher one has only to be there first.
      if (rank < 0) continue
      const waits = (startOf(history, one) ?? endOf(history, one) ?? Number.POSITIVE_INFINITY) > startedAt
      if (waits) yield violation(one, other, startedAt)
    }
  }
  yield* outranked(history, calls)
}

/** A person's call that waits goes before an automation's that came before it. */
function* outranked(history: History, calls: readonly CallRecord[]): Generator<Violation> {
  for (const high of calls) {
    for (const low of calls) {
      if (rankOf(high) <= rankOf(low) || high.lane.life !== low.lane.life) continue
      const startedAt = startOf(history, low)
      if (startedAt === undefined || startedAt <= high.submittedAt + 1) continue
      if (startedAt - low.submittedAt >= AGEING_MS - 1) continue
      const waits = (startOf(history, high) ?? endOf(history, high) ?? Number.POSITIVE_INFINITY) > startedAt
      if (waits && !isWriting(history, low, high.submittedAt)) yield violation(high, low, startedAt)
    }
  }
}

/** It had its turn already, and only waited for the gap of its line. */
function isWriting(history: History, low: CallRecord, at: number): boolean {
  const startedAt = startOf(history, low) ?? 0
  return (
    startedAt - at < 1_200 &&
    !history.writes.some((write) => write.at > at && write.at < startedAt && write.device === low.plan.device)
  )
}

function rankOf({ lane }: CallRecord): number {
  return lane.plan.priority === 'interactive' ? 1 : 0
}

function violation(one: CallRecord, other: CallRecord, at: number): Violation {
  const message = `${other.plan.nonce} of ${other.submittedAt} started at ${at} before ${one.plan.nonce} of ${one.submittedAt} (${one.plan.device} ${one.plan.name})`
  return { invariant: name, message }
}
