/**
 * The time of a simulated run. It moves from one event to the next, and after each event everything that the event
 * set off is finished first: promises, nextTicks, streams. Events of one moment come in an order that the seed draws.
 *
 * World and gateway have a view each. The gateway's can stand still, as an event loop does: then its timers come late,
 * in their order, and before anything that arrived meanwhile. Its wall clock can jump. A view that was killed never
 * calls back again: that is what a crash leaves of a process.
 */
import type { Clock, Timer } from '../../src/clock.ts'
import type { Prng } from './prng.ts'

interface Entry {
  runAt: number
  readonly dueAt: number
  readonly tieBreak: number
  readonly sequence: number
  readonly view: View
  /** Undefined: cancelled. */
  callback: (() => void) | undefined
}

/** A clock of somebody's own. */
export interface View extends Clock {
  readonly name: string
  /** Timers that are set and neither over nor cancelled. */
  readonly pending: number
  /** From now on nothing of it calls back. */
  kill(): void
  jumpWall(byMs: number): void
}

const WALL_START_MS = Date.UTC(2026, 0, 1)
/** The callbacks of the host's input, which come after its timers. */
const AFTER_TIMERS = Number.POSITIVE_INFINITY

export class SimulatedClock {
  readonly #random: Prng
  readonly #heap: Entry[] = []
  #now = 0
  #sequence = 0
  #stalledUntil = 0
  #events = 0

  constructor(random: Prng) {
    this.#random = random
  }

  get now(): number {
    return this.#now
  }

  /** Callbacks so far. */
  get events(): number {
    return this.#events
  }

  view(name: string): View {
    const random = this.#random.fork(`view:${name}`)
    const now = () => this.#now
    let pending = 0
    let wallOffsetMs = 0
    let isDead = false
    const view: View = {
      name,
      now,
      wall: () => WALL_START_MS + this.#now + wallOffsetMs,
      after: (delayMs, callback) => {
        if (isDead) return { cancel: () => {} }
        pending += 1
        const fire = () => {
          if (!isDead) callback()
        }
        return this.#schedule(view, this.#now + Math.max(0, delayMs), fire, () => {
          pending -= 1
        })
      },
      random: () => random.next(),
      randomBytes: (length) => Uint8Array.from({ length }, () => random.integer(0, 255)),
      get pending() {
        return pending
      },
      kill: () => {
        isDead = true
      },
      jumpWall: (byMs) => {
        wallOffsetMs += byMs
      },
    }
    return view
  }

  /** The event loop of the gateway does nothing for so long; the world goes on. */
  stall(durationMs: number): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, this.#now + durationMs)
  }

  /** When the event loop turns again, or did after it had stood still the last time. */
  get stalledUntil(): number {
    return this.#stalledUntil
  }

  get isStalled(): boolean {
    return this.#now < this.#stalledUntil
  }

  /** Resolves when the event loop turns, after the timers that are due. */
  input(view: View): Promise<void> {
    if (!this.isStalled) return Promise.resolve()
    return new Promise((resolve) => {
      this.#push({
        runAt: this.#stalledUntil,
        dueAt: AFTER_TIMERS,
        tieBreak: 0,
        sequence: this.#sequence++,
        view,
        callback: resolve,
      })
    })
  }

  /** Lets everything happen up to that time, one event after the other. Stops early when `isOver` says so. */
  async run(until: number, isOver: () => boolean = () => false): Promise<void> {
    await settle()
    await eachSettled(() => {
      if (isOver()) return false
      const next = this.#heap[0]
      if (!next || next.runAt > until) return false
      this.#step(next)
      return true
    })
    if (!isOver()) this.#now = Math.max(this.#now, until)
  }

  #step(next: Entry): void {
    this.#pop()
    const { callback, view } = next
    if (!callback) return
    if (view.name !== WORLD && next.runAt < this.#stalledUntil) {
      next.runAt = this.#stalledUntil
      this.#push(next)
      return
    }
    this.#now = Math.max(this.#now, next.runAt)
    this.#events += 1
    try {
      callback()
    } catch (error) {
      // As an error in a timer's callback does, it comes to whoever listens for what nobody caught.
      process.emit('uncaughtException', error instanceof Error ? error : new Error(String(error)))
    }
  }

  #schedule(view: View, dueAt: number, callback: () => void, onDone: () => void): Timer {
    const entry: Entry = {
      runAt: dueAt,
      dueAt,
      tieBreak: this.#random.next(),
      sequence: this.#sequence++,
      view,
      callback: () => {
        entry.callback = undefined
        onDone()
        callback()
      },
    }
    this.#push(entry)
    return {
      cancel: () => {
        if (!entry.callback) return
        entry.callback = undefined
        onDone()
      },
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(entry, heap[parent])) break
      heap[index] = heap[parent] ?? entry
      index = parent
    }
    heap[index] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      if (left >= heap.length) break
      const right = left + 1
      const rightEntry = heap[right]
      const child = rightEntry && isBefore(rightEntry, heap[left]) ? right : left
      const smaller = heap[child]
      if (!smaller || !isBefore(smaller, last)) break
      heap[index] = smaller
      index = child
    }
    heap[index] = last
  }
}

/** The view that an event loop's stall does not touch. */
export const WORLD = 'world'

function isBefore(one: Entry, other: Entry | undefined): boolean {
  if (!other) return false
  if (one.runAt !== other.runAt) return one.runAt < other.runAt
  if (one.dueAt !== other.dueAt) return one.dueAt < other.dueAt
  if (one.tieBreak !== other.tieBreak) return one.tieBreak < other.tieBreak
  return one.sequence < other.sequence
}

const immediate = setImmediate
/** Steps of one turn of the host's event loop; a turn costs as much as a step does. */
const STEPS_PER_TURN = 64

/**
 * Takes one step after the other until one says that it was the last. Between two of them all promises and nextTicks are
 * done: Node runs them after each callback of a turn's immediates.
 */
function eachSettled(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const turn = () => {
      for (let count = 1; count < STEPS_PER_TURN; count += 1) immediate(takeOne)
      immediate(() => {
        takeOne()
        if (!isOver) turn()
      })
    }
    const takeOne = () => {
      if (isOver) return
      try {
        isOver = !step()
      } catch (error) {
        isOver = true
        reject(error)
      }
      if (isOver) resolve()
    }
    turn()
  })
}

function settle(): Promise<void> {
  return new Promise((resolve) => {
    immediate(resolve)
  })
}
