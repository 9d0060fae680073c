/**
 * Asks a device for its values at its own pace. A poll is a call like any other, of the lowest rank; at most one
 * waits, and a due one whose predecessor still waits is skipped and counted. A device that does not answer is
 * asked less and less often.
 */
import type { Clock, Timer } from '../clock.ts'

/** At least this long between two polls after three misses in a row and more: a dead unit must not slow its bus. */
const BACK_OFF_MS = [500, 1_000, 2_000, 4_000, 8_000, 10_000, 20_000, 40_000, 60_000] as const
const BACK_OFF_FROM_MISSES = 3
/** Polls of many devices do not all start in one moment. */
const FIRST_POLL_SPREAD_MS = 250

export interface PollerParts {
  readonly clock: Clock
  readonly everyMs: number
  /** Settles when the poll's call is settled; never rejects. */
  readonly poll: () => Promise<void>
  /** Misses in a row. */
  readonly misses: () => number
}

export class Poller {
  readonly #parts: PollerParts
  /** Undefined: stopped. */
  #timer: Timer | undefined
  #dueAt = 0
  #waiting = false
  #skipped = 0

  constructor(parts: PollerParts) {
    this.#parts = parts
  }

  /** Polls that were due while their predecessor still waited. */
  get skipped(): number {
    return this.#skipped
  }

  start(): void {
    if (this.#timer) return
    this.#schedule(this.#parts.clock.random() * FIRST_POLL_SPREAD_MS)
  }

  /** No poll starts any more. One that waits is not recalled. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #schedule(delayMs: number): void {
    const { clock } = this.#parts
    this.#timer?.cancel()
    this.#dueAt = clock.now() + delayMs
    this.#timer = clock.after(delayMs, () => this.#due())
  }

  #due(): void {
    const { everyMs, poll } = this.#parts
    this.#schedule(everyMs)
    if (this.#waiting) {
      this.#skipped += 1
      return
    }
    this.#waiting = true
    void poll().then(() => {
      this.#waiting = false
      this.#backOff()
    })
  }

  /** Counted from the end of a poll: only then is it known whether the device has missed again. */
  #backOff(): void {
    const { clock, misses } = this.#parts
    const beyond = misses() - BACK_OFF_FROM_MISSES
    if (!this.#timer || beyond < 0) return
    const backOffMs = BACK_OFF_MS[Math.min(beyond, BACK_OFF_MS.length - 1)] ?? 0
    if (clock.now() + backOffMs > this.#dueAt) this.#schedule(backOffMs)
  }
}
