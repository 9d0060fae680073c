/** One timer that goes off at the earliest of the times asked for, so that an owner of many times needs one timer. */
import type { Clock, Timer } from '../clock.ts'

export class Alarm {
  readonly #clock: Clock
  readonly #callback: () => void
  #timer: Timer | undefined
  #atMs = Number.POSITIVE_INFINITY

  /** A host's timer may fire a little early: the callback looks at the clock and asks again for what is not due. */
  constructor(clock: Clock, callback: () => void) {
    this.#clock = clock
    this.#callback = callback
  }

  /** Infinity asks for nothing. */
  at(timeMs: number): void {
    if (!(timeMs < this.#atMs)) return
    this.#timer?.cancel()
    this.#atMs = timeMs
    this.#timer = this.#clock.after(timeMs - this.#clock.now(), () => {
      this.clear()
      this.#callback()
    })
  }

  clear(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#atMs = Number.POSITIVE_INFINITY
  }
}
