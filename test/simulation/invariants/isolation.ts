/** A call to a line where nothing is wrong and nothing else is going on starts at once, whatever happens to other lines. */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import type { Fault, PortPlan } from '../plan.ts'
import { endOf, portOf, startOf } from './trace.ts'

const name = 'isolation'
/** What a line without correlation has before each request, the packet of an adapter, a frame in the other direction. */
const PACE_MS = 120 + 16 + 60
const QUIET_MS = 3_000

export const isolation: Invariant = {
  name,
  check: (history) => {
    if (history.plan.faults.some(touchesAll) || usesGateway(history)) return []
    return history.plan.home.ports
      .filter((port) => !history.plan.faults.some((fault) => touches(fault, port)))
      .flatMap((port) => [...delayed(history, port)])
  },
}

function touchesAll({ kind }: Fault): boolean {
  return kind === 'stall' || kind === 'crash'
}

function usesGateway({ plan }: History): boolean {
  return plan.submissions.some(
    ({ kind, calls }) => kind === 'stop' || calls.some(({ name }) => name === 'rearrange'),
  )
}

function touches(fault: Fault, port: PortPlan): boolean {
  if ('port' in fault) return fault.port === port.id
  return 'device' in fault && port.devices.some(({ id }) => id === fault.device)
}

function* delayed(history: History, port: PortPlan): Generator<Violation> {
  const calls = history.calls.filter(
    ({ plan }) => plan.device !== undefined && portOf(history, plan.device) === port,
  )
  const writes = history.writes.filter((write) => write.port === port.id)
  for (const call of calls) {
    const { submittedAt, plan, lane } = call
    if (lane.calls.length > 1 || call.cancelledAt !== undefined || submittedAt < QUIET_MS) continue
    if (!isAlone(history, call, calls)) continue
    if (
      writes.some(
        ({ at, nonce }) => nonce !== plan.nonce && at > submittedAt - QUIET_MS && at < submittedAt + QUIET_MS,
      )
    )
      continue
    const gapMs = Math.max(...port.devices.map((device) => device.gapMs))
    const startedAt = startOf(history, call)
    if (startedAt !== undefined && startedAt - submittedAt <= gapMs + PACE_MS) continue
    yield {
      invariant: name,
      message: `call ${plan.nonce} on ${port.id}, where nothing was wrong, came at ${submittedAt} and started at ${startedAt}`,
    }
  }
}

function isAlone(history: History, call: CallRecord, calls: readonly CallRecord[]): boolean {
  return calls.every((other) => {
    if (other === call) return true
    const endedAt = endOf(history, other) ?? Number.POSITIVE_INFINITY
    return other.submittedAt > call.submittedAt + QUIET_MS || endedAt < call.submittedAt - QUIET_MS
  })
}
