/** What the scheduler is given to run, and what it gives back. It knows nothing of devices or of who is calling. */
import type { ErrorCode, GatewayError, Outcome } from '../errors.ts'
import type { Claim, Declaration, Policy, Rank } from './declaration.ts'

/** The changes of a lane's shared context that a run asks for. */
export type ContextChanges = Readonly<Record<string, unknown>>

/** What a run ended with. A run that fails rejects with a GatewayError. */
export interface TaskValue {
  readonly value: unknown
  readonly context?: ContextChanges
  /** Wall-clock milliseconds at which the value was measured. */
  readonly measuredAtMs?: number
  /** No acknowledgement by design: status ok, outcome unknown. */
  readonly unacknowledged?: true
  readonly confirmedBy?: 'read_back'
  readonly attempts?: number
}

export interface TaskRun {
  /** Aborts on an emergency stop and at the end of a shutdown's patience. */
  readonly signal: AbortSignal
  /** The frozen context of the partition. */
  readonly context: Readonly<Record<string, unknown>>
  /** The run reports the wire: a byte was handed to the binding; time spent on the wire. */
  readonly progress: { sent: boolean; wireMs: number }
}

/** One call as the scheduler sees it. */
export interface Task {
  readonly id: string
  readonly name: string
  /** Undefined: an unknown tool, never safe. */
  readonly declaration: Declaration | undefined
  readonly arguments: Readonly<Record<string, unknown>>
  /** All resources of the run; the scheduler adds `gateway` shared itself. */
  readonly claims: readonly Claim[]
  /** The device it talks to, if it talks to one. */
  readonly device?: string | undefined
  /** Ports whose queue it waits in. */
  readonly ports: readonly string[]
  /** A call that is known to fail (unknown tool, bad arguments, refused …): settled in its place, never run. */
  readonly rejected?: GatewayError | undefined
  /** Why it cannot be queued now (port not open …), asked at acceptance and whenever its port changes. */
  readonly refusal?: (() => GatewayError | undefined) | undefined
  /** Clock time before which it may not start: a late reply that it could take, settling. 0 or past: now. */
  readonly notBefore?: (() => number) | undefined
  readonly run: (run: TaskRun) => Promise<TaskValue>
}

export interface TaskTiming {
  readonly queuedMs: number
  readonly runMs: number
  readonly wireMs: number
}

/** Exactly one for every task. */
export interface TaskResult {
  readonly id: string
  readonly outcome: Outcome
  /** Present unless it failed. */
  readonly ok?: TaskValue
  readonly error?: GatewayError
  /** The run really started. */
  readonly started: boolean
  readonly sent: boolean
  readonly attempts: number
  readonly timing: TaskTiming
}

/**
 * How changes of one context key by several calls become one value. `append` adds the elements of an array, or
 * anything else as one element; `sum`, `max` and `min` take numbers, the old value among them; `last` is the last in
 * declared order.
 */
export type Reducer = 'append' | 'sum' | 'max' | 'min' | 'last'

export interface LaneOptions {
  readonly policy: Policy
  readonly rank: Rank
  /** Absolute, on the clock; undefined: none. */
  readonly deadlineAt?: number
  readonly onError: 'continue' | 'abort'
  readonly context?: Readonly<Record<string, unknown>>
  /** By context key. */
  readonly reducers?: Readonly<Record<string, Reducer>>
}

/** Two calls of one partition that wanted different values of one key: the key keeps its old value. */
export interface ContextConflict {
  readonly key: string
  /** Undefined: the key was absent and stays so. */
  readonly kept: unknown
  readonly wanted: readonly { readonly call: string; readonly value: unknown }[]
}

/** An ordered stream of calls. A batch is a lane filled at once and ended. */
export interface Lane {
  /** Hands the calls over, in order. The promises never reject. */
  add(tasks: readonly Task[]): readonly Promise<TaskResult>[]
  /** No more calls come. Under `batch` the calls of a lane that was filled at once may run together only from here. */
  end(): void
  /** All calls of an ended lane are settled. */
  readonly drained: Promise<void>
  /** Ids by partition, in declared order. */
  partitions(): readonly (readonly string[])[]
  context(): Readonly<Record<string, unknown>>
  conflicts(): readonly ContextConflict[]
  /** Cancels what has not started: one call or all of them. True if something was cancelled. */
  cancel(id?: string): boolean
}

export type { ErrorCode }
