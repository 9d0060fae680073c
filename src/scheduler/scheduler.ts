/**
 * The scheduler: every call of every lane goes through it, over one table of claims. It accepts or refuses, queues,
 * admits and runs, and gives each call exactly one result.
 *
 * Everything that happens is one change after another, and after each change whoever may start is admitted. A run
 * itself begins in a microtask, so that no tool's code ever runs inside a change.
 */
import type { Clock } from '../clock.ts'
import { GatewayError, messageOf } from '../errors.ts'
import { type Log, silentLog } from '../log.ts'
import { AGEING_MS, admit, agedRank, candidates, type Freed, freedByUnready } from './admission.ts'
import { Alarm } from './alarm.ts'
import type { ClaimMode } from './claims.ts'
import type { Rank } from './declaration.ts'
import { type LaneCall, type LaneHost, TaskLane } from './lane.ts'
import { Occupancy } from './occupancy.ts'
import { compareRows, Queue, type Row } from './queue.ts'
import type { Lane, LaneOptions, Task } from './task.ts'

export interface SchedulerParts {
  readonly clock: Clock
  /** Calls that may wait for one port; polls do not count. */
  readonly queueLength: number
  readonly log?: Log
}

interface Entry extends Row {
  readonly call: LaneCall
  notBeforeMs: number
}

export class Scheduler {
  readonly #clock: Clock
  readonly #log: Log
  readonly #host: LaneHost
  readonly #occupancy: Occupancy<LaneCall>
  readonly #queue = new Queue<Entry>()
  /** Calls that are queued or run. */
  readonly #entries = new Map<LaneCall, Entry>()
  readonly #aborts = new Map<LaneCall, AbortController>()

  /** What may have let somebody start since the last admission. */
  readonly #freed = new Map<string, ClaimMode>()
  readonly #changed = new Set<Entry>()
  #isChanging = false

  /** Queued calls that may not start yet. */
  readonly #unready = new Set<Entry>()
  readonly #readiness: Alarm
  /** Queued calls that gain a rank with age, longest in the queue first. */
  readonly #ageing = new Set<Entry>()
  readonly #age: Alarm

  #callCount = 0
  #isShutDown = false
  readonly #onIdle: (() => void)[] = []

  constructor({ clock, queueLength, log = silentLog }: SchedulerParts) {
    this.#clock = clock
    this.#log = log
    this.#occupancy = new Occupancy(queueLength)
    this.#readiness = new Alarm(clock, () => this.#wakeReady())
    this.#age = new Alarm(clock, () => this.#raiseAged())
    this.#host = {
      clock,
      change: (work) => this.#change(work),
      refusal: (task, rank) => this.#refusal(task, rank),
      nextOrder: () => {
        this.#callCount += 1
        return this.#callCount
      },
      accept: (call) => this.#occupancy.accept(call),
      queue: (call) => this.#enqueue(call),
      leave: (call) => this.#leave(call),
    }
  }

  /** Throws a GatewayError if the context is no JSON data. */
  openLane(options: LaneOptions): Lane {
    return new TaskLane(options, this.#host)
  }

  /** Something of the resource (`port:<id>`) changed, or of any: asks the calls that wait whether and when they may start. */
  recheck(resource?: string): void {
    this.#change(() => {
      for (const call of this.#occupancy.waitingFor(resource)) {
        if (call.state.phase !== 'waiting' && call.state.phase !== 'queued') continue
        const refusal = this.#ask(call.task, () => call.task.refusal?.())
        if (refusal) call.lane.withdraw([call], () => refusal)
        else this.#askWhen(call)
      }
    })
  }

  /** Calls that wait for the port, polls among them, and calls that run on it. */
  waiting(portId: string): { readonly waiting: number; readonly running: number } {
    return this.#occupancy.ofPort(portId)
  }

  /** Answers all that waits, and all that comes from now on, with `stopped`. Resolves when nothing runs any more. */
  shutdown(): Promise<void> {
    this.#isShutDown = true
    this.#withdrawWaiting(shuttingDown)
    if (!this.#occupancy.isAnyRunning) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /** The emergency stop: answers all that waits with `stopped`, and aborts all runs. What comes from now on is taken. */
  stopAll(): void {
    this.#withdrawWaiting(
      () => new GatewayError('stopped', 'the emergency stop came before the call had started'),
    )
    this.abortRunning()
  }

  #withdrawWaiting(reason: () => GatewayError): void {
    this.#change(() => {
      for (const lane of new Set(this.#occupancy.waitingFor(undefined).map((call) => call.lane))) {
        lane.withdrawAll(reason)
      }
    })
  }

  /** Aborts the signals of all runs. Each of them still ends by itself and has its one result. */
  abortRunning(): void {
    for (const abort of [...this.#aborts.values()]) {
      abort.abort(new GatewayError('stopped', 'the run was stopped'))
    }
  }

  #refusal(task: Task, rank: Rank): GatewayError | undefined {
    if (this.#isShutDown) return shuttingDown()
    return this.#ask(task, () => task.refusal?.()) ?? this.#occupancy.refusal(task, rank)
  }

  #enqueue(call: LaneCall): void {
    const now = this.#clock.now()
    const entry: Entry = {
      call,
      order: call.order,
      device: call.task.device,
      claims: call.claims,
      queuedAtMs: now,
      rank: call.rank,
      isReady: true,
      notBeforeMs: now,
    }
    this.#entries.set(call, entry)
    this.#queue.insert(entry)
    this.#changed.add(entry)
    if (agedRank(entry.rank, AGEING_MS) !== entry.rank) this.#ageing.add(entry)
  }

  /** The call is settled: it waits for nothing and holds nothing any more. */
  #leave(call: LaneCall): void {
    this.#occupancy.leave(call)
    const entry = this.#entries.get(call)
    if (!entry) return
    this.#entries.delete(call)
    if (this.#queue.isWaiting(entry)) {
      this.#queue.remove(entry)
      this.#leaveQueue(entry)
    } else {
      this.#queue.end(entry)
      this.#aborts.delete(call)
    }
    this.#free(entry.claims)
  }

  #leaveQueue(entry: Entry): void {
    this.#changed.delete(entry)
    this.#ageing.delete(entry)
    this.#unready.delete(entry)
  }

  #free(freed: Freed): void {
    for (const [resource, mode] of freed) {
      if (this.#freed.get(resource) !== 'exclusive') this.#freed.set(resource, mode)
    }
  }

  /** Nested changes are one with the outermost. */
  #change(work: () => void): void {
    if (this.#isChanging) {
      work()
      return
    }
    this.#isChanging = true
    try {
      work()
      while (this.#freed.size > 0 || this.#changed.size > 0) this.#admitOnce()
    } finally {
      this.#isChanging = false
    }
    this.#setAlarms()
    if (!this.#occupancy.isAnyRunning) {
      for (const resolve of this.#onIdle.splice(0)) resolve()
    }
  }

  #admitOnce(): void {
    const now = this.#clock.now()
    for (const entry of [...this.#changed]) this.#askWhen(entry.call)
    const rows = [...new Set([...this.#changed, ...candidates(this.#queue, this.#freed, now)])]
    this.#changed.clear()
    this.#freed.clear()
    for (const entry of admit(this.#queue, rows.sort(compareRows), now)) {
      // Settling one of them, by its deadline, may have settled others.
      if (!this.#queue.isWaiting(entry)) continue
      // The line may have changed without a word since it was asked.
      this.#askWhen(entry.call)
      if (!this.#queue.isWaiting(entry) || !entry.isReady) continue
      if (entry.call.lane.start(entry.call)) this.#run(entry)
    }
  }

  #run(entry: Entry): void {
    const { call } = entry
    this.#queue.start(entry)
    this.#leaveQueue(entry)
    this.#occupancy.start(call)
    const abort = new AbortController()
    this.#aborts.set(call, abort)
    const run = { signal: abort.signal, context: call.lane.context(), progress: call.progress }
    Promise.resolve()
      .then(() => call.task.run(run))
      .then(
        (value) => call.lane.finish(call, { value }),
        (thrown: unknown) => call.lane.finish(call, { error: this.#errorOf(thrown, call.task) }),
      )
  }

  #errorOf(thrown: unknown, task: Task): GatewayError {
    if (thrown instanceof GatewayError) return thrown
    const stack = thrown instanceof Error ? thrown.stack : undefined
    this.#log.error({ call: task.id, tool: task.name, error: messageOf(thrown), stack }, 'a call met a fault')
    return new GatewayError('internal', 'a fault of the gateway itself', { cause: thrown })
  }

  /** Asks a queued call since when it may start. */
  #askWhen(call: LaneCall): void {
    const entry = this.#entries.get(call)
    const { notBefore } = call.task
    if (!entry || !notBefore || !this.#queue.isWaiting(entry)) return
    const fault = this.#ask(call.task, () => {
      entry.notBeforeMs = notBefore()
      return undefined
    })
    if (fault) call.lane.withdraw([call], () => fault)
    else if (entry.notBeforeMs > this.#clock.now()) this.#holdUntilReady(entry)
    else if (this.#unready.delete(entry)) {
      this.#queue.setReady(entry, true)
      this.#changed.add(entry)
    }
  }

  #holdUntilReady(entry: Entry): void {
    this.#readiness.at(entry.notBeforeMs)
    if (this.#unready.has(entry)) return
    this.#unready.add(entry)
    this.#queue.setReady(entry, false)
    this.#free(freedByUnready(this.#queue, entry))
  }

  #wakeReady(): void {
    this.#change(() => {
      const now = this.#clock.now()
      for (const entry of [...this.#unready]) {
        if (entry.notBeforeMs <= now) this.#askWhen(entry.call)
        else this.#readiness.at(entry.notBeforeMs)
      }
    })
  }

  #raiseAged(): void {
    this.#change(() => {
      for (const entry of this.#ageing) {
        // The very sum that the alarm was set to: a difference of fractions may fall short of it, for ever.
        if (this.#clock.now() < entry.queuedAtMs + AGEING_MS) break
        const rank = agedRank(entry.rank, AGEING_MS)
        this.#ageing.delete(entry)
        this.#queue.raise(entry, rank)
        if (entry.isReady) this.#changed.add(entry)
        else this.#free(freedByUnready(this.#queue, entry))
      }
    })
  }

  /** An idle scheduler leaves no timer behind. */
  #setAlarms(): void {
    if (this.#unready.size === 0) this.#readiness.clear()
    const [oldest] = this.#ageing
    if (oldest) this.#age.at(oldest.queuedAtMs + AGEING_MS)
    else this.#age.clear()
  }

  /** What the question throws is a fault of the gateway, and the end of this one call only. */
  #ask(task: Task, question: () => GatewayError | undefined): GatewayError | undefined {
    try {
      return question()
    } catch (thrown) {
      return this.#errorOf(thrown, task)
    }
  }
}

function shuttingDown(): GatewayError {
  return new GatewayError('stopped', 'the gateway is shutting down')
}
