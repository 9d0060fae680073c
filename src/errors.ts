/**
 * The one table of what can happen to a call. Its codes, outcomes and retry advice are the public contract:
 * docs/errors.md and the HTTP schema are held equal to it by a test.
 */

/** What a caller may conclude about the device. */
export type Outcome = 'executed' | 'not_executed' | 'unknown'

/** What a repeat of a tool does. */
export type Effect = 'read' | 'set' | 'act'

/**
 * How a code decides its outcome.
 * - `unknown_if_sent`: unknown once a byte was handed to the serial binding, else not_executed.
 * - `unknown_unless_read`: a tool that changes nothing cannot have done anything.
 * - `not_executed_if_proven`: only a refusal that proves that nothing was done.
 */
export type OutcomeRule =
  | 'not_executed'
  | 'unknown'
  | 'unknown_if_sent'
  | 'unknown_unless_read'
  | 'not_executed_if_proven'

/** Whether the caller may send the same call again: always, never, or only for that effect. */
export type RetryRule = 'yes' | 'no' | 'if_read' | 'if_set'

export interface ErrorRow {
  readonly outcome: OutcomeRule
  readonly retryable: RetryRule
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly when: string
}

const row = (
  outcome: OutcomeRule,
  retryable: RetryRule,
  logLevel: ErrorRow['logLevel'],
  when: string,
): ErrorRow => ({ outcome, retryable, logLevel, when })

export const ERRORS = {
  unknown_tool: row('not_executed', 'no', 'info', 'there is no such tool; the hint names near ones'),
  invalid_arguments: row('not_executed', 'no', 'info', 'the arguments do not fit the schema of the tool'),
  truncated_call: row('not_executed', 'no', 'info', 'a streamed call did not arrive whole'),
  ambiguous_call: row('not_executed', 'no', 'info', 'streamed calls cannot be told apart'),
  forbidden: row('not_executed', 'no', 'warn', 'the token may not do this'),
  confirmation_required: row('not_executed', 'yes', 'info', 'the tool is dangerous and nobody has confirmed'),
  interlocked: row('not_executed', 'no', 'warn', 'a `never` rule of the configuration forbids it'),
  device_unavailable: row(
    'not_executed',
    'yes',
    'info',
    'the port is not open, another device is behind it, or the device is in back-off',
  ),
  device_busy: row('not_executed', 'yes', 'info', 'the device says that it is busy'),
  queue_full: row('not_executed', 'yes', 'warn', 'too many calls are waiting'),
  rate_limited: row('not_executed', 'yes', 'info', 'a limit of the tool or the device'),
  storage_unavailable: row(
    'not_executed',
    'yes',
    'error',
    'no journal, so nothing that changes something is done',
  ),
  deadline_exceeded: row('not_executed', 'yes', 'info', 'the deadline passed before the run started'),
  cancelled: row('not_executed', 'no', 'debug', 'cancelled by the caller'),
  aborted: row('not_executed', 'no', 'debug', 'an earlier call of the batch failed'),
  superseded: row('not_executed', 'no', 'debug', 'a later setting of the same thing took its place'),
  refused: row('not_executed', 'no', 'info', 'a person refused it'),
  stopped: row('unknown_if_sent', 'no', 'warn', 'emergency stop or shutdown'),
  interrupted: row('unknown', 'no', 'warn', 'the gateway ended between sent and done'),
  device_restarted: row('unknown_if_sent', 'if_read', 'warn', 'the device booted instead of answering'),
  tool_failed: row('unknown_unless_read', 'no', 'warn', 'the own code of the tool failed'),
  device_error: row('not_executed_if_proven', 'no', 'info', 'the device refused, in its own protocol'),
  timeout: row('unknown', 'if_read', 'info', 'the request was sent and no reply came'),
  bad_reply: row('unknown', 'if_read', 'info', 'only frames came that fail their checksum or form'),
  port_lost: row('unknown_if_sent', 'if_read', 'warn', 'the port went away under the call'),
  unconfirmed: row('unknown', 'if_set', 'warn', 'nothing proves that the device took the command'),
  internal: row('unknown_if_sent', 'no', 'error', 'a fault of the gateway itself'),
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** What is known about the run when it ends in an error. */
export interface ErrorFacts {
  readonly effect: Effect
  /** A byte of the request was handed to the serial binding. */
  readonly sent: boolean
  /** The refusal of the device proves that it did nothing. */
  readonly provenNotDone?: boolean
}

export function outcomeOf(code: ErrorCode, facts: ErrorFacts): Outcome {
  switch (ERRORS[code].outcome) {
    case 'not_executed':
      return 'not_executed'
    case 'unknown':
      return 'unknown'
    case 'unknown_if_sent':
      return facts.sent ? 'unknown' : 'not_executed'
    case 'unknown_unless_read':
      return facts.effect === 'read' ? 'not_executed' : 'unknown'
    case 'not_executed_if_proven':
      return facts.provenNotDone ? 'not_executed' : 'unknown'
  }
}

export function isRetryable(code: ErrorCode, effect: Effect): boolean {
  const rule = ERRORS[code].retryable
  return (
    rule === 'yes' || (rule === 'if_read' && effect === 'read') || (rule === 'if_set' && effect === 'set')
  )
}

export interface ErrorDetail {
  readonly message: string
  /** JSON pointer into the arguments or the body. */
  readonly field?: string
  readonly hint?: string
}

export interface GatewayErrorParts {
  /** JSON pointer into the arguments. */
  readonly field?: string
  /** What to do about it, one sentence. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>> | readonly ErrorDetail[]
  readonly provenNotDone?: boolean
  readonly cause?: unknown
}

/** The only error class. It is told apart by `code`, never by its text. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly hint: string | undefined
  readonly details: GatewayErrorParts['details']
  readonly provenNotDone: boolean

  constructor(code: ErrorCode, message: string, parts: GatewayErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.name = 'GatewayError'
    this.code = code
    this.field = parts.field
    this.hint = parts.hint
    this.details = parts.details
    this.provenNotDone = parts.provenNotDone ?? false
  }
}

/** Ends the process on a programmer error; systemd restarts it. Never for what a device or a user may cause. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message)
}

class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure'
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
