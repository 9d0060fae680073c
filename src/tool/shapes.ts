/** The shapes of calls, batches and plans: the same for HTTP, MCP, MQTT and the library (contract, sections 4 and 7). */
import type { Effect, ErrorCode, ErrorDetail, Outcome } from '../errors.ts'
import type { Claim, Declared, Policy } from '../scheduler/declaration.ts'
import type { ContextConflict, TaskTiming } from '../scheduler/task.ts'
import type { Arguments, JsonSchema } from './tool.ts'

export interface CallRequest {
  readonly id?: string
  readonly name: string
  readonly arguments?: Arguments
  readonly confirmation?: string
}

export interface BatchOptions {
  readonly policy?: Policy
  readonly priority?: 'interactive' | 'automation'
  readonly deadlineMs?: number
  readonly maxAgeMs?: number
  readonly onError?: 'continue' | 'abort'
  readonly context?: Readonly<Record<string, unknown>>
}

export interface BatchRequest extends BatchOptions {
  readonly calls: readonly CallRequest[]
}

export interface CallError {
  readonly code: ErrorCode
  readonly message: string
  /** JSON pointer into the arguments. */
  readonly field?: string
  readonly hint?: string
  readonly retryable: boolean
  readonly details?: Readonly<Record<string, unknown>> | readonly ErrorDetail[]
}

export interface CallResult {
  readonly id: string
  /** What was sent, if the id had to be minted anew. */
  readonly requestedId?: string
  readonly name: string
  readonly status: 'ok' | 'error'
  readonly outcome: Outcome
  readonly value?: unknown
  readonly error?: CallError
  /** ISO 8601. */
  readonly measuredAt?: string
  readonly shared: boolean
  readonly attempts: number
  /** No acknowledgement by design: the bytes left, nothing more is known. */
  readonly sent?: true
  readonly confirmedBy?: 'read_back'
  readonly timing: TaskTiming
}

export interface BatchResponse {
  readonly id: string
  readonly policy: Policy
  readonly partitions: readonly (readonly string[])[]
  /** Calls that really ran. */
  readonly executed: number
  readonly shared: number
  readonly results: readonly CallResult[]
  readonly context: Readonly<Record<string, unknown>>
  readonly conflicts: readonly ContextConflict[]
}

export interface PlannedCall {
  readonly id: string
  readonly name: string
  readonly partition: number
  readonly waitsFor: readonly { readonly id: string; readonly reason: string }[]
  /** Under `resource`: calls that were given before it and that it may overlap or pass. */
  readonly overlaps: readonly string[]
  readonly claims: readonly Claim[]
  readonly earlyStart: { readonly yes: boolean; readonly reason: string }
  /** The call would answer `confirmation_required`. */
  readonly confirmation: boolean
  readonly available: boolean
  /** It would be refused in its place: what it would answer, but for a missing confirmation. */
  readonly error?: CallError
}

export interface PlanResponse {
  readonly policy: Policy
  readonly partitions: readonly (readonly string[])[]
  readonly calls: readonly PlannedCall[]
}

/** A tool as it is listed. */
export interface ToolView {
  readonly name: string
  readonly device: string | null
  readonly command: string | null
  readonly title: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly returns: JsonSchema
  readonly effect: Effect
  readonly parallelSafe: boolean
  readonly serial: boolean
  readonly declared: Declared
  readonly because?: string
  readonly dangerous: boolean
  readonly claims: readonly Claim[]
  readonly timeoutMs: number | null
  readonly available: boolean
}

/** A batch that goes on by itself; `results` are those so far, in declared order. */
export interface BatchStatus extends BatchResponse {
  readonly state: 'running' | 'done'
}

/** The emergency stop. While it is latched every `set` and `act` is answered `stopped`. */
export interface StopStatus {
  readonly stopped: boolean
  /** ISO 8601. */
  readonly since: string | null
  /** Who stopped. */
  readonly by: string | null
  /** What the devices' stop commands came to. */
  readonly commands: readonly CallResult[]
}

/** Raw bytes through a port's queue. */
export interface SendRequest {
  readonly bytes: Uint8Array
  /** How long to listen for the answer: 0 to 10,000. */
  readonly waitMs: number
}

export interface SendResult {
  readonly outcome: Outcome
  readonly error?: CallError
  /** What came within `waitMs`, whosever it was. */
  readonly received: { readonly hex: string; readonly text: string }
}
