/** From what the scheduler says of a task to what its caller is told. */
import { isoTime } from '../clock.ts'
import { type GatewayError, isRetryable } from '../errors.ts'
import type { TaskResult } from '../scheduler/task.ts'
import type { Intake } from './call-intake.ts'
import type { CallError, CallResult } from './shapes.ts'
import type { Tool } from './tool.ts'

export function callResult({ call, requestedId, tool }: Intake, settled: TaskResult): CallResult {
  const { ok, error } = settled
  return {
    id: settled.id,
    ...(requestedId === undefined ? {} : { requestedId }),
    name: call.name,
    status: ok ? 'ok' : 'error',
    outcome: settled.outcome,
    ...(ok ? { value: ok.value } : {}),
    ...(error ? { error: shownError(error, tool) } : {}),
    ...(ok?.measuredAtMs === undefined ? {} : { measuredAt: isoTime(ok.measuredAtMs) }),
    shared: false,
    attempts: settled.attempts,
    ...(ok?.unacknowledged ? { sent: true as const } : {}),
    ...(ok?.confirmedBy ? { confirmedBy: ok.confirmedBy } : {}),
    timing: settled.timing,
  }
}

export function shownError(error: GatewayError, tool: Pick<Tool, 'effect'> | undefined): CallError {
  return {
    code: error.code,
    message: error.message,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    retryable: isRetryable(error.code, tool?.effect ?? 'act'),
    ...(error.details === undefined ? {} : { details: error.details }),
  }
}
