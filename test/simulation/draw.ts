/**
 * Draws a plan from a seed. Each run has a mood of its own (which kinds of fault it has at all, and how many), so that
 * some runs are quiet but for one thing and others are bad in every way.
 */
import { drawMood } from './moods.ts'
import type { CallPlan, DevicePlan, Fate, Fault, HomePlan, Plan, PortPlan, Submission } from './plan.ts'
import { BUS_COMMANDS, TEXT_COMMANDS, TOOLS } from './plan.ts'
import { Prng } from './prng.ts'

export interface DrawOptions {
  /** Calls of a run, about. */
  readonly calls?: number
}

const FAULT_KINDS = [
  'late',
  'mute',
  'deaf',
  'refuse',
  'duplicate',
  'restart',
  'event_first',
  'byte',
  'unplug',
  'open',
  'standstill',
  'slow',
  'baud',
  'unsolicited',
  'noise',
  'wedge',
  'stall',
  'wall',
  'crash',
] as const
type FaultKind = (typeof FAULT_KINDS)[number]

export function drawPlan(seed: string, options: DrawOptions = {}): Plan {
  const prng = new Prng(seed)
  const home = drawHome(prng.fork('home'))
  const mood = drawMood(prng.fork('mood'), seed, home)
  if (mood) return mood
  const calls = options.calls ?? 60
  const safetyMs = prng.fork('length').integer(10_000, 40_000)
  const submissions = drawSubmissions(prng.fork('workload'), { home, safetyMs, calls })
  const faults = drawFaults(prng.fork('faults'), { home, safetyMs, calls })
  return { seed, home, submissions, faults, safetyMs }
}

function drawHome(prng: Prng): HomePlan {
  const count = prng.pick([1, 1, 2, 2, 3, 4])
  const ports = Array.from({ length: count }, (_, index) => drawPort(prng.fork(`port:${index}`), `p${index}`))
  return { ports, queueLength: prng.pick([256, 256, 256, 8, 3]) }
}

function drawPort(prng: Prng, id: string): PortPlan {
  const kind = prng.pick(['bus', 'bus', 'text'])
  const baudRate = prng.pick([2400, 9600, 9600, 19_200, 115_200])
  const count = kind === 'bus' ? prng.integer(1, 4) : 1
  const devices = Array.from({ length: count }, (_, index): DevicePlan => {
    const timeoutMs = prng.pick([200, 300, 500, 800])
    return {
      id: `${id}d${index}`,
      address: index + 1,
      timeoutMs,
      replyLatencyMaxMs: timeoutMs + prng.pick([300, 700, 1_500]),
      gapMs: prng.pick([0, 0, 5, 20, 50]),
      ...(prng.chance(0.4) ? { pollMs: prng.pick([1_000, 3_000, 10_000]) } : {}),
      answersAfterMs: prng.pick([2, 5, 10, 40, 90]),
    }
  })
  const chunked = prng.chance(0.3) ? { chunkBytes: prng.integer(1, 6) } : {}
  return { id, kind, baudRate, latencyMs: prng.pick([0, 0, 1, 4, 16]), ...chunked, devices }
}

interface Frame {
  readonly home: HomePlan
  readonly safetyMs: number
  readonly calls: number
}

function drawSubmissions(prng: Prng, { home, safetyMs, calls }: Frame): readonly Submission[] {
  const submissions: Submission[] = []
  const withTools = prng.chance(0.3)
  const cancels = prng.chance(0.4) ? 0.15 : 0
  const bursts = prng.chance(0.3)
  let nonce = 0
  const call = (kind: Submission['kind']): CallPlan => {
    nonce += 1
    const extra = {
      ...(prng.chance(cancels) ? { cancelAfterMs: prng.integer(0, 1_500) } : {}),
      ...(kind === 'lane' && prng.chance(0.7) ? { afterMs: prng.integer(0, 400) } : {}),
    }
    if (withTools && prng.chance(0.3)) {
      return { nonce, name: prng.pick(TOOLS as [...typeof TOOLS]), runsMs: prng.integer(0, 800), ...extra }
    }
    const port = prng.pick(home.ports as [PortPlan, ...PortPlan[]])
    const device = prng.pick(port.devices as [DevicePlan, ...DevicePlan[]])
    const name = port.kind === 'bus' ? prng.pick([...BUS_COMMANDS]) : prng.pick([...TEXT_COMMANDS])
    return { nonce, device: device.id, name, ...extra }
  }
  while (nonce < calls) {
    const kind = prng.chance(0.2) ? 'lane' : 'batch'
    const size = prng.pick([1, 1, 1, 2, 3, 5, 8])
    const policy = prng.pick(['partition', 'partition', 'resource', 'batch'])
    submissions.push({
      at: bursts ? 2_000 * prng.integer(0, Math.floor(safetyMs / 2_500)) : prng.integer(0, safetyMs * 0.8),
      kind,
      policy,
      priority: prng.pick(['interactive', 'interactive', 'automation']),
      deadlineMs: prng.pick([30_000, 30_000, 10_000, 2_000, 400]),
      onError: prng.chance(0.2) ? 'abort' : 'continue',
      calls: Array.from({ length: size }, () => call(kind)),
    })
  }
  if (prng.chance(0.1)) {
    const at = prng.integer(0, safetyMs * 0.8)
    submissions.push(
      { ...EMPTY, at, kind: 'stop' },
      { ...EMPTY, at: at + prng.integer(10, 5_000), kind: 'release' },
    )
  }
  return submissions.sort((one, other) => one.at - other.at)
}

const EMPTY: Omit<Submission, 'at' | 'kind'> = {
  policy: 'partition',
  priority: 'interactive',
  deadlineMs: 30_000,
  onError: 'continue',
  calls: [],
}

function drawFaults(prng: Prng, frame: Frame): readonly Fault[] {
  if (prng.fork('loose plug').chance(0.06)) return drawLoosePlug(prng.fork('of a loose plug'), frame)
  if (prng.fork('choked').chance(0.05)) return drawChoked(prng.fork('of a choked line'), frame)
  if (prng.fork('killed').chance(0.04)) return drawKilled(prng.fork('of a killed process'), frame)
  const density = prng.pick([0.02, 0.1, 0.3])
  const kinds = FAULT_KINDS.filter(() => prng.chance(prng.pick([0.1, 0.35])))
  return kinds.flatMap((kind) => drawFaultsOf(kind, prng.fork(kind), frame, density))
}

/**
 * Devices that are slow, behind adapters that are lost and back in a moment, and not so often that the gateway backs off:
 * what is late comes after a reopening.
 */
function drawLoosePlug(prng: Prng, frame: Frame): readonly Fault[] {
  const late = drawFaultsOf('late', prng.fork('late'), frame, 0.6)
  const losses = frame.home.ports.flatMap(({ id: port }) => {
    const times: Fault[] = []
    for (let at = prng.integer(1_000, 6_000); at < frame.safetyMs; at += prng.integer(5_200, 6_500))
      times.push({ kind: 'unplug', port, at, forMs: prng.pick([1, 1, 100]) })
    return times
  })
  return [...late, ...losses]
}

/** Devices that are slow, and a process that is killed and at once started again: what is late comes to the next one. */
function drawKilled(prng: Prng, frame: Frame): readonly Fault[] {
  const late = drawFaultsOf('late', prng.fork('late'), frame, 0.8)
  const kills: Fault[] = []
  for (let at = prng.integer(500, 2_000); at < frame.safetyMs; at += prng.integer(1_500, 4_000))
    kills.push({ kind: 'crash', at, downMs: prng.integer(20, 200) })
  return [...late, ...kills]
}

/** Adapters that hold back what they are given, again and again, for about as long as a reply may take. */
function drawChoked(prng: Prng, { home, safetyMs }: Frame): readonly Fault[] {
  return home.ports.flatMap(({ id: port }) => {
    const times: Fault[] = []
    for (let at = prng.integer(500, 2_000); at < safetyMs; at += prng.integer(2_000, 3_500)) {
      const how = prng.pick(['line', 'buffer'])
      times.push({ kind: 'standstill', port, at, forMs: prng.integer(400, 1_800), how })
    }
    return times
  })
}

function drawFaultsOf(kind: FaultKind, prng: Prng, frame: Frame, density: number): readonly Fault[] {
  const { home, safetyMs, calls } = frame
  const ports = home.ports as readonly [PortPlan, ...PortPlan[]]
  const devices = home.ports.flatMap((port) => port.devices.map((device) => ({ device, port })))
  const at = () => prng.integer(0, Math.floor(safetyMs * 0.9))
  const few = prng.integer(1, 1 + Math.ceil(density * 8))
  const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
  switch (kind) {
    case 'byte':
      return times(Math.ceil(density * calls), (): Fault => {
        // Only a line with a checksum can tell a changed byte.
        const port = prng.pick(ports)
        const flip = prng.chance(0.4) ? 0 : prng.integer(1, 255)
        const heading = prng.pick(['to_far_end', 'to_host'])
        return { kind, port: port.id, heading, index: prng.integer(0, calls * 6), flip }
      }).filter((fault) => fault.kind === 'byte' && kindOf(home, fault.port) === 'bus')
    case 'unplug':
      return times(few, () => ({
        kind,
        port: prng.pick(ports).id,
        at: at(),
        forMs: prng.pick([1, 150, 1_000, 8_000]),
      }))
    case 'open':
      return times(few, () => {
        const port = prng.pick(ports).id
        const when = at()
        return [
          {
            kind,
            port,
            at: when,
            fault: prng.pick(['absent', 'busy', 'denied', 'locked']),
            times: prng.integer(1, 3),
          },
          { kind: 'unplug', port, at: when + 1, forMs: 100 },
        ] satisfies Fault[]
      }).flat()
    case 'standstill':
      return times(few, () => {
        const how = prng.pick(['line', 'buffer'])
        return { kind, port: prng.pick(ports).id, at: at(), forMs: prng.pick([50, 1_000, 8_000]), how }
      })
    case 'slow':
      return times(few, () => ({
        kind,
        port: prng.pick(ports).id,
        at: at(),
        forMs: prng.pick([500, 5_000]),
        factor: prng.pick([2, 10, 100]),
      }))
    case 'baud':
      return times(few, () => ({
        kind,
        port: prng.pick(ports).id,
        at: at(),
        forMs: prng.pick([500, 5_000]),
      })).filter(({ port }) => kindOf(home, port) === 'bus')
    case 'unsolicited':
      return times(few, () => {
        const { device } = prng.pick(devices as [(typeof devices)[0]])
        return { kind, device: device.id, at: at(), times: prng.integer(1, 5) }
      })
    case 'noise':
      return times(few, () => ({
        kind,
        port: prng.pick(ports).id,
        at: at(),
        length: prng.integer(1, 40),
      })).filter(({ port }) => kindOf(home, port) === 'bus')
    case 'wedge':
      return times(few, () => {
        const { device } = prng.pick(devices as [(typeof devices)[0]])
        return { kind, device: device.id, at: at(), forMs: prng.pick([500, 3_000, 15_000]) }
      })
    case 'stall':
      return times(few, () => ({ kind, at: at(), forMs: prng.pick([60, 200, 1_000, 4_000]) }))
    case 'wall':
      return times(few, () => ({ kind, at: at(), byMs: prng.pick([-3_600_000, -500, 60_000, 86_400_000]) }))
    case 'crash':
      return times(prng.integer(1, 2), () => ({ kind, at: at(), downMs: prng.pick([50, 400, 3_000]) }))
    default:
      return times(Math.ceil(density * calls), () => {
        const chosen = prng.pick(devices as [(typeof devices)[0]])
        const { device, port } = chosen
        const fate = drawFate(kind, prng, device, port)
        return { kind: 'fate', device: device.id, request: prng.integer(0, calls), fate }
      })
  }
}

function kindOf(home: HomePlan, id: string): PortPlan['kind'] | undefined {
  return home.ports.find((port) => port.id === id)?.kind
}

/** The last byte of a late reply arrives within what the type declares; the adapter's wait and a full frame are left for it. */
function drawFate(kind: FaultKind, prng: Prng, device: DevicePlan, port: PortPlan): Fate {
  const frameMs = (12 * 10_000) / port.baudRate + port.latencyMs
  const latest = Math.floor(device.replyLatencyMaxMs - device.answersAfterMs - 2 * frameMs - 20)
  switch (kind) {
    case 'late':
      return { kind, byMs: prng.integer(Math.min(device.timeoutMs - 60, latest), latest) }
    case 'duplicate':
      return { kind, afterMs: prng.integer(0, 15) }
    case 'mute':
    case 'deaf':
    case 'refuse':
    case 'restart':
    case 'event_first':
      return { kind }
    default:
      throw new Error(`${kind} is no fate`)
  }
}
