/**
 * What happens in the gateway, as one numbered stream that a client may take up again where it left off. The last
 * events are kept; a client that was away for longer is told that it has missed some.
 */
import { type Clock, newId } from '../clock.ts'
import { EVENTS_KEPT, SUBSCRIBERS_MAX } from '../limits.ts'

export type FeedEventType = 'reading' | 'event' | 'call' | 'device' | 'port'

export interface FeedEvent {
  /** `<run of the gateway>-<number>`: to be sent back as `Last-Event-ID`. */
  readonly id: string
  readonly type: FeedEventType
  readonly data: unknown
}

export type FeedListener = (event: FeedEvent) => void

export interface Subscription {
  /** Events between the given id and the first one that is sent are gone. */
  readonly missed: boolean
  unsubscribe(): void
}

export class EventFeed {
  /** Ids of an earlier run of the gateway are not taken for those of this one. */
  readonly #run: string
  readonly #kept: FeedEvent[] = []
  readonly #listeners = new Set<FeedListener>()
  #count = 0

  constructor(clock: Clock) {
    this.#run = newId(clock, 'e')
  }

  publish(type: FeedEventType, data: unknown): void {
    const event: FeedEvent = { id: `${this.#run}-${this.#count}`, type, data }
    this.#kept[this.#count % EVENTS_KEPT] = event
    this.#count += 1
    for (const listener of [...this.#listeners]) listener(event)
  }

  /** First what came after `lastEventId`, then whatever comes. Undefined: there are too many listeners already. */
  subscribe(lastEventId: string | undefined, listener: FeedListener): Subscription | undefined {
    if (this.#listeners.size >= SUBSCRIBERS_MAX) return undefined
    const oldest = Math.max(0, this.#count - EVENTS_KEPT)
    const wanted = lastEventId === undefined ? this.#count : this.#numberAfter(lastEventId)
    const missed = wanted === undefined || wanted < oldest
    for (let number = Math.max(oldest, wanted ?? oldest); number < this.#count; number += 1) {
      const event = this.#kept[number % EVENTS_KEPT]
      if (event) listener(event)
    }
    this.#listeners.add(listener)
    return { missed, unsubscribe: () => this.#listeners.delete(listener) }
  }

  /** Whether anybody listens: what is costly to make is made only then. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  #numberAfter(id: string): number | undefined {
    const [, run, number] = /^(.+)-([0-9]{1,15})$/.exec(id) ?? []
    if (run !== this.#run || number === undefined) return undefined
    return Math.min(Number(number) + 1, this.#count)
  }
}
