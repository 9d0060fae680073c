/**
 * The home of the figure: 20 devices on four RS-485 lines at 9600 baud, each polled every ten seconds, and a few calls
 * of people and automations an hour. With faults it has those of a good home: a few replies that are late or lost, a
 * byte now and then, a plug that is pulled once.
 */
import {
  BUS_COMMANDS,
  type DevicePlan,
  type Fate,
  type Fault,
  type Plan,
  type PortPlan,
  type Submission,
} from './plan.ts'
import { Prng } from './prng.ts'

const PORTS = 4
const DEVICES_PER_PORT = 5
const CALLS_PER_HOUR = 12
const HOUR_MS = 3_600_000

export interface HomeOptions {
  readonly hours: number
  readonly isFaulty: boolean
}

export function homePlan(seed: string, { hours, isFaulty }: HomeOptions): Plan {
  const prng = new Prng(`home/${seed}`)
  const ports = Array.from({ length: PORTS }, (_, index) => busOf(`p${index}`))
  const safetyMs = hours * HOUR_MS
  const count = Math.round(CALLS_PER_HOUR * hours)
  const submissions = Array.from({ length: count }, (_, index) => callOf(prng, ports, index + 1, safetyMs))
  return {
    seed: `home/${seed}`,
    home: { ports, queueLength: 256 },
    submissions: submissions.sort((one, other) => one.at - other.at),
    faults: isFaulty ? faultsOf(prng.fork('faults'), ports, hours) : [],
    safetyMs,
  }
}

function busOf(id: string): PortPlan {
  const devices = Array.from(
    { length: DEVICES_PER_PORT },
    (_, index): DevicePlan => ({
      id: `${id}d${index}`,
      address: index + 1,
      timeoutMs: 500,
      replyLatencyMaxMs: 1_500,
      gapMs: 0,
      pollMs: 10_000,
      answersAfterMs: 10,
    }),
  )
  return { id, kind: 'bus', baudRate: 9600, latencyMs: 16, devices }
}

function callOf(prng: Prng, ports: readonly PortPlan[], nonce: number, safetyMs: number): Submission {
  const device = deviceOf(prng, ports)
  return {
    at: prng.integer(0, Math.floor(safetyMs * 0.99)),
    kind: 'batch',
    policy: 'partition',
    priority: prng.pick(['interactive', 'automation']),
    deadlineMs: 30_000,
    onError: 'continue',
    calls: [{ nonce, device: device.id, name: prng.pick(BUS_COMMANDS) }],
  }
}

function deviceOf(prng: Prng, ports: readonly PortPlan[]): DevicePlan {
  const port = prng.pick(ports as readonly [PortPlan, ...PortPlan[]])
  return prng.pick(port.devices as readonly [DevicePlan, ...DevicePlan[]])
}

/** For each hour ten replies that go wrong, four bytes, and one pulled plug. */
function faultsOf(prng: Prng, ports: readonly PortPlan[], hours: number): readonly Fault[] {
  const times = <T>(perHour: number, make: () => T) =>
    Array.from({ length: Math.ceil(perHour * hours) }, make)
  const requests = Math.floor(360 * hours)
  const portId = () => prng.pick(ports as readonly [PortPlan, ...PortPlan[]]).id
  return [
    ...times(10, (): Fault => {
      const fate = prng.pick<Fate>([{ kind: 'mute' }, { kind: 'deaf' }, { kind: 'late', byMs: 800 }])
      return { kind: 'fate', device: deviceOf(prng, ports).id, request: prng.integer(0, requests), fate }
    }),
    ...times(4, (): Fault => {
      const heading = prng.pick(['to_far_end', 'to_host'])
      const index = prng.integer(0, requests * DEVICES_PER_PORT * 8)
      return { kind: 'byte', port: portId(), heading, index, flip: prng.integer(0, 255) }
    }),
    ...times(1, (): Fault => {
      const at = prng.integer(0, Math.floor(hours * HOUR_MS * 0.9))
      return { kind: 'unplug', port: portId(), at, forMs: 5_000 }
    }),
  ]
}
