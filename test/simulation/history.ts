/**
 * What happened in a run, as those saw it who are not the gateway: the caller, the binding under the serial library, and
 * the devices. The invariants judge by this and nothing else. Times are milliseconds of the simulated clock.
 */
import type { ErrorCode, Outcome } from '../../src/errors.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import type { CallPlan, Plan, Submission } from './plan.ts'

export interface History {
  readonly plan: Plan
  readonly calls: readonly CallRecord[]
  readonly lanes: readonly LaneRecord[]
  /** What the gateway handed to the bindings, in order. */
  readonly writes: readonly Write[]
  /** What it was given by them. */
  readonly reads: readonly Read[]
  readonly openings: readonly Opening[]
  /** What devices and tools really did, in order. */
  readonly executions: readonly ExecutionRecord[]
  /** What the gateway told on its feed of readings. */
  readonly readings: readonly ReadingRecord[]
  /** The ends of calls that the feed told, by call id (`n<nonce>`). */
  readonly told: ReadonlyMap<string, readonly Told[]>
  readonly samples: readonly Sample[]
  /** When faults ended and everything was mended. */
  readonly healedAt: number
  /** When everything had come to its end; undefined: it had not within the patience. */
  readonly endedAt: number | undefined
  readonly close: CloseRecord
  /** What ran between the end of all and the close: one call to each device after all was mended. */
  readonly lastCalls: readonly CallRecord[]
  /** What came of the same calls in another run, where each had the gateway to itself; undefined: nobody asked. */
  readonly oneByOne?: History
  /** What the admission model said against the scheduler. */
  readonly objections: readonly string[]
  /** Errors that nobody caught. */
  readonly uncaught: readonly string[]
}

export interface CallRecord {
  readonly plan: CallPlan
  readonly lane: LaneRecord
  /** Its place in its lane. */
  readonly index: number
  submittedAt: number
  /** Undefined: it never came to an end. */
  settledAt: number | undefined
  result: CallResult | undefined
  /** How often it came to an end. */
  settledCount: number
  /** When the caller gave up. */
  cancelledAt: number | undefined
  /** The process was killed before it answered. */
  orphaned: boolean
}

export interface LaneRecord {
  readonly plan: Submission
  readonly calls: CallRecord[]
  /** Ids by partition, as the gateway answered. */
  partitions: readonly (readonly string[])[] | undefined
  /** Which life of the process took it, from 0. */
  readonly life: number
  /** The whole was refused. */
  rejected: string | undefined
}

export interface Told {
  readonly at: number
  readonly outcome: Outcome
  readonly code: ErrorCode | undefined
}

export interface Write {
  readonly sequence: number
  readonly at: number
  readonly port: string
  readonly bytes: Uint8Array
  /** The device that the bytes are for, and the nonce in them; undefined: they are no request of ours. */
  readonly device: string | undefined
  readonly nonce: number | undefined
  readonly life: number
}

export interface Read {
  readonly sequence: number
  readonly at: number
  readonly port: string
  readonly bytes: Uint8Array
}

export interface Opening {
  readonly sequence: number
  readonly at: number
  readonly port: string
  readonly kind: 'open' | 'close' | 'open_failed'
}

export interface ExecutionRecord {
  readonly sequence: number
  readonly at: number
  /** Of a tool: when its run ended. */
  endedAt: number | undefined
  /** The device, or the tool. */
  readonly by: string
  readonly command: string
  readonly nonce: number
  /** What a read was answered; unique in the run. */
  readonly value: number | undefined
}

export interface ReadingRecord {
  readonly at: number
  readonly device: string
  readonly value: unknown
}

/** Taken again and again while the run goes on. */
export interface Sample {
  readonly at: number
  /** By port: what waits and what runs. */
  readonly queues: readonly { readonly port: string; readonly waiting: number; readonly running: number }[]
  /** Timers of the gateway. */
  readonly timers: number
}

export interface CloseRecord {
  /** Undefined: the close did not end. */
  readonly endedAt: number | undefined
  /** Ports that are still open afterwards. */
  readonly openPorts: readonly string[]
  /** Timers of the gateway afterwards. */
  readonly timers: number
  /** Timers of the gateway that is idle and polls nothing, before the close. */
  readonly idleTimers: number
}

/** One thing that must not be. */
export interface Violation {
  readonly invariant: string
  readonly message: string
}

export interface Invariant {
  readonly name: string
  /** Every way in which the history goes against it. */
  check(history: History): readonly Violation[]
}
