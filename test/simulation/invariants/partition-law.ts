/**
 * What a policy keeps apart does not overlap, and goes in declared order. `partition`: consecutive parallel-safe calls
 * together, every other call for itself. `batch`: all together if all are safe, else one at a time. `resource`: what
 * wants one line keeps its order. The results come in declared order.
 */
import type { CallRecord, History, Invariant, LaneRecord, Violation } from '../history.ts'
import { endOf, isSafe, portOf, startOf } from './trace.ts'

const name = 'partition-law'

export const partitionLaw: Invariant = {
  name,
  check: (history) => history.lanes.flatMap((lane) => [...ofLane(history, lane)]),
}

function* ofLane(history: History, lane: LaneRecord): Generator<Violation> {
  const { calls } = lane
  for (const [index, later] of calls.entries()) {
    const startedAt = startOf(history, later)
    if (startedAt === undefined) continue
    for (const earlier of calls.slice(0, index)) {
      const before = startOf(history, earlier)
      if (!areApart(history, lane, earlier, later)) continue
      const endedAt = endOf(history, earlier) ?? Number.POSITIVE_INFINITY
      // What was refused in its place never started, and may be told at any time.
      if (before === undefined || endedAt <= startedAt + 1e-6) continue
      if (earlier.orphaned) continue
      yield {
        invariant: name,
        message: `${lane.plan.policy}: call ${later.plan.nonce} started at ${startedAt}, before ${earlier.plan.nonce} ended at ${endedAt}`,
      }
    }
  }
}

function areApart(history: History, lane: LaneRecord, earlier: CallRecord, later: CallRecord): boolean {
  const { calls, plan } = lane
  if (plan.policy === 'resource')
    return sharePort(history, earlier, later) || isBarrier(earlier) || isBarrier(later)
  if (plan.policy === 'batch' && plan.kind === 'lane') return true
  const between = plan.policy === 'batch' ? calls : calls.slice(earlier.index, later.index + 1)
  return !between.every((call) => isSafe(call.plan))
}

function sharePort(history: History, one: CallRecord, other: CallRecord): boolean {
  if (one.plan.device === undefined || other.plan.device === undefined) return false
  return portOf(history, one.plan.device) === portOf(history, other.plan.device)
}

/** Undeclared, or with the gateway for itself. */
function isBarrier({ plan }: CallRecord): boolean {
  return plan.name === 'note' || plan.name === 'rearrange'
}
