/**
 * The resource mutex of one physical line. A run holds it from before its first byte to after its last reply,
 * whatever the tool declares; order, rank, bounds and cancelling belong to the scheduler. Only `runExclusive` is
 * used: a releaser that is called twice, or by somebody else, would break the exclusion for ever.
 */
import { Mutex } from 'async-mutex'

export class PortMutex {
  readonly #mutex = new Mutex()

  get held(): boolean {
    return this.#mutex.isLocked()
  }

  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(work)
  }
}
