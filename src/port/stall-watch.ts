/**
 * Whether the event loop stood still. After a stall its timers come before what arrived meanwhile: until that was read,
 * nothing may be timed out, forgotten or sent, or a reply that came in time becomes the value of the next request.
 */
import type { Clock, Timer } from '../clock.ts'

const BEAT_MS = 50
/** A beat that is so late says that the loop stood still. */
const STALL_MS = 50
/** What came during a stall is read within this time after it. */
const READ_OUT_MS = 50

export interface StallWatchParts {
  readonly clock: Clock
  /** Something is expected on the line: only then is it watched. */
  readonly isNeeded: () => boolean
  readonly onStall: (unreadUntil: number) => void
}

export class StallWatch {
  readonly #parts: StallWatchParts
  #beat: Timer | undefined
  #lastBeatAt = 0
  #unreadUntil = 0

  constructor(parts: StallWatchParts) {
    this.#parts = parts
  }

  /** From now on, as long as it is needed. */
  start(): void {
    if (this.#beat) return
    const { clock, isNeeded } = this.#parts
    const beat = () => {
      this.unreadUntil()
      this.#lastBeatAt = clock.now()
      this.#beat = isNeeded() ? clock.after(BEAT_MS, beat) : undefined
    }
    this.#lastBeatAt = clock.now()
    this.#beat = clock.after(BEAT_MS, beat)
  }

  stop(): void {
    this.#beat?.cancel()
    this.#beat = undefined
  }

  /** Clock time until which bytes that have come may still be unread; past: none are. */
  unreadUntil(): number {
    const { clock, onStall } = this.#parts
    const now = clock.now()
    if (this.#beat && now - this.#lastBeatAt > BEAT_MS + STALL_MS) {
      this.#lastBeatAt = now
      this.#unreadUntil = now + READ_OUT_MS
      onStall(this.#unreadUntil)
    }
    return this.#unreadUntil
  }
}
