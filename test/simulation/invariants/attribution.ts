/**
 * A value that a call returns stems from an execution that this very call caused: its device gave the number out once,
 * for the nonce that was in the request. The same for what is told as a reading of a poll.
 */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import { executionOfValue } from './trace.ts'

const name = 'attribution'

export const attribution: Invariant = {
  name,
  check: (history) => [
    ...[...history.calls, ...history.lastCalls].flatMap((call) => [...ofCall(history, call)]),
    ...ofReadings(history),
  ],
}

function* ofCall(history: History, { plan, result }: CallRecord): Generator<Violation> {
  if (result?.status !== 'ok' || typeof result.value !== 'object' || result.value === null) return
  for (const value of Object.values(result.value)) {
    if (typeof value !== 'number') continue
    const execution = executionOfValue(history, value)
    const by = plan.device ?? plan.name
    if (execution && execution.nonce === plan.nonce && execution.by === by) continue
    const of = execution ? `${execution.by} for ${execution.nonce} at ${execution.at}` : 'nobody'
    yield {
      invariant: name,
      message: `${by} ${plan.name} ${plan.nonce} returned ${value}, which is of ${of}`,
    }
  }
}

function* ofReadings(history: History): Generator<Violation> {
  for (const { device, value, at } of history.readings) {
    if (typeof value !== 'number') continue
    const execution = executionOfValue(history, value)
    if (execution?.by === device && execution.nonce === 0 && execution.at <= at) continue
    const of = execution ? `${execution.by} for ${execution.nonce} at ${execution.at}` : 'nobody'
    yield { invariant: name, message: `the reading ${value} of ${device} at ${at} is of ${of}` }
  }
}
