/**
 * Where nothing goes wrong, every call starts within a bound that is known when it comes: the runs of all that came
 * before it and are not over, and one more that runs already. An automation's call first waits the ten seconds of its
 * ageing, and a call of several resources the two seconds of its patience. A poll gives way to people for ever, and to
 * automations for ten seconds. A deadline ends any call before that.
 */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import type { DevicePlan, PortPlan } from '../plan.ts'
import { deviceOf, endOf, MOMENT_MS, portOf } from './trace.ts'
import { AGEING_MS, isClean, ownClaims, waitedUntil } from './turns.ts'

const name = 'no-starvation'
const PATIENCE_MS = 2_000
const SILENCE_MS = 120
/** The first poll is not due at once. */
const FIRST_POLL_MS = 250

export const noStarvation: Invariant = {
  name,
  check: (history) => {
    if (history.plan.faults.length > 0) return []
    if (!history.plan.home.ports.every((port) => isClean(history, port))) return []
    return [...starving(history), ...starvingPolls(history)]
  },
}

function* starving(history: History): Generator<Violation> {
  for (const [index, call] of history.calls.entries()) {
    const { plan, lane, submittedAt, result } = call
    if (lane.calls.length > 1 || result?.error?.code === 'queue_full') continue
    const bound = submittedAt + boundMs(history, call, index)
    const until = waitedUntil(history, call)
    if (until <= bound) continue
    yield {
      invariant: name,
      message: `${plan.name} ${plan.nonce} of ${submittedAt} waited until ${until}, not ${bound}`,
    }
  }
}

function boundMs(history: History, call: CallRecord, index: number): number {
  const { submittedAt, lane } = call
  const own = circleOf(history, call)
  const isTogether = (other: CallRecord) => {
    const circle = circleOf(history, other)
    return own === GATEWAY || circle === GATEWAY || circle === own
  }
  let sum = lane.plan.priority === 'automation' ? AGEING_MS : 0
  let longest = 0
  for (const [place, other] of history.calls.entries()) {
    if (!isTogether(other)) continue
    const runMs = longestRun(history, other)
    longest = Math.max(longest, runMs)
    const endedAt = endOf(history, other) ?? Number.POSITIVE_INFINITY
    const isBefore = place < index && endedAt >= submittedAt - MOMENT_MS
    if (!isBefore && other !== call) continue
    sum += other === call ? 0 : runMs
    if (ownClaims(history, other) > 1) sum += PATIENCE_MS
  }
  return sum + (1 + ownClaims(history, call)) * longest + MOMENT_MS
}

const GATEWAY = 'gateway'

/** Only those of one circle can hold each other up; those of the gateway's hold up all. */
function circleOf(history: History, { plan }: CallRecord): string {
  if (plan.device !== undefined) return portOf(history, plan.device).id
  if (plan.name === 'rearrange') return GATEWAY
  return plan.name === 'think' || plan.name === 'note' || plan.name === 'recount' ? plan.name : 'valve'
}

function longestRun(history: History, { plan }: CallRecord): number {
  if (plan.device === undefined) return plan.runsMs ?? 0
  const device = deviceOf(history, plan.device)
  const exchanges = plan.name === 'read_pair' || plan.name === 'act_read_back' ? 2 : 1
  return exchanges * exchangeMs(portOf(history, device.id), device)
}

/** Two frames, the device's thinking, and the silence before. */
function exchangeMs(port: PortPlan, { answersAfterMs, gapMs }: DevicePlan): number {
  const frameMs = (16 * 10_000) / port.baudRate
  const silenceMs = Math.max(gapMs, port.kind === 'text' ? SILENCE_MS : 0, (4 * 10_000) / port.baudRate)
  return 2 * frameMs + answersAfterMs + silenceMs + 2 * port.latencyMs + 20
}

/** From one poll of a device to the next: its pace, ten seconds, and all that may go before it then. */
function* starvingPolls(history: History): Generator<Violation> {
  for (const port of history.plan.home.ports) {
    const calls = history.calls.filter(({ plan }) => plan.device && portOf(history, plan.device) === port)
    const exclusive = history.calls.filter(({ plan }) => plan.name === 'rearrange')
    const polls = port.devices.reduce((sum, device) => sum + exchangeMs(port, device), 0)
    for (const { id, pollMs } of port.devices) {
      if (pollMs === undefined) continue
      let before = FIRST_POLL_MS
      const times = history.writes.filter((write) => write.device === id && write.nonce === 0)
      for (const at of [...times.map((write) => write.at), history.healedAt]) {
        const dueAt = before + pollMs + polls
        const ahead = [...calls, ...exclusive].filter((call) => goesBefore(history, call, { dueAt, at }))
        const sum = ahead.reduce((total, call) => total + longestRun(history, call), 0)
        const bound = dueAt + AGEING_MS + 2 * polls + sum
        if (at > bound + MOMENT_MS)
          yield { invariant: name, message: `${id} was polled at ${before}, and at ${at}, not by ${bound}` }
        before = at
      }
    }
  }
}

/** It may stand before a poll that is due: a person's call at any time, an automation's if it came before or grew old. */
function goesBefore(
  history: History,
  call: CallRecord,
  { dueAt, at }: { readonly dueAt: number; readonly at: number },
): boolean {
  const endedAt = endOf(history, call) ?? Number.POSITIVE_INFINITY
  if (endedAt < dueAt - AGEING_MS - MOMENT_MS || call.submittedAt > at) return false
  const isOld = waitedUntil(history, call) - call.submittedAt >= AGEING_MS - MOMENT_MS
  return call.lane.plan.priority === 'interactive' || isOld || call.submittedAt <= dueAt + MOMENT_MS
}
