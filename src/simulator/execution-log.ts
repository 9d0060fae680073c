/**
 * What the simulated devices really did. Tests compare the gateway's word with this and with nothing else, so
 * entries are only ever added, in the order in which things happened.
 */
export interface Execution {
  /** Milliseconds since the simulation began. */
  readonly at: number
  /** The device's id. */
  readonly device: string
  readonly command: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** Enough for any test; a demo that runs for years keeps the last ones. */
const EXECUTIONS_MAX_DEFAULT = 100_000

export class ExecutionLog {
  readonly #executionsMax: number
  readonly #executions: Execution[] = []
  #forgotten = 0

  constructor(options: { readonly executionsMax?: number } = {}) {
    this.#executionsMax = options.executionsMax ?? EXECUTIONS_MAX_DEFAULT
  }

  /** Oldest first. */
  get executions(): readonly Execution[] {
    return this.#executions
  }

  /** How many of the oldest are no longer kept: a test that finds any here has not seen everything. */
  get forgotten(): number {
    return this.#forgotten
  }

  append(execution: Execution): void {
    this.#executions.push(execution)
    if (this.#executions.length < this.#executionsMax * 2) return
    // Half at a time, so that a full log costs nothing per entry.
    const count = this.#executions.length - this.#executionsMax
    this.#executions.splice(0, count)
    this.#forgotten += count
  }

  /** What one device did, oldest first. */
  of(device: string): readonly Execution[] {
    return this.#executions.filter((execution) => execution.device === device)
  }
}
