/**
 * One transaction at a time on a line: between the first byte of one and its close no byte of another is written, and a
 * run of several transactions keeps the line. Closed is a transaction by an answer of its device, by its timeout, by the
 * end of its call, or by the end of the opening. What claims a resource exclusively overlaps with nothing that claims it.
 */
import type {
  CallRecord,
  ExecutionRecord,
  History,
  Invariant,
  Opening,
  Read,
  Violation,
  Write,
} from '../history.ts'
import { EXCLUSIVE_TOOLS, shareResource } from '../tools.ts'
import { answers, callsByNonce, deviceOf, endOf, MOMENT_MS, portsOf } from './trace.ts'

const name = 'wire-exclusion'
/** Longer than any adapter holds bytes back. */
const SILENCE_MS = 35
const STOP_PATIENCE_MS = 250

export const wireExclusion: Invariant = {
  name,
  check: (history) => [
    ...portsOf(history).flatMap((port) => [...overlapping(history, port), ...torn(history, port)]),
    ...overlappingTools(history),
  ],
}

function* overlapping(history: History, port: string): Generator<Violation> {
  const heard = {
    reads: history.reads.filter((read) => read.port === port),
    openings: history.openings.filter((opening) => opening.port === port),
  }
  let before: Write | undefined
  for (const write of history.writes) {
    if (write.port !== port) continue
    if (before && before.life === write.life && !isClosed(history, heard, before, write)) {
      yield {
        invariant: name,
        message: `${port}: the request of ${write.nonce} at ${write.at} is written while that of ${before.nonce} at ${before.at} is open`,
      }
    }
    before = write
  }
}

/** What came from a port, in order. */
interface Heard {
  readonly reads: readonly Read[]
  readonly openings: readonly Opening[]
}

function isClosed(history: History, heard: Heard, open: Write, next: Write): boolean {
  const timeoutMs = open.device === undefined ? 0 : deviceOf(history, open.device).timeoutMs
  if (next.at >= open.at + timeoutMs) return true
  const call = open.nonce === undefined ? undefined : callsByNonce(history).get(open.nonce)
  const endedAt = call && endOf(history, call)
  if (endedAt !== undefined && endedAt <= next.at && mayEndEarly(call)) return true
  if (between(heard.openings, open, next).length > 0 || wasStopped(history, open, next)) return true
  const reads = between(heard.reads, open, next)
  const bytes = Buffer.concat(reads.map((read) => read.bytes))
  // As much as an answer, and then silence: the answer was spoiled, and nothing more comes.
  const isSpoiled = bytes.length >= 5 && next.at - (reads.at(-1)?.at ?? 0) >= SILENCE_MS
  return isSpoiled || answers(history, open, bytes)
}

/** Before its answer and before its timeout: only what was stopped, or lost with its port. */
function mayEndEarly(call: CallRecord | undefined): boolean {
  const code = call?.result?.error?.code
  return call?.orphaned === true || code === 'stopped' || code === 'port_lost'
}

/** An emergency stop ends what is on a line, a poll too, whose end nobody is told; its reply has 250 ms to come. */
function wasStopped({ plan }: History, open: Write, next: Write): boolean {
  return plan.submissions.some(({ kind, at }) => {
    return kind === 'stop' && at >= open.at && at + STOP_PATIENCE_MS <= next.at + MOMENT_MS
  })
}

/** Those of a list in order that lie between two writes. */
function between<T extends { readonly sequence: number }>(
  events: readonly T[],
  open: Write,
  next: Write,
): readonly T[] {
  const from = firstAfter(events, open.sequence)
  return events.slice(from, firstAfter(events, next.sequence, from))
}

function firstAfter(events: readonly { readonly sequence: number }[], sequence: number, from = 0): number {
  let [low, high] = [from, events.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle]?.sequence ?? 0) <= sequence) low = middle + 1
    else high = middle
  }
  return low
}

/** The writes of one call are next to each other. */
function* torn(history: History, port: string): Generator<Violation> {
  const over = new Set<number>()
  let current: number | undefined
  for (const { port: at, nonce, at: time } of history.writes) {
    // Polls have no number of their own, nor has a read-back.
    if (at !== port || nonce === undefined || nonce === current) continue
    if (current !== undefined && current !== 0) over.add(current)
    current = nonce
    if (over.has(nonce))
      yield { invariant: name, message: `${port}: the run of ${nonce} is torn apart at ${time}` }
  }
}

function* overlappingTools(history: History): Generator<Violation> {
  const tools = history.executions.filter(({ endedAt }) => endedAt !== undefined)
  for (const one of tools) {
    if (!EXCLUSIVE_TOOLS.some((tool) => tool === one.by)) continue
    for (const other of history.executions) {
      if (one === other || !conflict(one, other) || !overlap(one, other)) continue
      if (!isUnderWay(history, other)) continue
      yield { invariant: name, message: `${one.by} ${one.nonce} overlaps with ${other.by} ${other.nonce}` }
    }
  }
}

/** A request that was held up may reach its device when its call has long timed out, and holds nothing any more. */
function isUnderWay(history: History, { by, nonce, at, endedAt }: ExecutionRecord): boolean {
  if (endedAt !== undefined) return true
  const call = callsByNonce(history).get(nonce)
  if (call) return (endOf(history, call) ?? Number.POSITIVE_INFINITY) > at
  const write = history.writes.findLast((one) => one.device === by && one.nonce === nonce && one.at <= at)
  return write !== undefined && at < write.at + deviceOf(history, by).timeoutMs
}

function conflict(one: ExecutionRecord, other: ExecutionRecord): boolean {
  if (one.by === 'rearrange') return true
  return shareResource(one.by, other.by)
}

function overlap(one: ExecutionRecord, other: ExecutionRecord): boolean {
  const end = (of: ExecutionRecord) => of.endedAt ?? of.at
  return one.at < end(other) && other.at < end(one)
}
