/**
 * What happens on one line delays nobody on another. While a call has its turn, a line with which nothing is wrong is
 * never idle for longer than a transaction and its silences take; a tool starts in the moment in which its turn has come
 * and its resources are free.
 */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import type { PortPlan } from '../plan.ts'
import { endOf, groupedBy, MOMENT_MS, portOf, startOf } from './trace.ts'
import {
  acceptanceOrder,
  conflict,
  isClean,
  isWhole,
  ownClaims,
  rankOf,
  turnOf,
  waitedUntil,
  wantsGateway,
} from './turns.ts'

const name = 'isolation'
/** What a line without correlation has before each request. */
const SILENCE_MS = 120
const SLACK_MS = 20

export const isolation: Invariant = {
  name,
  check: (history) => {
    if (!isWhole(history)) return []
    const exclusive = history.calls.filter(wantsGateway)
    const free = history.calls.filter((call) => {
      const from = turnOf(history, call)
      const until = ended(history, call)
      if (from >= until || wantsGateway(call)) return false
      return exclusive.every((other) => {
        return other.submittedAt > until || (endOf(history, other) ?? Number.POSITIVE_INFINITY) < from
      })
    })
    return [...idleLines(history, free), ...lateTools(history, free)]
  },
}

/** When it no longer waited; one that never came to an end waited until everything was mended. */
function ended(history: History, call: CallRecord): number {
  return Math.min(waitedUntil(history, call), history.healedAt)
}

function* idleLines(history: History, calls: readonly CallRecord[]): Generator<Violation> {
  const byPort = groupedBy(
    calls.filter(({ plan }) => plan.device !== undefined),
    ({ plan }) => portOf(history, plan.device ?? ''),
  )
  for (const [port, waiting] of byPort) {
    if (!isClean(history, port)) continue
    const openedAt = history.openings.find(
      (opening) => opening.port === port.id && opening.kind === 'open',
    )?.at
    if (openedAt === undefined) continue
    const busy = [...history.writes, ...history.reads]
      .filter((event) => event.port === port.id)
      .map(({ at }) => at)
      .sort((one, other) => one - other)
    const most = transactionMs(port)
    for (const call of waiting) {
      const from = Math.max(turnOf(history, call), openedAt)
      const until = ended(history, call)
      const idleSince = idle(busy, from, until, most)
      if (idleSince === undefined) continue
      const message = `${port.id}, where nothing was wrong, was idle from ${idleSince} on, and call ${call.plan.nonce} waited from ${from} to ${until}`
      yield { invariant: name, message }
    }
  }
}

/** Since when nothing happened for too long. */
function idle(busy: readonly number[], from: number, until: number, most: number): number | undefined {
  let last = from
  for (let index = firstFrom(busy, from); index < busy.length; index += 1) {
    const at = busy[index] ?? until
    if (at > until) break
    if (at - last > most) return last
    last = at
  }
  return until - last > most ? last : undefined
}

function firstFrom(times: readonly number[], from: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) < from) low = middle + 1
    else high = middle
  }
  return low
}

/** A request and its answer, with everything before, between and after them. */
function transactionMs({ baudRate, latencyMs, devices }: PortPlan): number {
  const frameMs = (16 * 10_000) / baudRate
  const answersAfterMs = Math.max(...devices.map((device) => device.answersAfterMs))
  const gapMs = Math.max(...devices.map((device) => device.gapMs), SILENCE_MS)
  return 2 * frameMs + 2 * latencyMs + answersAfterMs + gapMs + SLACK_MS
}

function* lateTools(history: History, calls: readonly CallRecord[]): Generator<Violation> {
  const tools = history.calls.filter(({ plan }) => plan.device === undefined)
  const came = acceptanceOrder(history)
  for (const call of calls) {
    if (call.plan.device !== undefined) continue
    const from = turnOf(history, call)
    const until = ended(history, call)
    const others = tools.filter((other) => other !== call && conflict(history, call.plan, other.plan))
    // One of several resources may keep one free for itself.
    if (others.some((other) => ownClaims(history, other) > 1) || ownClaims(history, call) > 1) continue
    const freeAt = others.reduce((latest, other) => {
      const startedAt = startOf(history, other)
      const endedAt = endOf(history, other) ?? Number.POSITIVE_INFINITY
      // One that ends without a start has stood before others until then.
      if ((startedAt ?? endedAt) > until || endedAt <= from) return latest
      return Math.max(latest, endedAt)
    }, from)
    if (until <= freeAt + MOMENT_MS) continue
    // Somebody who wants the same and waits for a third stands before those who came after him.
    const isBehind = others.some((other) => {
      const isEarlier = (came.get(other) ?? 0) < (came.get(call) ?? 0)
      return isWaiting(history, other, freeAt) && mayStandBefore(history, other, call, { freeAt, isEarlier })
    })
    if (isBehind) continue
    yield {
      invariant: name,
      message: `${call.plan.name} ${call.plan.nonce} could have started at ${freeAt}, and waited until ${until}`,
    }
  }
}

function isWaiting(history: History, call: CallRecord, at: number): boolean {
  return turnOf(history, call) <= at + MOMENT_MS && ended(history, call) > at + MOMENT_MS
}

function mayStandBefore(
  history: History,
  other: CallRecord,
  call: CallRecord,
  { freeAt, isEarlier }: { readonly freeAt: number; readonly isEarlier: boolean },
): boolean {
  const most = rankOf(other, freeAt - turnOf(history, other) + MOMENT_MS)
  const least = rankOf(call, freeAt - turnOf(history, call) - MOMENT_MS)
  return most > least || (most === least && isEarlier)
}
