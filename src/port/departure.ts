/**
 * Whether a request that was handed to the operating system has really left. Behind flow control, or an adapter that
 * hangs, it may stay there for seconds and reach the device long after its caller was told `timeout`. So where no reply
 * came soon, the system is asked; the line is not used for another request before this one is out, and one that stays is
 * dropped. A reply proves that its request was out, so a device that answers quickly is never asked about.
 */
import type { Clock, Timer } from '../clock.ts'
import type { Connection } from './connection.ts'

/** So long after its time a request is asked about, and one that leaves later than that was held up. */
const HELD_UP_MS = 50
/** How long a request may be under way after it was asked about; then what is left of it is dropped. */
const PATIENCE_MS = 1_000

export interface DepartureParts {
  readonly clock: Clock
  /** A request that ended without a reply is out, dropped, or lost with its port. */
  readonly onOver: (departure: Departure) => void
}

export class Departure {
  readonly #parts: DepartureParts
  readonly #connection: Connection
  #outAt: number
  readonly #ask: Timer
  #patience: Timer | undefined
  #askedAt: number | undefined
  #isOver = false
  /** The request has ended without a reply, and its line waits for it to be out. */
  #isAwaited = false

  /** Of a request whose last byte should be out at `lastByteAt`. */
  constructor(connection: Connection, lastByteAt: number, parts: DepartureParts) {
    this.#parts = parts
    this.#connection = connection
    this.#outAt = lastByteAt
    const { clock } = parts
    this.#ask = clock.after(lastByteAt + HELD_UP_MS - clock.now(), () => this.#askNow())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** When the last byte was out, as far as it is known. */
  get outAt(): number {
    return this.#outAt
  }

  /** A reply has come, or the opening is over. */
  end(): void {
    if (this.#isOver) return
    const askedAt = this.#askedAt ?? Number.POSITIVE_INFINITY
    const now = this.#parts.clock.now()
    if (now > askedAt + HELD_UP_MS) this.#outAt = now
    this.#isOver = true
    this.#ask.cancel()
    this.#patience?.cancel()
    if (this.#isAwaited) this.#parts.onOver(this)
  }

  /** The request ended without a reply. */
  settle(): void {
    this.#isAwaited = true
    if (!this.#isOver && !this.#patience) this.#askNow()
  }

  #askNow(): void {
    const { clock } = this.#parts
    this.#ask.cancel()
    const askedAt = Math.max(clock.now(), this.#outAt)
    this.#askedAt = askedAt
    const over = () => this.end()
    this.#patience = clock.after(askedAt - clock.now() + PATIENCE_MS, () => {
      void this.#connection.flush().then(over)
    })
    this.#connection.drain().then(over, over)
  }
}
