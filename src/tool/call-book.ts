/**
 * The batches under way, and for a while those that ended and that somebody may still ask for. A caller sees its own;
 * an admin sees all.
 */
import type { Clock } from '../clock.ts'
import { FINISHED_KEPT_MAX, FINISHED_KEPT_MS } from '../limits.ts'
import type { Principal } from './home.ts'
import type { BatchStatus } from './shapes.ts'

export interface Underway {
  readonly id: string
  readonly principal: Principal
  readonly callIds: readonly string[]
  /** May be asked for after its end. */
  readonly keep: boolean
  status(): BatchStatus
  /** One call, or all that have not started. */
  cancel(callId?: string): void
}

interface Entry {
  readonly batch: Underway
}

export class CallBook {
  readonly #clock: Clock
  readonly #batches = new Map<string, Entry>()
  /** The latest batch of each call id under way. */
  readonly #calls = new Map<string, Entry>()
  /** Those that ended and are kept, in the order of their end, with its time. */
  readonly #ended = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(batch: Underway): void {
    const entry: Entry = { batch }
    this.#batches.set(batch.id, entry)
    for (const id of batch.callIds) this.#calls.set(id, entry)
  }

  end(id: string): void {
    const entry = this.#batches.get(id)
    if (!entry) return
    for (const callId of entry.batch.callIds) {
      if (this.#calls.get(callId) === entry) this.#calls.delete(callId)
    }
    if (entry.batch.keep) this.#ended.set(id, this.#clock.now())
    else this.#batches.delete(id)
    this.#forget()
  }

  batch(id: string, principal: Principal): Underway | undefined {
    this.#forget()
    return visible(this.#batches.get(id), principal)
  }

  /** The batch that the call under way belongs to. */
  ofCall(id: string, principal: Principal): Underway | undefined {
    return visible(this.#calls.get(id), principal)
  }

  /** Drops the kept ones that are too old or too many, oldest first. */
  #forget(): void {
    const now = this.#clock.now()
    for (const [id, endedAt] of this.#ended) {
      if (this.#ended.size <= FINISHED_KEPT_MAX && now - endedAt < FINISHED_KEPT_MS) return
      this.#ended.delete(id)
      this.#batches.delete(id)
    }
  }
}

function visible(entry: Entry | undefined, principal: Principal): Underway | undefined {
  if (!entry) return undefined
  const { batch } = entry
  return principal.role === 'admin' || principal.id === batch.principal.id ? batch : undefined
}
