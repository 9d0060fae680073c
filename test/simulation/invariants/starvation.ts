/**
 * Where nothing goes wrong, every call starts within a bound that is known when it comes: all that was accepted before
 * it, ten seconds of those that came after it and rank higher, and its own line's pace. A deadline ends it before that.
 */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import { deviceOf, endOf, portOf, startOf } from './trace.ts'

const name = 'no-starvation'
const AGEING_MS = 10_000

export const noStarvation: Invariant = {
  name,
  check: (history) => (history.plan.faults.length > 0 ? [] : [...violations(history)]),
}

function* violations(history: History): Generator<Violation> {
  if (
    history.plan.submissions.some(
      ({ kind, calls }) => kind === 'stop' || calls.some((c) => c.device === undefined),
    )
  )
    return
  for (const call of history.calls) {
    const { plan, lane, submittedAt, result } = call
    if (plan.device === undefined || lane.calls.length > 1 || call.cancelledAt !== undefined) continue
    if (result?.error?.code === 'queue_full') continue
    const bound = submittedAt + boundMs(history, call)
    const startedAt = startOf(history, call)
    const at = startedAt ?? endOf(history, call) ?? Number.POSITIVE_INFINITY
    if (at <= bound) continue
    yield {
      invariant: name,
      message: `call ${plan.nonce} of ${submittedAt} started at ${startedAt}, not by ${bound}`,
    }
  }
}

function boundMs(history: History, call: CallRecord): number {
  const port = portOf(history, call.plan.device ?? '')
  const before = history.calls.filter((other) => {
    if (other === call || other.plan.device === undefined) return false
    if (portOf(history, other.plan.device) !== port) return false
    return (
      other.submittedAt <= call.submittedAt + AGEING_MS && (endOf(history, other) ?? 0) >= call.submittedAt
    )
  })
  let sum = AGEING_MS
  for (const other of [...before, call]) sum += longestRun(history, other)
  return sum
}

/** Two frames each way, the device's thinking, and the line's silence, twice for a run of two. */
function longestRun(history: History, { plan }: CallRecord): number {
  const device = deviceOf(history, plan.device ?? '')
  const port = portOf(history, device.id)
  const frameMs = (14 * 10_000) / port.baudRate
  return 2 * (2 * frameMs + device.answersAfterMs + device.gapMs + 2 * port.latencyMs + 150)
}
