/**
 * Nothing grows beyond its limit: the calls that wait for a line or in a lane, the polls of a device, the timers. What
 * goes beyond one is refused at once, and nothing is refused before it is reached. What the gateway says of its queues is
 * what its callers know.
 */
import { LANE_CALLS_MAX } from '../../../src/limits.ts'
import type { CallRecord, History, Invariant, Sample, Violation } from '../history.ts'
import { endOf, portOf, startOf } from './trace.ts'
import { acceptanceOrder } from './turns.ts'

const name = 'bounds'
const TIMERS_PER_CALL = 2
const TIMERS_PER_PORT = 8
const TIMERS_PER_DEVICE = 1
const TIMERS_BESIDES = 6

export const bounds: Invariant = {
  name,
  check: (history) => [...refusals(history), ...samples(history)],
}

/** At the moment of its acceptance, who was before it and still waited. */
function* refusals(history: History): Generator<Violation> {
  const came = acceptanceOrder(history)
  const { queueLength } = history.plan.home
  for (const call of history.calls) {
    const { plan, lane, submittedAt } = call
    if (lane.rejected !== undefined || call.orphaned) continue
    const isRefused = isFull(call)
    const endedAt = endOf(history, call)
    if (!isRefused && endedAt === submittedAt) continue
    const waiting = history.calls.filter((other) => {
      if (other.lane.life !== lane.life || isFull(other) || other.lane.rejected !== undefined) return false
      if ((came.get(other) ?? 0) >= (came.get(call) ?? 0)) return false
      return waits(history, other, submittedAt)
    })
    const onLine = waiting.filter(({ plan: other }) => {
      if (plan.device === undefined || other.device === undefined) return false
      return portOf(history, other.device) === portOf(history, plan.device)
    })
    const inLane = waiting.filter((other) => other.lane === lane)
    if (isRefused) {
      if (endedAt !== submittedAt || startOf(history, call) !== undefined)
        yield violation(`call ${plan.nonce} of ${submittedAt} was refused at ${endedAt} only`)
      if (onLine.length < queueLength && inLane.length < LANE_CALLS_MAX)
        yield violation(`call ${plan.nonce} was refused while ${onLine.length} waited for its line`)
      continue
    }
    // One of them may have the line already, and wait for its silence.
    const most = onLine.filter((other) => (endOf(history, other) ?? Number.POSITIVE_INFINITY) > submittedAt)
    if (most.length - 1 >= queueLength)
      yield violation(`call ${plan.nonce} was taken although ${most.length} waited for its line`)
    if (inLane.filter((other) => endOf(history, other) !== submittedAt).length > LANE_CALLS_MAX)
      yield violation(`call ${plan.nonce} was taken although ${inLane.length} waited in its lane`)
  }
}

function isFull({ result }: CallRecord): boolean {
  return result?.error?.code === 'queue_full'
}

/** It was there and had not started; at the very moment it may be the one or the other. */
function waits(history: History, call: CallRecord, at: number): boolean {
  return isOpen(history, call, at) && (startOf(history, call) ?? Number.POSITIVE_INFINITY) >= at
}

function isOpen(history: History, call: CallRecord, at: number): boolean {
  return call.submittedAt <= at && (endOf(history, call) ?? Number.POSITIVE_INFINITY) >= at
}

function* samples(history: History): Generator<Violation> {
  const { plan } = history
  const { ports } = plan.home
  // After a crash nobody knows who had been in which queue.
  const isOneLife = !plan.faults.some(({ kind }) => kind === 'crash')
  const everyone = [...history.calls, ...history.lastCalls]
  const devices = ports.reduce((sum, port) => sum + port.devices.length, 0)
  for (const sample of history.samples) {
    const { at, timers } = sample
    const open = everyone.filter((call) => isOpen(history, call, at))
    const most =
      TIMERS_BESIDES +
      TIMERS_PER_CALL * open.length +
      TIMERS_PER_PORT * ports.length +
      TIMERS_PER_DEVICE * devices
    if (timers > most) yield violation(`${timers} timers at ${at}, with ${open.length} calls`)
    yield* queues(history, sample, isOneLife ? open : undefined)
  }
}

function* queues(
  history: History,
  sample: Sample,
  open: readonly CallRecord[] | undefined,
): Generator<Violation> {
  const { home } = history.plan
  for (const { port, waiting, running } of sample.queues) {
    const polls = home.ports.find(({ id }) => id === port)?.devices.filter(({ pollMs }) => pollMs).length ?? 0
    const { at } = sample
    if (waiting > home.queueLength + polls)
      yield violation(`${waiting} calls wait for ${port} at ${at}, of ${home.queueLength}`)
    if (running > 1) yield violation(`${running} calls run on ${port} at ${at}`)
    if (!open) continue
    const known = open.filter(({ plan }) => plan.device && portOf(history, plan.device).id === port)
    const mayWait = known.filter((call) => waits(history, call, at)).length
    if (waiting > mayWait + polls || waiting + running > known.length + polls)
      yield violation(
        `${waiting} and ${running} in the queue of ${port} at ${at}, where ${known.length} came`,
      )
    const surely = known.filter((call) => call.submittedAt < at && endOf(history, call) !== at)
    if (waiting + running < surely.length)
      yield violation(`${waiting} and ${running} in the queue of ${port} at ${at}, of ${surely.length}`)
  }
}

function violation(message: string): Violation {
  return { invariant: name, message }
}
