/**
 * One run: first everything may go wrong, then everything is mended and must come to its end, then the gateway is idle,
 * and then it is closed.
 */
import { attendAdmission } from './admission-witness.ts'
import type { CallRecord, CloseRecord, History } from './history.ts'
import { oneByOnePlan } from './one-by-one.ts'
import type { Fault, Plan, Submission } from './plan.ts'
import { Workload } from './workload.ts'
import { World } from './world.ts'

export interface Run {
  readonly history: History
  /** Of everything that happened. */
  readonly hash: string
  readonly simulatedMs: number
  readonly events: number
  /** The names of the operations of the binding until everything was mended, by port. */
  readonly operations: ReadonlyMap<string, readonly string[]>
}

const SAMPLE_MS = 500
/** A port that is gone for long is opened again after at most 60 s, and a fifth. */
const ENDS_WITHIN_MS = 150_000
const LAST_CALLS_MS = 90_000
const LAST_ATTEMPTS = 3
const IDLE_MS = 5_000
const CLOSE_MS = 20_000
/** Nonces of the last calls; those of the plan are below. */
export const LAST_NONCE = 59_000

export async function run(plan: Plan): Promise<Run> {
  const uncaught: string[] = []
  const onUncaught = (error: unknown) => {
    uncaught.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  process.on('uncaughtException', onUncaught)
  process.on('unhandledRejection', onUncaught)
  try {
    const done = await runThrough(plan, uncaught)
    if (!plan.isComparedOneByOne) return done
    const { history: oneByOne } = await runThrough(oneByOnePlan(plan), uncaught)
    return { ...done, history: { ...done.history, oneByOne } }
  } finally {
    process.off('uncaughtException', onUncaught)
    process.off('unhandledRejection', onUncaught)
  }
}

async function runThrough(plan: Plan, uncaught: readonly string[]): Promise<Run> {
  const world = new World(plan)
  const { clock, recorder } = world
  const workload = new Workload(world)
  attendAdmission({
    object: (message) => recorder.objections.push(message),
    stalledUntil: () => clock.stalledUntil,
  })
  await world.start()
  workload.schedule()
  for (const fault of plan.faults) schedule(world, workload, fault)
  sampleAgain(world)
  await clock.run(plan.safetyMs)

  if (!world.gateway) await world.start()
  const { operations } = world.tap
  world.heal()
  world.gateway?.emergencyStop.release({ id: 'healer', name: 'healer', role: 'admin' })
  const healedAt = clock.now
  const isOver = () => workload.isSettled && arePortsOpen(world)
  await clock.run(healedAt + ENDS_WITHIN_MS, isOver)
  const endedAt = isOver() ? clock.now : undefined

  const lastCalls = await callAll(world, workload)
  const close = await closeGateway(world)
  const history: History = {
    plan,
    calls: workload.calls.filter((call) => !lastCalls.includes(call)),
    lanes: workload.lanes,
    writes: recorder.writes,
    reads: recorder.reads,
    openings: recorder.openings,
    executions: recorder.executions,
    readings: recorder.readings,
    told: recorder.told,
    samples: recorder.samples,
    healedAt,
    endedAt,
    close,
    lastCalls,
    objections: recorder.objections,
    uncaught,
  }
  const { now: simulatedMs, events } = clock
  return { history, hash: recorder.digest(), simulatedMs, events, operations }
}

function arePortsOpen({ gateway }: World): boolean {
  return gateway?.ports().every(({ state }) => state === 'open' || state === 'suspect') ?? false
}

/** One read of each device, which nothing hinders any more. */
async function callAll(world: World, workload: Workload): Promise<readonly CallRecord[]> {
  const devices = world.plan.home.ports.flatMap((port) => port.devices)
  const calls: CallRecord[] = []
  for (const [index, { id }] of devices.entries()) {
    // A device may have half a command left from before, which spoils the next one.
    for (let attempt = 0; attempt < LAST_ATTEMPTS; attempt += 1) {
      const nonce = LAST_NONCE + LAST_ATTEMPTS * index + attempt
      const lane = workload.submit({
        ...LAST_CALL,
        at: world.clock.now,
        calls: [{ nonce, device: id, name: 'read' }],
      })
      const until = world.clock.now + LAST_CALLS_MS
      await world.clock.run(until, () => lane.calls.every(({ settledAt }) => settledAt !== undefined))
      calls.push(...lane.calls)
      if (lane.calls.every(({ result }) => result?.status === 'ok')) break
    }
  }
  return calls
}

const LAST_CALL: Omit<Submission, 'at' | 'calls'> = {
  kind: 'batch',
  policy: 'partition',
  priority: 'interactive',
  deadlineMs: 60_000,
  onError: 'continue',
}

async function closeGateway(world: World): Promise<CloseRecord> {
  const { clock, tap } = world
  await clock.run(clock.now + IDLE_MS)
  const idleTimers = world.timers
  let endedAt: number | undefined
  void world.gateway?.close().then(() => {
    endedAt = clock.now
  })
  await clock.run(clock.now + CLOSE_MS, () => endedAt !== undefined)
  // What the last promises set is over, or it is left behind.
  await clock.run(clock.now + 1)
  return { endedAt, openPorts: tap.openPorts, timers: world.timers, idleTimers }
}

function sampleAgain(world: World): void {
  const { clock, recorder, view, plan } = world
  view.after(SAMPLE_MS, () => {
    const { gateway, timers } = world
    const queues = (gateway?.ports() ?? []).map(({ id, queue }) => ({ port: id, ...queue }))
    recorder.samples.push({ at: clock.now, queues, timers })
    if (clock.now < plan.safetyMs + ENDS_WITHIN_MS) sampleAgain(world)
  })
}

function schedule(world: World, workload: Workload, fault: Fault): void {
  const { view, clock } = world
  const during = (at: number, forMs: number, begin: () => void, end: () => void) => {
    view.after(at, begin)
    view.after(at + forMs, end)
  }
  switch (fault.kind) {
    case 'fate':
    case 'byte':
    case 'operation':
      return
    case 'unplug': {
      const wire = world.wire(fault.port)
      during(
        fault.at,
        fault.forMs,
        () => wire.unplug(),
        () => wire.replug(),
      )
      return
    }
    case 'open':
      view.after(fault.at, () => world.wire(fault.port).failOpens(fault.fault, fault.times))
      return
    case 'standstill': {
      const wire = world.wire(fault.port)
      during(
        fault.at,
        fault.forMs,
        () => wire.stall(fault.how),
        () => wire.resume(),
      )
      return
    }
    case 'slow': {
      const wire = world.wire(fault.port)
      const { faults } = wire
      const begin = () => {
        wire.faults = { ...wire.faults, slowdown: fault.factor }
      }
      during(fault.at, fault.forMs, begin, () => {
        wire.faults = faults
      })
      return
    }
    case 'baud': {
      const wire = world.wire(fault.port)
      const settings = world.settings(fault.port)
      const begin = () => {
        wire.settings = { ...settings, baudRate: settings.baudRate * 2 }
      }
      during(fault.at, fault.forMs, begin, () => {
        wire.settings = settings
      })
      return
    }
    case 'unsolicited':
      for (let index = 0; index < fault.times; index += 1) {
        view.after(fault.at + 5 * index, () => world.stations.get(fault.device)?.chatter())
      }
      return
    case 'noise':
      view.after(fault.at, () => {
        const bytes = view.randomBytes(fault.length)
        world.wire(fault.port).send(bytes, { talker: '(noise)' })
      })
      return
    case 'wedge':
      during(
        fault.at,
        fault.forMs,
        () => world.wedged.add(fault.device),
        () => world.wedged.delete(fault.device),
      )
      return
    case 'stall':
      view.after(fault.at, () => clock.stall(fault.forMs))
      return
    case 'wall':
      view.after(fault.at, () => world.jumpWall(fault.byMs))
      return
    case 'crash':
      view.after(fault.at, () => {
        workload.orphan()
        world.kill()
        view.after(fault.downMs, () => {
          if (!world.gateway) void world.start()
        })
      })
  }
}
