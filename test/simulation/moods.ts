/**
 * Runs of one mind: a line that is asked for more than it can do, tools that want what others hold, batches of many
 * calls, more calls than there is room for, a line that is dead beside lines where nothing is wrong. In all but the last
 * one no fault happens at all.
 */
import {
  BUS_COMMANDS,
  type CallPlan,
  type DevicePlan,
  type Fault,
  type HomePlan,
  type Plan,
  type PortPlan,
  type Submission,
  TEXT_COMMANDS,
  TOOLS,
} from './plan.ts'
import type { Prng } from './prng.ts'

type Mood = (prng: Prng, home: HomePlan) => Omit<Plan, 'seed'>

const MOODS: readonly [share: number, mood: Mood][] = [
  [0.03, rush],
  [0.02, convoy],
  [0.03, bigBatches],
  [0.02, crowd],
  [0.03, neighbours],
]

/** Undefined: a run as most are. */
export function drawMood(prng: Prng, seed: string, home: HomePlan): Plan | undefined {
  let left = prng.next()
  for (const [share, mood] of MOODS) {
    if (left < share) return { seed, ...mood(prng.fork('of its own'), home) }
    left -= share
  }
  return undefined
}

const CALM: Omit<Submission, 'at' | 'calls'> = {
  kind: 'batch',
  policy: 'partition',
  priority: 'interactive',
  deadlineMs: 300_000,
  onError: 'continue',
}

const RUSH_MS = 40_000

/**
 * One line is wanted a little more than it can do, for forty seconds: by people, with a few automations among them, or
 * by automations, with nobody but the polls behind them.
 */
function rush(prng: Prng, home: HomePlan): Omit<Plan, 'seed'> {
  const [first, ...others] = home.ports
  const device: DevicePlan = {
    id: 'p0d0',
    address: 1,
    timeoutMs: 800,
    replyLatencyMaxMs: 1_500,
    gapMs: 50,
    pollMs: prng.pick([1_000, 3_000]),
    answersAfterMs: 90,
  }
  const port: PortPlan = {
    id: 'p0',
    kind: first?.kind ?? 'bus',
    baudRate: 2400,
    latencyMs: 16,
    devices: [device],
  }
  const isOfPeople = prng.chance(0.7)
  const paceMs = (port.kind === 'bus' ? 470 : 640) * (isOfPeople ? 0.95 : 0.9)
  const submissions: Submission[] = []
  let nonce = 0
  const call = (name: CallPlan['name']): CallPlan => {
    nonce += 1
    return { nonce, device: device.id, name }
  }
  const longest = port.kind === 'bus' ? 'read_pair' : 'act_read_back'
  for (let at = 500; at < RUSH_MS; at += paceMs) {
    const priority = isOfPeople ? 'interactive' : 'automation'
    submissions.push({ ...CALM, at: Math.round(at), priority, calls: [call(longest)] })
  }
  for (let count = 0; isOfPeople && count < 5; count += 1) {
    const at = prng.integer(1_000, RUSH_MS / 2)
    submissions.push({
      ...CALM,
      at,
      priority: 'automation',
      calls: [call(prng.pick(['read', 'set', 'act']))],
    })
  }
  return {
    home: { ports: [port, ...others], queueLength: 256 },
    submissions: inTime(submissions),
    faults: [],
    safetyMs: 45_000,
  }
}

/** Valve and crane are each in use all the time, by turns, and some want both. */
function convoy(prng: Prng, home: HomePlan): Omit<Plan, 'seed'> {
  const submissions: Submission[] = []
  let nonce = 0
  const add = (at: number, name: CallPlan['name'], runsMs: number) => {
    nonce += 1
    const priority = prng.pick(['interactive', 'interactive', 'interactive', 'automation'])
    submissions.push({ ...CALM, at, priority, calls: [{ nonce, name, runsMs }] })
  }
  for (let at = 0; at < 20_000; at += 900) {
    add(at + prng.integer(0, 50), prng.pick(['open_valve', 'open_valve', 'watch_valve']), 950)
    add(at + 450 + prng.integer(0, 50), 'lift', 950)
    if (prng.chance(0.12)) add(at + prng.integer(0, 900), 'carry', prng.integer(100, 600))
    if (prng.chance(0.1)) add(at + prng.integer(0, 900), prng.pick(['note', 'think', 'recount']), 200)
  }
  return { home, submissions: inTime(submissions), faults: [], safetyMs: 24_000 }
}

/** Few batches of many calls each, to all devices and tools. */
function bigBatches(prng: Prng, home: HomePlan): Omit<Plan, 'seed'> {
  const submissions: Submission[] = []
  let nonce = 0
  for (let count = prng.integer(2, 4); count > 0; count -= 1) {
    const isSafe = prng.chance(0.4)
    submissions.push({
      ...CALM,
      at: prng.integer(1_000, 15_000),
      policy: prng.pick(['partition', 'partition', 'batch', 'resource']),
      priority: prng.pick(['interactive', 'automation']),
      calls: Array.from({ length: prng.integer(6, 16) }, () => {
        nonce += 1
        return anyCall(prng, home, nonce, isSafe)
      }),
    })
  }
  const calm = { ...home, queueLength: 256 }
  return {
    home: calm,
    submissions: inTime(submissions),
    faults: [],
    safetyMs: 20_000,
    isComparedOneByOne: true,
  }
}

/** `isSafe`: mostly parallel-safe ones. */
function anyCall(prng: Prng, home: HomePlan, nonce: number, isSafe: boolean): CallPlan {
  const isPlain = isSafe && prng.chance(0.85)
  if (prng.chance(0.35)) {
    const name = isPlain
      ? prng.pick(['think', 'watch_valve'])
      : prng.pick([...TOOLS, 'lift', 'carry', 'recount', 'recount'])
    return { nonce, name, runsMs: prng.integer(0, 600) }
  }
  return deviceCall(prng, home.ports, nonce, isPlain)
}

function deviceCall(prng: Prng, ports: readonly PortPlan[], nonce: number, isPlain: boolean): CallPlan {
  const port = prng.pick(ports as readonly [PortPlan, ...PortPlan[]])
  const device = prng.pick(port.devices as readonly [DevicePlan, ...DevicePlan[]])
  if (isPlain) return { nonce, device: device.id, name: 'read' }
  return { nonce, device: device.id, name: prng.pick(port.kind === 'bus' ? BUS_COMMANDS : TEXT_COMMANDS) }
}

/** Hardly any room to wait in, and lanes and batches that come all at once; some of their callers give up. */
function crowd(prng: Prng, home: HomePlan): Omit<Plan, 'seed'> {
  const submissions: Submission[] = []
  let nonce = 0
  for (let count = prng.integer(10, 16); count > 0; count -= 1) {
    submissions.push({
      ...CALM,
      at: prng.pick([2_000, 2_000, 2_300, 5_000, 5_200, 9_000]),
      kind: prng.pick(['lane', 'batch']),
      policy: prng.pick(['partition', 'resource', 'batch']),
      priority: prng.pick(['interactive', 'automation']),
      calls: Array.from({ length: prng.integer(1, 6) }, () => {
        nonce += 1
        const call = anyCall(prng, home, nonce, false)
        return prng.chance(0.2) ? { ...call, cancelAfterMs: prng.integer(0, 400) } : call
      }),
    })
  }
  const queueLength = prng.pick([1, 2, 3])
  return { home: { ...home, queueLength }, submissions: inTime(submissions), faults: [], safetyMs: 14_000 }
}

/** One of several lines is dead most of the time, and wanted as much as the others. */
function neighbours(prng: Prng, home: HomePlan): Omit<Plan, 'seed'> {
  const [first, second] = home.ports
  const own = first?.devices ?? []
  const beside: PortPlan = {
    id: 'beside',
    kind: 'bus',
    baudRate: 19_200,
    latencyMs: 1,
    devices: own.slice(0, 1).map((device) => ({ ...device, id: 'besided0', timeoutMs: 500 })),
  }
  const ports = second ? home.ports : [...home.ports, beside]
  const dead = prng.pick(ports as readonly [PortPlan, ...PortPlan[]])
  const submissions: Submission[] = []
  let nonce = 0
  for (let at = 1_000; at < 20_000; at += prng.integer(50, 800)) {
    const isSafe = prng.chance(0.6)
    submissions.push({
      ...CALM,
      at,
      kind: prng.chance(0.2) ? 'lane' : 'batch',
      policy: prng.pick(['partition', 'resource', 'batch']),
      priority: prng.pick(['interactive', 'automation']),
      deadlineMs: prng.pick([300_000, 8_000]),
      calls: Array.from({ length: prng.pick([1, 1, 2, 4]) }, () => {
        nonce += 1
        return deviceCall(prng, ports, nonce, isSafe)
      }),
    })
  }
  const faults: readonly Fault[] = [
    prng.pick<Fault>([
      { kind: 'unplug', port: dead.id, at: 2_000, forMs: 12_000 },
      { kind: 'standstill', port: dead.id, at: 2_000, forMs: 12_000, how: 'line' },
      { kind: 'standstill', port: dead.id, at: 2_000, forMs: 12_000, how: 'buffer' },
      { kind: 'slow', port: dead.id, at: 2_000, forMs: 12_000, factor: 100 },
    ]),
    ...dead.devices.map(({ id }): Fault => ({ kind: 'wedge', device: id, at: 2_000, forMs: 15_000 })),
  ]
  const kept = prng.chance(0.5) ? faults.slice(1) : faults
  return {
    home: { ports, queueLength: 256 },
    submissions: inTime(submissions),
    faults: kept,
    safetyMs: 22_000,
  }
}

function inTime(submissions: readonly Submission[]): readonly Submission[] {
  return [...submissions].sort((one, other) => one.at - other.at)
}
