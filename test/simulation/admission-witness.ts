/**
 * Sees every lane and every decision of a scheduler, lays the whole table before the admission model, and says where
 * the two differ. It sees only what the scheduler's own parts say to each other, and changes nothing of it.
 *
 * Asked is twice: at each decision, who starts of all and in what order; and whenever all is at rest, whether somebody
 * still waits who may start, whom nobody looked at.
 */
import type { Clock } from '../../src/clock.ts'
import { type ClaimMode, GATEWAY } from '../../src/scheduler/claims.ts'
import { type Claim, isParallelSafe, type Policy } from '../../src/scheduler/declaration.ts'
import type { LaneCall, LaneHost, TaskLane } from '../../src/scheduler/lane.ts'
import type { Queue, Row } from '../../src/scheduler/queue.ts'
import type { LaneOptions } from '../../src/scheduler/task.ts'
import { type Call, type Lane, mayStart, type Table, waitsFor } from './admission-model.ts'
import { MOMENT_MS } from './invariants/trace.ts'

/** Who listens to what the model says against the scheduler. */
export interface Hearing {
  readonly object: (message: string) => void
  /** Until then the event loop stands still, or did: timers that are due come in that moment at the earliest. */
  readonly stalledUntil: () => number
}

/** After how long the scheduler lets a call gain a rank: the document sets a bound, not the number. */
export const AGE_MS = { automation: 10_000, poll: 10_000 } as const
/** The model takes the square of the table, or worse: of larger ones only some are laid before it. */
const ROWS_MAX = 60

/** A row of the scheduler's table. */
interface CallRow extends Row {
  readonly call: LaneCall
  readonly notBeforeMs: number
}

interface SeenLane {
  readonly id: string
  readonly policy: Policy
  stage: Lane['stage']
  readonly calls: Set<LaneCall>
}

let hearing: Hearing | undefined

/** From now on, schedulers that open their first lane are heard there. */
export function attendAdmission(next: Hearing): void {
  hearing = next
}

const witnesses = new WeakMap<LaneHost, Witness>()
const witnessOfLane = new WeakMap<TaskLane, Witness>()
const witnessOfQueue = new WeakMap<object, Witness>()

export function witnessOf(host: LaneHost): Witness {
  const known = witnesses.get(host)
  if (known) return known
  const witness = new Witness(host.clock, hearing)
  witnesses.set(host, witness)
  return witness
}

/** A decision of a scheduler, before anything is done about it. */
export function seeDecision<R extends Row>(
  queue: Queue<R>,
  rows: readonly R[],
  admitted: readonly R[],
  nowMs: number,
): void {
  const [first] = rows as readonly Row[] as readonly CallRow[]
  const witness = first ? witnessOfLane.get(first.call.lane) : witnessOfQueue.get(queue)
  if (!witness) return
  witnessOfQueue.set(queue, witness)
  witness.decided(
    queue as Queue<Row> as Queue<CallRow>,
    (admitted as readonly Row[] as readonly CallRow[]).map(({ call }) => call),
    nowMs,
  )
}

class Witness {
  readonly #clock: Clock
  readonly #hearing: Hearing | undefined
  readonly #lanes = new Set<SeenLane>()
  readonly #queuedAt = new Map<LaneCall, number>()
  /** What does not change of each. */
  readonly #facts = new WeakMap<LaneCall, Facts>()
  #queue: Queue<CallRow> | undefined
  #laneCount = 0
  #decisions = 0
  #willRest = false

  constructor(clock: Clock, to: Hearing | undefined) {
    this.#clock = clock
    this.#hearing = to
  }

  /** A new lane, made with what is given to it here, so that all that it says is heard. */
  openLane(options: LaneOptions, host: LaneHost, make: (host: LaneHost) => TaskLane): TaskLane {
    this.#laneCount += 1
    const seen: SeenLane = {
      id: String(this.#laneCount),
      policy: options.policy,
      stage: 'open',
      calls: new Set(),
    }
    const lane = make(this.#overheard(host, seen))
    witnessOfLane.set(lane, this)
    this.#lanes.add(seen)
    const { add, end } = lane
    let addCount = 0
    lane.add = (tasks) => {
      addCount += 1
      return add.call(lane, tasks)
    }
    lane.end = () => {
      // A lane that was given its calls one by one has been open: its calls do not become one batch at its end.
      if (addCount === 1) seen.stage = 'whole'
      end.call(lane)
    }
    void lane.drained.then(() => this.#lanes.delete(seen))
    return lane
  }

  #overheard(host: LaneHost, seen: SeenLane): LaneHost {
    return {
      clock: host.clock,
      nextOrder: () => host.nextOrder(),
      refusal: (task, rank) => host.refusal(task, rank),
      change: (work) => {
        host.change(work)
        this.#askAtRest()
      },
      accept: (call) => {
        seen.calls.add(call)
        host.accept(call)
      },
      queue: (call) => {
        this.#queuedAt.set(call, this.#clock.now())
        host.queue(call)
      },
      leave: (call) => {
        // One that was refused has its place among the others too.
        seen.calls.add(call)
        this.#queuedAt.delete(call)
        host.leave(call)
      },
    }
  }

  decided(queue: Queue<CallRow>, admitted: readonly LaneCall[], nowMs: number): void {
    this.#queue = queue
    this.#askAtRest()
    const table = this.#sampled(nowMs)
    if (!table) return
    const [should, does] = [mayStart(table), admitted.map(idOf)]
    if (should.join() === does.join()) return
    this.#object(table, `starts ${this.#named(does)} and not ${this.#named(should)}`)
  }

  /** In a microtask, when the change that goes on is over. */
  #askAtRest(): void {
    if (this.#willRest) return
    this.#willRest = true
    queueMicrotask(() => {
      this.#willRest = false
      const table = this.#sampled(this.#clock.now())
      const forgotten = table ? mayStart(table) : []
      if (table && forgotten.length > 0)
        this.#object(table, `rests and has not started ${this.#named(forgotten)}`)
    })
  }

  /** Undefined: nobody waits, or the table is large: of those only some are asked about. */
  #sampled(nowMs: number): Table | undefined {
    this.#decisions += 1
    if (!this.#hearing) return undefined
    let waiting = 0
    for (const { calls } of this.#lanes) {
      for (const { state } of calls) if (!['running', 'settled'].includes(state.phase)) waiting += 1
    }
    if (waiting === 0) return undefined
    const share = Math.ceil((waiting / ROWS_MAX) ** 2)
    return share > 1 && this.#decisions % share > 0 ? undefined : this.#table(nowMs)
  }

  #table(nowMs: number): Table {
    const line = this.#queue?.line(GATEWAY)
    const rows = [...(line?.waitingExclusive ?? []), ...(line?.waitingShared ?? [])]
    const rowOf = new Map(rows.map((row) => [row.call, row]))
    const calls = [...this.#lanes].flatMap((seen) => {
      const { id, policy, stage } = seen
      const lane: Lane = { id, policy, stage }
      return [...seen.calls].map((call) => this.#modelled(call, lane, rowOf.get(call), nowMs))
    })
    return { now: nowMs, calls, ageMs: AGE_MS }
  }

  /**
   * As the model has it, and without its deadline: the scheduler settles what is past it when it would start, or at its
   * alarm, and only then do others go on. That nothing starts past its deadline is seen here.
   */
  #modelled(call: LaneCall, lane: Lane, row: CallRow | undefined, nowMs: number): Call {
    const { task, rank, state } = call
    if (state.phase === 'running' && state.startedAtMs >= state.deadlineAtMs) {
      this.#hearing?.object(`${nowMs}: ${task.id} was started past its deadline`)
    }
    const isWaiting = state.phase !== 'running' && state.phase !== 'settled'
    const queuedAt = this.#queuedAt.get(call) ?? nowMs
    const ageMs = rank in AGE_MS ? AGE_MS[rank as keyof typeof AGE_MS] : Number.POSITIVE_INFINITY
    const isRaiseLate = row?.rank === rank && this.#mayBeToCome(queuedAt + ageMs, nowMs)
    const isUnready = row?.isReady === false && this.#mayBeToCome(row.notBeforeMs, nowMs)
    let facts = this.#facts.get(call)
    if (!facts) {
      facts = factsOf(call)
      this.#facts.set(call, facts)
    }
    return {
      ...facts,
      state: isWaiting ? 'waiting' : state.phase === 'running' ? 'running' : 'finished',
      lane,
      // Not of age yet, and as long in the table as that lets it be: its patience goes on.
      enqueuedAt: isRaiseLate ? Math.max(queuedAt, nowMs - ageMs + MOMENT_MS) : queuedAt,
      ...(isUnready ? { notYet: 'reply' } : {}),
    }
  }

  /** A timer comes in the moment in which it is due, after others of it, or in the one in which the event loop turns again. */
  #mayBeToCome(dueAtMs: number, nowMs: number): boolean {
    return nowMs <= Math.max(dueAtMs, this.#hearing?.stalledUntil() ?? 0) + MOMENT_MS
  }

  #named(ids: readonly string[]): string {
    const calls = [...this.#lanes].flatMap(({ calls: seen }) => [...seen])
    const names = ids.map((id) => calls.find((call) => idOf(call) === id)?.task.id ?? id)
    return `[${names.join(', ')}]`
  }

  #object(table: Table, message: string): void {
    const shown = table.calls.filter(({ state }) => state !== 'finished').map((call) => showCall(call, table))
    this.#hearing?.object(`${table.now}: the scheduler ${message}, of\n${shown.join('\n')}`)
  }
}

export type { Witness }

type Facts = Omit<Call, 'state' | 'lane' | 'enqueuedAt' | 'notYet'>

function factsOf(call: LaneCall): Facts {
  const { task, rank, order, index } = call
  return {
    id: idOf(call),
    index,
    ...(task.device === undefined ? {} : { device: task.device }),
    effect: task.declaration?.effect ?? 'act',
    parallelSafe: isParallelSafe(task.declaration, task.arguments),
    serial: task.declaration?.serial === true,
    claims: onceEach(task.claims),
    rank,
    order,
  }
}

/** Unique in the life of a scheduler, which a caller's ids need not be. */
function idOf({ order }: LaneCall): string {
  return String(order)
}

/** Each resource once, with the strongest mode asked for. */
function onceEach(claims: readonly Claim[]): readonly Claim[] {
  const modes = new Map<string, ClaimMode>()
  for (const { resource, mode } of claims) {
    if (modes.get(resource) !== 'exclusive') modes.set(resource, mode)
  }
  return Array.from(modes, ([resource, mode]) => ({ resource, mode }))
}

function showCall(call: Call, table: Table): string {
  const { id, state, lane, index, device, rank, notYet, enqueuedAt, claims } = call
  const wanted = claims.map(({ resource, mode }) => `${resource} ${mode}`).join(' + ')
  const safety = call.parallelSafe ? 'safe' : call.serial ? 'serial' : 'undeclared'
  const waits = waitsFor(table, id).map((wait) => ('id' in wait ? `${wait.reason} ${wait.id}` : wait.reason))
  return `  ${id} ${state} lane ${lane?.id}.${index} ${lane?.policy} ${lane?.stage} ${device} ${rank} ${safety} ${notYet ?? 'ready'} since ${enqueuedAt} wants ${wanted}; waits for ${waits.join(', ')}`
}
