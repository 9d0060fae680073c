/**
 * Server-sent events (WHATWG HTML, section 9.2). A message stays an object, which all clients share, until its client
 * takes it: what a slow client costs is bounded, and a client that does not read at all is cut off, for it can come
 * back and say where it left off.
 */
import { Readable } from 'node:stream'
import type { Clock, Timer } from '../../clock.ts'
import { EVENTS_KEPT, SUBSCRIBERS_MAX, TRACE_ENTRIES } from '../../limits.ts'
import { Problem } from './problem.ts'

export interface StreamMessage {
  /** Left out: the client keeps the id that it has. */
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

/** A client may be behind by all that is kept for one that returns, and by as much again. */
export const MESSAGES_WAITING_MAX = 2 * Math.max(EVENTS_KEPT, TRACE_ENTRIES)
/** Proxies end a connection on which nothing comes. */
export const HEARTBEAT_MS = 15_000
const RECONNECT_AFTER_MS = 2_000
/** Consumed messages are dropped from the queue in pieces, so that no message costs a copy of the rest. */
const QUEUE_PIECE = 1_024

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // The connection ends with the stream.
  connection: 'close',
  // nginx would collect the events.
  'x-accel-buffering': 'no',
}

/** The open streams of one server. */
export class EventStreams {
  readonly #clock: Clock
  readonly #open = new Set<EventStream>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get count(): number {
    return this.#open.size
  }

  /** Throws a Problem when there are as many as there may be. */
  checkRoom(): void {
    if (this.#open.size >= SUBSCRIBERS_MAX) throw tooManyStreams()
  }

  /** `onEnd` is called once, however the stream ends. */
  begin(onEnd: () => void): EventStream {
    const stream = new EventStream(this.#clock, () => {
      this.#open.delete(stream)
      onEnd()
    })
    this.#open.add(stream)
    return stream
  }

  /** Every client gets what waits for it, and then the end. */
  end(): void {
    for (const stream of this.#open) stream.end()
  }
}

export function tooManyStreams(): Problem {
  return new Problem('too-many-streams', 'Too many clients are listening; try again later.', {
    headers: { 'retry-after': '30' },
  })
}

export class EventStream {
  /** The body of the response. */
  readonly body: Readable
  readonly #clock: Clock
  readonly #waiting: StreamMessage[] = []
  /** How many at the front of `#waiting` are gone. */
  #taken = 0
  #isWanted = false
  #isEnding = false
  #heartbeat: Timer

  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock
    this.body = new Readable({
      read: () => {
        this.#isWanted = true
        this.#give()
      },
      destroy: (error, done) => {
        this.#isEnding = true
        this.#heartbeat.cancel()
        onEnd()
        done(error)
      },
    })
    this.body.push(`retry: ${RECONNECT_AFTER_MS}\n\n`)
    this.#heartbeat = this.#nextHeartbeat()
  }

  send(message: StreamMessage): void {
    if (this.#isEnding) return
    this.#waiting.push(message)
    if (this.#waiting.length - this.#taken > MESSAGES_WAITING_MAX) this.body.destroy()
    else if (this.#isWanted) this.#give()
  }

  /** Idempotent. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#heartbeat.cancel()
    this.#give()
  }

  #give(): void {
    while (this.#isWanted) {
      const message = this.#take()
      if (!message) break
      this.#isWanted = this.body.push(textOf(message))
    }
    if (this.#isEnding && this.#waiting.length === 0) this.body.push(null)
  }

  #take(): StreamMessage | undefined {
    const message = this.#waiting[this.#taken]
    if (!message) return undefined
    this.#taken += 1
    if (this.#taken === this.#waiting.length) {
      this.#waiting.length = 0
      this.#taken = 0
    } else if (this.#taken === QUEUE_PIECE) {
      this.#waiting.splice(0, QUEUE_PIECE)
      this.#taken = 0
    }
    return message
  }

  #nextHeartbeat(): Timer {
    return this.#clock.after(HEARTBEAT_MS, () => {
      // To a client that is behind anyway it would say nothing.
      if (this.#isWanted) this.#isWanted = this.body.push(':\n\n')
      this.#heartbeat = this.#nextHeartbeat()
    })
  }
}

function textOf({ id, event, data }: StreamMessage): string {
  // JSON has no line end outside of its strings, and escapes those inside: the data is one line.
  const place = id === undefined ? '' : `id: ${id}\n`
  return `${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
