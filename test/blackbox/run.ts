/** One run: a world, its clients, what breaks meanwhile, and what is found afterwards. */
import { Prng } from '../simulation/prng.ts'
import { type Finding, findings } from './check.ts'
import { type Fleet, startClients } from './clients.ts'
import type { ClientCall, DeviceEntry } from './history.ts'
import { nowMs } from './history.ts'
import { buildWorld, sleep, type World, type WorldOptions } from './world.ts'

export interface RunOptions extends Partial<WorldOptions> {
  readonly seed: string
  /** At least; a busy machine takes longer, because everything is broken once in any case. */
  readonly loadMs: number
  /** Calls that a gateway has answered, at least. */
  readonly answersMin?: number
  readonly clients?: number
  /** False: nothing breaks but what the devices do by themselves. */
  readonly breaks?: boolean
  /** From the kill to the new process; default: none. */
  readonly restartAfterMs?: number
  /** Aborted: the load is over. */
  readonly signal?: AbortSignal
}

export interface RunReport {
  readonly findings: readonly Finding[]
  readonly faults: readonly string[]
  readonly calls: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly codes: Readonly<Record<string, number>>
  readonly broken: Readonly<Record<Break, number>>
  /** Executed requests that each device logged. */
  readonly frames: Readonly<Record<string, number>>
  readonly fates: Readonly<Record<string, number>>
  /** Of the last, orderly end. */
  readonly exitCode: number | null
  readonly gatewayErrors: string
}

type Break = 'gateway_killed' | 'port_removed' | 'device_killed'

const CLIENTS = 8
const LATE = 0.04
const MUTE = 0.02
/** In turn, so that a short run has all of them. */
const BREAKS: readonly Break[] = [
  'gateway_killed',
  'port_removed',
  'gateway_killed',
  'device_killed',
  'gateway_killed',
]

export async function runBlackBox(options: RunOptions): Promise<RunReport> {
  const world = await buildWorld({ late: LATE, mute: MUTE, ...options })
  let fleet: Fleet | undefined
  try {
    fleet = startClients(world, options.seed, options.clients ?? CLIENTS)
    const broken = await load(world, fleet, options)
    await fleet.stop()
    await fleet.readAll()
    const exitCode = await world.stopGateway()
    const logs = await world.logs()
    const { calls, faults } = fleet
    const frames = world.stations.map(({ name }, index) => [name, executed(logs[index]).length] as const)
    return {
      findings: findings(calls, logs),
      faults,
      calls: calls.length,
      outcomes: countsOf(calls, ({ outcome }) => outcome),
      codes: countsOf(calls, ({ code }: ClientCall) => code),
      broken,
      frames: Object.fromEntries(frames),
      fates: countsOf(executed(logs.flat()), ({ fate }) => fate ?? ''),
      exitCode,
      gatewayErrors: world.gatewayErrors(),
    }
  } finally {
    // Clients end by themselves when nobody listens any more.
    const stopped = fleet?.stop()
    await world.remove()
    await stopped
  }
}

async function load(world: World, fleet: Fleet, options: RunOptions): Promise<Record<Break, number>> {
  const broken = { gateway_killed: 0, port_removed: 0, device_killed: 0 }
  const prng = new Prng(`${options.seed}/breaks`)
  const endAt = nowMs() + options.loadMs
  const turnsMin = options.breaks === false ? 0 : BREAKS.length
  const isOver = (turn: number) =>
    turn >= turnsMin && nowMs() >= endAt && fleet.answered() >= (options.answersMin ?? 0)
  for (let turn = 0; !isOver(turn) && !options.signal?.aborted; turn += 1) {
    await sleep(prng.integer(600, 1_800))
    const next = BREAKS[turn % BREAKS.length]
    if (options.breaks === false || next === undefined) continue
    const station = prng.pick(world.stations as [World['stations'][number]])
    const pauseMs = prng.integer(100, 700)
    const isTogether = prng.chance(0.25)
    broken[next] += 1
    if (next === 'gateway_killed') {
      const restart = world.killGateway(options.restartAfterMs ?? 0)
      if (isTogether) {
        broken.port_removed += 1
        await station.unplug()
        await sleep(pauseMs)
        await station.plug()
      }
      await restart
    } else if (next === 'port_removed') {
      await station.unplug()
      await sleep(pauseMs)
      await station.plug()
    } else {
      await station.killDevice()
      await sleep(pauseMs)
      await station.startDevice()
    }
  }
  return broken
}

function executed(log: readonly DeviceEntry[] = []): readonly DeviceEntry[] {
  return log.filter(({ kind }) => kind !== 'start')
}

function countsOf<Item>(items: readonly Item[], nameOf: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1
  return counts
}

/** The counts of a run as lines. */
export function countsText(report: RunReport): string {
  const { calls, outcomes, codes, broken, frames, fates } = report
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  return [
    `calls ${calls}: ${list(outcomes)}`,
    `answers: ${list(codes)}`,
    `broken: ${list(broken)}`,
    `requests that the devices logged: ${list(frames)} (replies: ${list(fates)})`,
    `findings ${report.findings.length}, faults ${report.faults.length}`,
  ].join('\n')
}
