/** A clock that a test moves by hand. Timers due at the same time fire in the order in which they were set. */
import type { Clock, Timer } from '../src/clock.ts'

interface Entry {
  readonly at: number
  readonly sequence: number
  readonly callback: () => void
}

export class VirtualClock implements Clock {
  #now = 0
  #sequence = 0
  #seed: number
  readonly #entries = new Map<number, Entry>()
  readonly #wallStart: number

  constructor(options: { seed?: number; wallStart?: number } = {}) {
    this.#seed = options.seed ?? 1
    this.#wallStart = options.wallStart ?? Date.UTC(2026, 0, 1)
  }

  now(): number {
    return this.#now
  }

  wall(): number {
    return this.#wallStart + this.#now
  }

  after(delayMs: number, callback: () => void): Timer {
    const sequence = this.#sequence++
    this.#entries.set(sequence, { at: this.#now + Math.max(0, delayMs), sequence, callback })
    return { cancel: () => this.#entries.delete(sequence) }
  }

  /** mulberry32. */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0
    let t = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.random() * 256))
  }

  /** Timers that are set: an idle object must leave none. */
  get pending(): number {
    return this.#entries.size
  }

  /** Moves time by `ms`, firing what falls due, and lets promises and nextTicks settle in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    await settle()
    for (;;) {
      const next = this.#next()
      if (!next || next.at > until) break
      this.#now = Math.max(this.#now, next.at)
      this.#entries.delete(next.sequence)
      next.callback()
      await settle()
    }
    this.#now = until
    await settle()
  }

  #next(): Entry | undefined {
    let first: Entry | undefined
    for (const entry of this.#entries.values()) {
      if (!first || entry.at < first.at || (entry.at === first.at && entry.sequence < first.sequence)) {
        first = entry
      }
    }
    return first
  }
}

const immediate = setImmediate

/** Drains nextTicks and microtasks: one turn of the real event loop. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    immediate(resolve)
  })
}
