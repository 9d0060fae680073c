/**
 * One transaction at a time on a line: between the first byte of one and its close no byte of another is written, and a
 * run of several transactions keeps the line. Closed is a transaction by an answer of its device, by its timeout, by the
 * end of its call, or by the end of the opening. What claims a resource exclusively overlaps with nothing that claims it.
 */
import type { ExecutionRecord, History, Invariant, Violation, Write } from '../history.ts'
import { EXCLUSIVE_TOOLS } from '../tools.ts'
import { answers, callsByNonce, deviceOf, endOf, portsOf } from './trace.ts'

const name = 'wire-exclusion'
/** Longer than any adapter holds bytes back. */
const SILENCE_MS = 35

export const wireExclusion: Invariant = {
  name,
  check: (history) => [
    ...portsOf(history).flatMap((port) => [...overlapping(history, port), ...torn(history, port)]),
    ...overlappingTools(history),
  ],
}

function* overlapping(history: History, port: string): Generator<Violation> {
  let before: Write | undefined
  for (const write of history.writes) {
    if (write.port !== port) continue
    if (before && before.life === write.life && !isClosed(history, before, write)) {
      yield {
        invariant: name,
        message: `${port}: the request of ${write.nonce} at ${write.at} is written while that of ${before.nonce} at ${before.at} is open`,
      }
    }
    before = write
  }
}

function isClosed(history: History, open: Write, next: Write): boolean {
  const timeoutMs = open.device === undefined ? 0 : deviceOf(history, open.device).timeoutMs
  if (next.at >= open.at + timeoutMs) return true
  const call = open.nonce === undefined ? undefined : callsByNonce(history).get(open.nonce)
  const endedAt = call && endOf(history, call)
  if (endedAt !== undefined && endedAt <= next.at) return true
  const between = (event: { readonly port: string; readonly sequence: number }) =>
    event.port === open.port && event.sequence > open.sequence && event.sequence < next.sequence
  if (history.openings.some((opening) => between(opening))) return true
  const reads = history.reads.filter(between)
  const heard = Buffer.concat(reads.map(({ bytes }) => bytes))
  // As much as an answer, and then silence: the answer was spoiled, and nothing more comes.
  const isSpoiled = heard.length >= 5 && next.at - (reads.at(-1)?.at ?? 0) >= SILENCE_MS
  return isSpoiled || answers(history, open, heard)
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
      yield { invariant: name, message: `${one.by} ${one.nonce} overlaps with ${other.by} ${other.nonce}` }
    }
  }
}

function conflict(one: ExecutionRecord, other: ExecutionRecord): boolean {
  if (one.by === 'rearrange') return true
  return other.by === 'open_valve' || other.by === 'watch_valve'
}

function overlap(one: ExecutionRecord, other: ExecutionRecord): boolean {
  const end = (of: ExecutionRecord) => of.endedAt ?? of.at
  return one.at < end(other) && other.at < end(one)
}
