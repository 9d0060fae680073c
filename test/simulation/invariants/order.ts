/**
 * Who wants the same resource gets it in the order in which they came, within a rank, and never after one of a lower
 * rank. Age counts: after ten seconds an automation's call is worth a person's. A call that waits for a reply that may
 * still come lets pass those that go to other devices; a call of several resources lets others pass for two seconds.
 */
import type { CallRecord, History, Invariant, Violation, Write } from '../history.ts'
import { callsByNonce, endOf, groupedBy, MOMENT_MS, portOf, startOf } from './trace.ts'
import {
  acceptanceOrder,
  conflict,
  isClean,
  ownClaims,
  PERSON,
  rankOf,
  turnOf,
  waitedUntil,
} from './turns.ts'

const name = 'order'
const SEVERAL_CLAIMS_MS = 2_000

export const order: Invariant = {
  name,
  check: (history) => [...violations(history)],
}

/** A run that began. */
interface Start {
  readonly call: CallRecord | undefined
  readonly at: number
  /** It was chosen then or later, before all that still waited. */
  readonly chosenAfter: number
}

function* violations(history: History): Generator<Violation> {
  const came = acceptanceOrder(history)
  const starts = [...toolStarts(history), ...lineStarts(history)]
  const waiting = history.calls.map((call) => ({
    call,
    turn: turnOf(history, call),
    until: waitedUntil(history, call),
    isSeveral: ownClaims(history, call) > 1,
    isReady: isAlwaysReady(history, call),
  }))
  for (const start of starts) {
    const { call: other, at, chosenAfter } = start
    for (const { call, turn, until, isSeveral, isReady } of waiting) {
      if (turn >= chosenAfter - MOMENT_MS || until <= at + MOMENT_MS || call === other) continue
      if (isSeveral && chosenAfter - turn <= SEVERAL_CLAIMS_MS + MOMENT_MS) continue
      if (!other || call.lane.life !== other.lane.life) continue
      if (!isReady && call.plan.device !== other.plan.device) continue
      if (!conflict(history, call.plan, other.plan)) continue
      const rank = rankOf(call, chosenAfter - turn - MOMENT_MS)
      const otherRank = rankOf(other, at - turnOf(history, other) + MOMENT_MS)
      const isBefore = (came.get(call) ?? 0) < (came.get(other) ?? 0)
      if (rank > otherRank || (rank === otherRank && isBefore)) yield violation(call, turn, start)
    }
  }
  yield* polledBefore(history, waiting)
}

/** A poll goes before no person. */
function* polledBefore(
  history: History,
  waiting: readonly { call: CallRecord; turn: number; until: number; isReady: boolean }[],
): Generator<Violation> {
  for (const [port, writes] of groupedBy(history.writes, (write) => write.port)) {
    for (const [index, write] of writes.entries()) {
      if (write.nonce !== 0) continue
      const chosenAfter = lineFreeAt(history, writes, index)
      for (const { call, turn, until, isReady } of waiting) {
        const { plan, lane } = call
        if (turn >= chosenAfter - MOMENT_MS || until <= write.at + MOMENT_MS) continue
        if (!isReady || lane.life !== write.life) continue
        if (plan.device === undefined || portOf(history, plan.device).id !== port) continue
        if (rankOf(call, chosenAfter - turn - MOMENT_MS) !== PERSON) continue
        yield violation(call, turn, { call: undefined, at: write.at, chosenAfter })
      }
    }
  }
}

/** A tool's run begins in the moment in which it is chosen. */
function toolStarts(history: History): readonly Start[] {
  return history.calls.flatMap((call) => {
    const at = call.plan.device === undefined ? startOf(history, call) : undefined
    return at === undefined ? [] : [{ call, at, chosenAfter: at }]
  })
}

/** Who is to have a line is chosen when it becomes free; then there may be a silence before the first byte. */
function lineStarts(history: History): readonly Start[] {
  const starts: Start[] = []
  for (const writes of groupedBy(history.writes, ({ port }) => port).values()) {
    const seen = new Set<number>()
    for (const [index, { nonce = 0, at }] of writes.entries()) {
      const call = callsByNonce(history).get(nonce)
      if (!call || seen.has(nonce) || history.lastCalls.includes(call)) continue
      seen.add(nonce)
      const chosenAfter = Math.max(turnOf(history, call), lineFreeAt(history, writes, index))
      starts.push({ call, at, chosenAfter })
    }
  }
  return starts
}

/** When all that was written before was over, at the earliest. */
function lineFreeAt(history: History, writes: readonly Write[], index: number): number {
  const at = writes[index]?.at ?? 0
  let free = 0
  for (const { nonce, at: before } of writes.slice(Math.max(0, index - 3), index)) {
    const call = callsByNonce(history).get(nonce ?? 0)
    const endedAt = call && endOf(history, call)
    free = Math.max(free, endedAt !== undefined && endedAt <= at ? endedAt : before)
  }
  return free
}

function isAlwaysReady(history: History, { plan }: CallRecord): boolean {
  return plan.device === undefined || isClean(history, portOf(history, plan.device))
}

function violation(one: CallRecord, turn: number, { call: other, at }: Start): Violation {
  const overtaker = other
    ? `${other.plan.nonce} (${nameOf(other)}) of ${other.submittedAt}`
    : `a poll of its line`
  const message = `${overtaker} started at ${at} before ${one.plan.nonce} (${nameOf(one)}), whose turn came at ${turn}`
  return { invariant: name, message }
}

function nameOf({ plan, lane }: CallRecord): string {
  return `${plan.device ?? ''} ${plan.name}, ${lane.plan.priority}`.trim()
}
