/**
 * One direction of a wire. What is sent takes its time, and is handed over in chunks, each at the moment when its
 * last byte is over; there is one timer, for whatever comes next, and none for a byte. Times are those of the line:
 * a callback that the host calls late delays what it hands over, and nothing after it.
 * Invariant: the bytes of one talker arrive in the order in which they were sent, one at a time.
 */
import type { Clock, Timer } from '../clock.ts'
import { assert } from '../errors.ts'
import { arrivedAt, arrivedBy, type Burst, begunBy, collide, endOf, SAME_TIME_MS, slice } from './burst.ts'

export interface Transmission {
  /** Given away: the direction may change them. */
  readonly bytes: Uint8Array
  readonly characterMs: number
  /** Who sends: bytes of one talker queue behind each other, those of two collide. */
  readonly talker: string
  /** The earliest start; default now. It may lie a little back, where a timer was late. */
  readonly startAt?: number
}

interface SentBurst extends Burst {
  readonly talker: string
}

export interface DirectionParts {
  readonly clock: Clock
  /** The most bytes of the next chunk. */
  readonly chunkBytes: () => number
  /**
   * How long the first byte of a chunk may wait for others, as behind a USB adapter; 0: a chunk ends where a
   * transmission ends.
   */
  readonly latencyMs: number
  readonly deliver: (chunk: readonly Burst[]) => void
}

interface RoomWait {
  readonly bytesMax: number
  readonly callback: () => void
}

/** `line`: nothing more is shifted out. `buffer`: nothing more is accepted either. */
export type Standstill = 'line' | 'buffer'

export class WireDirection {
  readonly #parts: DirectionParts
  /** Not handed over yet; sorted by time, without overlaps. */
  #onLine: SentBurst[] = []
  /** Sent while the transmitter stands still. */
  #held: Transmission[] = []
  #standstill: Standstill | undefined
  readonly #freeAt = new Map<string, number>()
  readonly #roomWaits = new Set<RoomWait>()
  #nextChunkBytes: number | undefined
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #collidedBytes = 0

  constructor(parts: DirectionParts) {
    this.#parts = parts
  }

  /** Bytes that met those of another talker and were lost to both. */
  get collidedBytes(): number {
    return this.#collidedBytes
  }

  /** When the first byte began that is not handed over yet; undefined: the line is quiet. */
  get busySince(): number | undefined {
    const head = this.#onLine[0]
    return head && head.startAt <= this.#parts.clock.now() + SAME_TIME_MS ? head.startAt : undefined
  }

  /** Bytes that are not shifted out yet; infinite while the buffer takes nothing. */
  get queuedBytes(): number {
    if (this.#standstill === 'buffer') return Number.POSITIVE_INFINITY
    const now = this.#parts.clock.now()
    let count = 0
    for (const burst of this.#onLine) count += burst.bytes.length - arrivedBy(burst, now)
    for (const { bytes } of this.#held) count += bytes.length
    return count
  }

  send(transmission: Transmission): void {
    assert(transmission.bytes.length > 0, 'a transmission has at least one byte')
    if (this.#standstill) {
      this.#held.push(transmission)
      return
    }
    const { bytes, characterMs, talker } = transmission
    const { clock } = this.#parts
    const earliestAt = transmission.startAt ?? clock.now()
    const startAt = Math.max(earliestAt, this.#freeAt.get(talker) ?? earliestAt)
    const burst = { bytes, characterMs, talker, startAt }
    this.#freeAt.set(talker, endOf(burst))
    const others = this.#onLine.filter((other) => other.talker !== talker)
    const { left, met } = collide(others, burst, () => clock.random())
    this.#collidedBytes += met
    for (const piece of left) this.#insert(piece)
    this.#arm()
  }

  /** Calls back once, as soon as at most `bytesMax` bytes wait to be shifted out; never inline. */
  whenQueuedAtMost(bytesMax: number, callback: () => void): Timer {
    const wait = { bytesMax, callback }
    this.#roomWaits.add(wait)
    this.#arm()
    return {
      cancel: () => {
        this.#roomWaits.delete(wait)
        this.#arm()
      },
    }
  }

  /** The transmitter stops after the byte that it has begun. */
  stall(standstill: Standstill): void {
    this.#run()
    if (!this.#standstill) this.#held = this.#takeUnbegun()
    this.#standstill = standstill
    this.#arm()
  }

  resume(): void {
    if (!this.#standstill) return
    this.#standstill = undefined
    for (const { bytes, characterMs, talker } of this.#held.splice(0)) {
      this.send({ bytes, characterMs, talker })
    }
    this.#arm()
  }

  /** Drops what has not begun. */
  discardUnsent(): void {
    this.#takeUnbegun()
    this.#held = []
    this.#arm()
  }

  /** Drops what has arrived and is not handed over yet: nobody was there, or nobody wants it. */
  discardArrived(): void {
    this.#take(this.#parts.clock.now(), Number.POSITIVE_INFINITY)
    this.#arm()
  }

  /** The wire is cut: what has arrived was there, the rest never comes. */
  cut(): void {
    const arrived = this.#take(this.#parts.clock.now(), Number.POSITIVE_INFINITY)
    this.#onLine = []
    this.#held = []
    this.#freeAt.clear()
    this.#arm()
    if (arrived.length > 0) this.#parts.deliver(arrived)
  }

  #insert(burst: SentBurst): void {
    const before = this.#onLine.findLastIndex((other) => other.startAt <= burst.startAt)
    this.#onLine.splice(before + 1, 0, burst)
  }

  #arm(): void {
    const dueAt = Math.min(this.#chunkDueAt(), this.#roomDueAt())
    if (dueAt === this.#timerAt) return
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerAt = dueAt
    if (dueAt === Number.POSITIVE_INFINITY) return
    const { clock } = this.#parts
    this.#timer = clock.after(dueAt - clock.now(), () => {
      this.#timer = undefined
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#run()
    })
  }

  /** Hands over all that is due. A timer of the host may come early; then there is nothing, and another is set. */
  #run(): void {
    const now = this.#parts.clock.now() + SAME_TIME_MS
    for (let dueAt = this.#chunkDueAt(); dueAt <= now; dueAt = this.#chunkDueAt()) {
      const chunk = this.#take(dueAt, this.#nextChunkBytes ?? 1)
      this.#nextChunkBytes = undefined
      this.#parts.deliver(chunk)
    }
    for (const wait of [...this.#roomWaits]) {
      if (this.#hasRoomAt(wait.bytesMax) > now || !this.#roomWaits.delete(wait)) continue
      wait.callback()
    }
    this.#arm()
  }

  #chunkDueAt(): number {
    const head = this.#onLine[0]
    if (!head) return Number.POSITIVE_INFINITY
    const { chunkBytes, latencyMs } = this.#parts
    this.#nextChunkBytes ??= Math.max(1, chunkBytes())
    const patienceEndsAt = latencyMs > 0 ? arrivedAt(head, 0) + latencyMs : endOf(head)
    return Math.min(patienceEndsAt, this.#arrivalOf(this.#nextChunkBytes))
  }

  /** When the n-th byte from here will have arrived. */
  #arrivalOf(count: number): number {
    let left = count
    for (const burst of this.#onLine) {
      if (left <= burst.bytes.length) return arrivedAt(burst, left - 1)
      left -= burst.bytes.length
    }
    return Number.POSITIVE_INFINITY
  }

  #roomDueAt(): number {
    let dueAt = Number.POSITIVE_INFINITY
    for (const { bytesMax } of this.#roomWaits) dueAt = Math.min(dueAt, this.#hasRoomAt(bytesMax))
    return dueAt
  }

  #hasRoomAt(bytesMax: number): number {
    if (this.#standstill === 'buffer') return Number.POSITIVE_INFINITY
    let left = bytesMax
    for (const { bytes } of this.#held) left -= bytes.length
    if (left < 0) return Number.POSITIVE_INFINITY
    for (const burst of this.#onLine.toReversed()) {
      const { length } = burst.bytes
      if (left < length) return arrivedAt(burst, length - left - 1)
      left -= length
    }
    return this.#parts.clock.now()
  }

  #take(until: number, bytesMax: number): SentBurst[] {
    const taken: SentBurst[] = []
    let room = bytesMax
    for (let head = this.#onLine[0]; head && room > 0; head = this.#onLine[0]) {
      const count = Math.min(arrivedBy(head, until), room)
      if (count === 0) break
      taken.push(slice(head, 0, count))
      room -= count
      if (count === head.bytes.length) this.#onLine.shift()
      else this.#onLine[0] = slice(head, count, head.bytes.length)
    }
    return taken
  }

  #takeUnbegun(): SentBurst[] {
    const now = this.#parts.clock.now()
    const unbegun: SentBurst[] = []
    const begun: SentBurst[] = []
    for (const burst of this.#onLine) {
      const count = begunBy(burst, now)
      if (count > 0) begun.push(slice(burst, 0, count))
      if (count === burst.bytes.length) continue
      const rest = slice(burst, count, burst.bytes.length)
      unbegun.push(rest)
      this.#freeAt.set(burst.talker, Math.min(rest.startAt, this.#freeAt.get(burst.talker) ?? rest.startAt))
    }
    this.#onLine = begun
    return unbegun
  }
}
