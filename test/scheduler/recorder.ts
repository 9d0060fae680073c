/** Tasks that write down when they really ran. What tests assert of order and overlap comes from here. */
import { pause } from '../../src/clock.ts'
import type { GatewayError } from '../../src/errors.ts'
import type { Claim, Declaration } from '../../src/scheduler/declaration.ts'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { Lane, LaneOptions, Task, TaskResult, TaskRun, TaskValue } from '../../src/scheduler/task.ts'
import { VirtualClock } from '../virtual-clock.ts'

export interface Run {
  readonly id: string
  readonly name: string
  readonly startMs: number
  endMs: number
}

export interface TaskParts {
  readonly name?: string
  readonly declaration?: Declaration | undefined
  readonly arguments?: Readonly<Record<string, unknown>>
  /** `bus1` stands for an exclusive claim of `port:bus1` and a place in the queue of that port. */
  readonly ports?: readonly string[]
  readonly claims?: readonly Claim[]
  readonly device?: string
  readonly durationMs?: number
  readonly rejected?: GatewayError
  readonly refusal?: () => GatewayError | undefined
  readonly notBefore?: () => number
  /** What the run ends with, or does when its time is over. */
  readonly value?: TaskValue
  readonly ends?: (run: TaskRun) => TaskValue | Promise<TaskValue>
}

export const SAFE: Declaration = { effect: 'read', parallelSafe: true }
export const SERIAL: Declaration = { effect: 'set', serial: true }
export const UNDECLARED: Declaration = { effect: 'act' }

export function onPort(port: string): Claim {
  return { resource: `port:${port}`, mode: 'exclusive' }
}

export class Recorder {
  readonly clock: VirtualClock
  readonly scheduler: Scheduler
  readonly runs: Run[] = []
  /** Microtasks that a run waits for before and after its work, so that runs interleave in every way. */
  readonly hopsMax: number

  constructor(options: { queueLength?: number; seed?: number; hopsMax?: number } = {}) {
    this.clock = new VirtualClock({ seed: options.seed ?? 1 })
    this.scheduler = new Scheduler({ clock: this.clock, queueLength: options.queueLength ?? 256 })
    this.hopsMax = options.hopsMax ?? 0
  }

  lane(options: Partial<LaneOptions> = {}): Lane {
    return this.scheduler.openLane({
      policy: 'partition',
      rank: 'interactive',
      onError: 'continue',
      ...options,
    })
  }

  task(id: string, parts: TaskParts = {}): Task {
    const { durationMs = 10, ports = [], claims = [], value = { value: id }, ends = () => value } = parts
    const task: Task = {
      id,
      name: parts.name ?? id,
      declaration: 'declaration' in parts ? parts.declaration : SAFE,
      arguments: parts.arguments ?? {},
      claims: [...ports.map(onPort), ...claims],
      ports,
      run: async (run) => {
        const record: Run = {
          id,
          name: task.name,
          startMs: this.clock.now(),
          endMs: Number.POSITIVE_INFINITY,
        }
        this.runs.push(record)
        try {
          await this.#hop()
          if (durationMs > 0) await pause(this.clock, durationMs, run.signal)
          await this.#hop()
          return await ends(run)
        } finally {
          record.endMs = this.clock.now()
        }
      },
    }
    const { device, rejected, refusal, notBefore } = parts
    return {
      ...task,
      ...(device && { device }),
      ...(rejected && { rejected }),
      ...(refusal && { refusal }),
      ...(notBefore && { notBefore }),
    }
  }

  /** Hands the tasks over at once and ends the lane. */
  batch(tasks: readonly Task[], options: Partial<LaneOptions> = {}): Batch {
    const lane = this.lane(options)
    const promises = lane.add(tasks)
    lane.end()
    return { lane, results: Promise.all(promises) }
  }

  /** Ids in the order in which they started. */
  started(): readonly string[] {
    return this.runs.map((run) => run.id)
  }

  run(id: string): Run {
    const run = this.runs.find((each) => each.id === id)
    if (!run) throw new Error(`${id} did not run`)
    return run
  }

  overlap(one: string, other: string): boolean {
    return runsOverlap(this.run(one), this.run(other))
  }

  async #hop(): Promise<void> {
    for (let hops = Math.floor(this.clock.random() * (this.hopsMax + 1)); hops > 0; hops -= 1) {
      await Promise.resolve()
    }
  }
}

export interface Batch {
  readonly lane: Lane
  readonly results: Promise<readonly TaskResult[]>
}

export function runsOverlap(one: Run, other: Run): boolean {
  return one.startMs < other.endMs && other.startMs < one.endMs
}

/** `ok` or the error's code, by id. */
export function codes(results: readonly TaskResult[]): Readonly<Record<string, string>> {
  return Object.fromEntries(results.map(({ id, error }) => [id, error?.code ?? 'ok']))
}
