/**
 * The life of one call: accepted, waiting for its turn in the lane, queued, running, settled. Pure: the time comes
 * with each event.
 *
 * A latch: the first ending stands, and what comes later is counted. A deadline decides only whether a run starts.
 */
import { assert, type Effect, GatewayError, outcomeOf } from '../errors.ts'
import type { TaskResult, TaskRun, TaskTiming, TaskValue } from './task.ts'

export type Ending = { readonly value: TaskValue } | { readonly error: GatewayError }

interface Acceptance {
  readonly acceptedAtMs: number
  /** Infinity: none. */
  readonly deadlineAtMs: number
}

export interface SettledCall extends Acceptance {
  readonly phase: 'settled'
  /** Undefined: it never ran. */
  readonly startedAtMs: number | undefined
  readonly settledAtMs: number
  readonly ending: Ending
  /** Endings that came after the first. */
  readonly lateEndings: number
}

export type CallState =
  | (Acceptance & { readonly phase: 'accepted' | 'waiting' | 'queued' })
  | (Acceptance & { readonly phase: 'running'; readonly startedAtMs: number })
  | SettledCall

export type CallEvent =
  /** Its place in the lane is known. */
  | { readonly kind: 'place' }
  /** Everything that it waits for in its lane is over. */
  | { readonly kind: 'queue' }
  /** It is admitted; past its deadline it settles instead. */
  | { readonly kind: 'start'; readonly atMs: number }
  /** It shall not run any more: cancelled, aborted, refused, out of time. A run that has begun goes on. */
  | { readonly kind: 'withdraw'; readonly atMs: number; readonly error: GatewayError }
  /** Its run is over. */
  | { readonly kind: 'end'; readonly atMs: number; readonly ending: Ending }

export function acceptCall(acceptedAtMs: number, deadlineAtMs: number | undefined): CallState {
  return { phase: 'accepted', acceptedAtMs, deadlineAtMs: deadlineAtMs ?? Number.POSITIVE_INFINITY }
}

export function stepCall(state: CallState, event: CallEvent): CallState {
  switch (event.kind) {
    case 'place':
      assert(state.phase === 'accepted', 'only an accepted call is placed')
      return { ...state, phase: 'waiting' }
    case 'queue':
      assert(state.phase === 'waiting', 'only a waiting call is queued')
      return { ...state, phase: 'queued' }
    case 'start':
      assert(state.phase === 'queued', 'only a queued call starts')
      if (isPastDeadline(state, event.atMs)) return settle(state, { error: deadlineExceeded() }, event.atMs)
      return { ...state, phase: 'running', startedAtMs: event.atMs }
    case 'withdraw':
      if (state.phase === 'running') return state
      return settle(state, { error: event.error }, event.atMs)
    case 'end':
      assert(state.phase === 'running' || state.phase === 'settled', 'only a running call ends')
      return settle(state, event.ending, event.atMs)
  }
}

function settle(state: CallState, ending: Ending, settledAtMs: number): SettledCall {
  if (state.phase === 'settled') return { ...state, lateEndings: state.lateEndings + 1 }
  const { acceptedAtMs, deadlineAtMs } = state
  const startedAtMs = state.phase === 'running' ? state.startedAtMs : undefined
  return { phase: 'settled', acceptedAtMs, deadlineAtMs, startedAtMs, settledAtMs, ending, lateEndings: 0 }
}

export function isPastDeadline(state: CallState, nowMs: number): boolean {
  return nowMs >= state.deadlineAtMs
}

export function deadlineExceeded(): GatewayError {
  return new GatewayError('deadline_exceeded', 'the deadline passed before the call could start')
}

/** The one result of a settled call. */
export function resultOf(
  task: { readonly id: string; readonly effect: Effect },
  state: SettledCall,
  progress: Readonly<TaskRun['progress']>,
): TaskResult {
  const started = state.startedAtMs !== undefined
  const facts = { id: task.id, started, sent: progress.sent, timing: timingOf(state, progress.wireMs) }
  if ('value' in state.ending) {
    const ok = state.ending.value
    const outcome = ok.unacknowledged ? 'unknown' : 'executed'
    return { ...facts, outcome, ok, attempts: ok.attempts ?? 1 }
  }
  const { error } = state.ending
  const { effect } = task
  const { sent } = progress
  const { provenNotDone } = error
  // Whatever the code: a run that never began did nothing.
  const outcome = started ? outcomeOf(error.code, { effect, sent, provenNotDone }) : 'not_executed'
  return { ...facts, outcome, error, attempts: started ? 1 : 0 }
}

function timingOf(state: SettledCall, wireMs: number): TaskTiming {
  const startedAtMs = state.startedAtMs ?? state.settledAtMs
  return {
    queuedMs: tenths(startedAtMs - state.acceptedAtMs),
    runMs: tenths(state.settledAtMs - startedAtMs),
    wireMs: tenths(wireMs),
  }
}

function tenths(durationMs: number): number {
  return Math.round(durationMs * 10) / 10
}
