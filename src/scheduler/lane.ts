/**
 * A lane: an ordered stream of calls. It knows which call is next by its policy, keeps the shared context, and gives
 * every call its one result. Who may start across lanes is not decided here: a call whose turn has come is handed to
 * the host.
 *
 * A call is passed when it is settled and everything that it waited for is passed. Only then do later calls go on, so
 * that a call cancelled in its queue does not let its successors overtake its predecessors.
 */
import type { Clock } from '../clock.ts'
import { assert, GatewayError } from '../errors.ts'
import { LANE_CALLS_MAX } from '../limits.ts'
import { Alarm } from './alarm.ts'
import {
  acceptCall,
  type CallEvent,
  type CallState,
  deadlineExceeded,
  type Ending,
  isPastDeadline,
  resultOf,
  stepCall,
} from './call.ts'
import { type Claims, claimsOf } from './claims.ts'
import { type Context, freezeContext, SharedContext } from './context.ts'
import type { Rank } from './declaration.ts'
import { queueFull } from './occupancy.ts'
import { createLaneOrder, type LaneOrder, type Placement } from './policies.ts'
import type { ContextConflict, Lane, LaneOptions, Task, TaskResult, TaskRun } from './task.ts'

/** Calls of one lane over its whole life: its partitions are remembered until its end. */
export const LANE_LIFE_CALLS_MAX = 20_000

/** One call in its lane. */
export interface LaneCall {
  readonly task: Task
  readonly lane: TaskLane
  readonly rank: Rank
  readonly claims: Claims
  /** Order of acceptance in the process. */
  readonly order: number
  /** Position in the lane, from 0. */
  readonly index: number
  readonly progress: TaskRun['progress']
  readonly resolve: (result: TaskResult) => void
  state: CallState
  partition: number
  /** Calls before it that are not passed. */
  unmet: number
  readonly dependents: LaneCall[]
}

/** What a lane needs of the scheduler. */
export interface LaneHost {
  readonly clock: Clock
  /** Does the work as one change: nobody is admitted in the middle of it, and then whoever may be. */
  change(work: () => void): void
  /** Why the task cannot be taken now. */
  refusal(task: Task, rank: Rank): GatewayError | undefined
  nextOrder(): number
  /** The call waits from now on. */
  accept(call: LaneCall): void
  /** It waits for nothing of its lane any more. */
  queue(call: LaneCall): void
  /** It is settled. */
  leave(call: LaneCall): void
}

interface Partition {
  readonly ids: string[]
  /** Its calls that are not passed. */
  open: number
}

export class TaskLane implements Lane {
  readonly drained: Promise<void>
  readonly #options: LaneOptions
  readonly #host: LaneHost
  readonly #order: LaneOrder
  readonly #deadline: Alarm
  readonly #resolveDrained: () => void
  readonly #unstarted = new Set<LaneCall>()
  readonly #unpassed = new Map<number, LaneCall>()
  readonly #context: SharedContext
  #partitions: Partition[] = []
  /** The first partition whose changes are not merged yet. */
  #currentPartition = 0
  #callCount = 0
  #unsettled = 0
  #addCount = 0
  #hasRun = false
  #isEnded = false
  /** The call after which nothing starts any more, under `onError: abort`. */
  #failed: string | undefined

  constructor(options: LaneOptions, host: LaneHost) {
    this.#options = options
    this.#host = host
    this.#order = createLaneOrder(options.policy)
    this.#context = new SharedContext(freezeContext(options.context, 'invalid_arguments'), options.reducers)
    this.#deadline = new Alarm(host.clock, () => this.#expire())
    let resolveDrained = () => {}
    this.drained = new Promise((resolve) => {
      resolveDrained = resolve
    })
    this.#resolveDrained = resolveDrained
  }

  add(tasks: readonly Task[]): readonly Promise<TaskResult>[] {
    assert(!this.#isEnded, 'no call is added to a lane that has ended')
    this.#addCount += 1
    if (this.#options.onError === 'abort') {
      const rejected = tasks.find((task) => task.rejected)
      if (rejected) this.#change(() => this.#fail(rejected.id))
    }
    return tasks.map((task) => {
      const { promise, resolve } = withResolver<TaskResult>()
      this.#change(() => this.#accept(task, resolve))
      return promise
    })
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#change(() => {
      if (this.#addCount === 1 && !this.#hasRun) this.#joinAll()
    })
  }

  partitions(): readonly (readonly string[])[] {
    return this.#partitions.map(({ ids }) => [...ids])
  }

  context(): Context {
    return this.#context.snapshot
  }

  conflicts(): readonly ContextConflict[] {
    return [...this.#context.conflicts]
  }

  cancel(id?: string): boolean {
    const calls = [...this.#unstarted].filter(({ task }) => id === undefined || task.id === id)
    this.withdraw(
      calls,
      () => new GatewayError('cancelled', 'the caller cancelled the call before it started'),
    )
    return calls.length > 0
  }

  /** Ends these calls unless they run already. They are one event: none is aborted because of another. */
  withdraw(calls: readonly LaneCall[], error: () => GatewayError): void {
    this.#change(() => {
      for (const call of calls) {
        this.#step(call, { kind: 'withdraw', atMs: this.#host.clock.now(), error: error() })
      }
    })
  }

  /** All calls that have not started. */
  withdrawAll(error: () => GatewayError): void {
    this.withdraw([...this.#unstarted], error)
  }

  /** The call is admitted. False: its deadline has passed, and it is settled. */
  start(call: LaneCall): boolean {
    this.#change(() => this.#step(call, { kind: 'start', atMs: this.#host.clock.now() }))
    return call.state.phase === 'running'
  }

  /** The run of the call is over. */
  finish(call: LaneCall, ending: Ending): void {
    this.#change(() => {
      this.#hasRun = true
      const kept = call.state.phase === 'running' ? this.#keepChanges(call, ending) : ending
      this.#step(call, { kind: 'end', atMs: this.#host.clock.now(), ending: kept })
    })
  }

  #change(work: () => void): void {
    this.#host.change(() => {
      work()
      this.#abortRest()
      this.#mergeWhatIsOver()
      if (this.#unstarted.size === 0) this.#deadline.clear()
      else this.#deadline.at(this.#options.deadlineAt ?? Number.POSITIVE_INFINITY)
      if (this.#isEnded && this.#unsettled === 0) this.#resolveDrained()
    })
  }

  #accept(task: Task, resolve: (result: TaskResult) => void): void {
    const { clock } = this.#host
    const call: LaneCall = {
      task,
      lane: this,
      rank: this.#options.rank,
      claims: claimsOf(task.claims),
      order: this.#host.nextOrder(),
      index: this.#callCount,
      progress: { sent: false, wireMs: 0 },
      resolve,
      state: acceptCall(clock.now(), this.#options.deadlineAt),
      partition: 0,
      unmet: 0,
      dependents: [],
    }
    this.#unsettled += 1
    const refusal = this.#refusal(call)
    if (this.#callCount < LANE_LIFE_CALLS_MAX) this.#place(call)
    if (refusal) {
      this.#step(call, { kind: 'withdraw', atMs: clock.now(), error: refusal })
      return
    }
    this.#unstarted.add(call)
    this.#host.accept(call)
    this.#advance(call)
  }

  #refusal({ task, rank, state }: LaneCall): GatewayError | undefined {
    if (task.rejected) return task.rejected
    if (this.#failed !== undefined) return aborted(this.#failed)
    if (isPastDeadline(state, this.#host.clock.now())) return deadlineExceeded()
    if (this.#callCount >= LANE_LIFE_CALLS_MAX) {
      return queueFull(`the lane has had ${LANE_LIFE_CALLS_MAX} calls; open another one`)
    }
    if (this.#unstarted.size >= LANE_CALLS_MAX) {
      return queueFull(`${LANE_CALLS_MAX} calls of the lane are already waiting`)
    }
    return this.#host.refusal(task, rank)
  }

  /** Gives the call its place; a call that is refused has one too, for the order of the others follows from all. */
  #place(call: LaneCall): void {
    const { task, claims, index } = call
    const { declaration, arguments: args } = task
    const placement = this.#order.place({ declaration, arguments: args, claims })
    this.#callCount += 1
    this.#unpassed.set(index, call)
    call.partition = placement.partition
    const partition = this.#partitions[placement.partition]
    if (partition) {
      partition.ids.push(task.id)
      partition.open += 1
    } else {
      this.#partitions[placement.partition] = { ids: [task.id], open: 1 }
    }
    this.#linkWaits(call, placement)
    call.state = stepCall(call.state, { kind: 'place' })
  }

  #linkWaits(call: LaneCall, { waitsFor }: Placement): void {
    for (const wait of waitsFor) {
      const earlier = this.#unpassed.get(wait.index)
      if (!earlier) continue
      earlier.dependents.push(call)
      call.unmet += 1
    }
  }

  /** The lane was filled at once: its calls may be one partition after all. */
  #joinAll(): void {
    const placements = this.#order.joinAll()
    if (!placements) return
    const calls = [...this.#unpassed.values()]
    this.#partitions = [{ ids: this.#partitions.flatMap(({ ids }) => ids), open: calls.length }]
    this.#currentPartition = 0
    for (const call of calls) {
      call.partition = 0
      call.unmet = 0
      call.dependents.length = 0
    }
    for (const call of calls) {
      const placement = placements[call.index]
      if (placement) this.#linkWaits(call, placement)
    }
    for (const call of calls) this.#advance(call)
  }

  #step(call: LaneCall, event: CallEvent): void {
    const before = call.state.phase
    call.state = stepCall(call.state, event)
    if (call.state.phase === before) return
    if (call.state.phase === 'running') this.#unstarted.delete(call)
    if (call.state.phase !== 'settled') return

    this.#unstarted.delete(call)
    this.#unsettled -= 1
    this.#host.leave(call)
    const effect = call.task.declaration?.effect ?? 'act'
    const result = resultOf({ id: call.task.id, effect }, call.state, call.progress)
    if (result.error && this.#options.onError === 'abort') this.#fail(call.task.id)
    call.resolve(result)
    this.#advance(call)
  }

  /** Goes on with a call that waits for nothing of its lane any more, and from there with those behind it. */
  #advance(first: LaneCall): void {
    const calls = [first]
    for (let call = calls.pop(); call; call = calls.pop()) {
      if (call.unmet > 0) continue
      if (call.state.phase === 'waiting') {
        this.#step(call, { kind: 'queue' })
        this.#host.queue(call)
      }
      if (call.state.phase !== 'settled' || !this.#unpassed.delete(call.index)) continue
      const partition = this.#partitions[call.partition]
      if (partition) partition.open -= 1
      for (const dependent of call.dependents) {
        dependent.unmet -= 1
        calls.push(dependent)
      }
      call.dependents.length = 0
    }
  }

  #fail(id: string): void {
    this.#failed ??= id
  }

  #abortRest(): void {
    const failed = this.#failed
    if (failed === undefined) return
    for (const call of [...this.#unstarted]) {
      this.#step(call, { kind: 'withdraw', atMs: this.#host.clock.now(), error: aborted(failed) })
    }
  }

  #expire(): void {
    const now = this.#host.clock.now()
    this.withdraw(
      [...this.#unstarted].filter((call) => isPastDeadline(call.state, now)),
      deadlineExceeded,
    )
  }

  /** A context that cannot be kept is a failure of the tool's own code, whatever else the run did. */
  #keepChanges(call: LaneCall, ending: Ending): Ending {
    if (!('value' in ending) || !ending.value.context) return ending
    try {
      const changes = freezeContext(ending.value.context, 'tool_failed')
      this.#context.keep(call.index, call.task.id, changes)
      return ending
    } catch (thrown) {
      assert(thrown instanceof GatewayError, 'freezeContext throws nothing else')
      return { error: thrown }
    }
  }

  /** Under `resource` partitions overlap, so there the changes are merged whenever the lane has drained. */
  #mergeWhatIsOver(): void {
    if (this.#options.policy === 'resource') {
      if (this.#unsettled === 0) this.#context.merge()
      return
    }
    const closedCount = this.#isEnded ? this.#partitions.length : this.#partitions.length - 1
    while (this.#currentPartition < closedCount && this.#partitions[this.#currentPartition]?.open === 0) {
      this.#context.merge()
      this.#currentPartition += 1
    }
  }
}

function aborted(failedId: string): GatewayError {
  return new GatewayError('aborted', `the call ${failedId} of the same lane failed before this one started`)
}

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((resolveFirst) => {
    resolve = resolveFirst
  })
  return { promise, resolve }
}
