/** Nothing grows beyond its limit, and nothing is refused before it is reached. */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import { endOf, portOf } from './trace.ts'

const name = 'bounds'
const TIMERS_PER_CALL = 4
const TIMERS_PER_PORT = 12
const TIMERS_PER_DEVICE = 3
const TIMERS_BESIDES = 6

export const bounds: Invariant = {
  name,
  check: (history) => [...queues(history), ...timers(history), ...needless(history)],
}

function* queues({ plan, samples }: History): Generator<Violation> {
  for (const { at, queues: all } of samples) {
    for (const { port, waiting, running } of all) {
      const polls = plan.home.ports.find(({ id }) => id === port)?.devices.length ?? 0
      const most = plan.home.queueLength + polls
      if (waiting > most)
        yield { invariant: name, message: `${waiting} calls wait for ${port} at ${at}, of ${most}` }
      if (running > 1) yield { invariant: name, message: `${running} calls run on ${port} at ${at}` }
    }
  }
}

function* timers(history: History): Generator<Violation> {
  const { plan, samples, calls } = history
  const { ports } = plan.home
  const devices = ports.reduce((sum, port) => sum + port.devices.length, 0)
  for (const { at, timers: count } of samples) {
    const open = calls.filter((call) => isOpen(history, call, at)).length
    const most =
      TIMERS_BESIDES + TIMERS_PER_CALL * open + TIMERS_PER_PORT * ports.length + TIMERS_PER_DEVICE * devices
    if (count > most) yield { invariant: name, message: `${count} timers at ${at}, with ${open} calls` }
  }
}

function isOpen(history: History, call: CallRecord, at: number): boolean {
  return call.submittedAt <= at && (endOf(history, call) ?? Number.POSITIVE_INFINITY) >= at
}

/** `queue_full` only where so many calls really waited for the line. */
function* needless(history: History): Generator<Violation> {
  for (const call of history.calls) {
    const { plan, result, submittedAt } = call
    if (result?.error?.code !== 'queue_full' || plan.device === undefined) continue
    const port = portOf(history, plan.device)
    const others = history.calls.filter(
      (other) =>
        other !== call &&
        other.lane.life === call.lane.life &&
        other.plan.device !== undefined &&
        portOf(history, other.plan.device) === port &&
        isOpen(history, other, submittedAt),
    )
    if (others.length >= history.plan.home.queueLength) continue
    yield {
      invariant: name,
      message: `call ${plan.nonce} was refused while ${others.length} waited for ${port.id}`,
    }
  }
}
