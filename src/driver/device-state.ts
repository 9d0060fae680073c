/** What is known of a device: its last values, and whether it answers. The last value stays, with its age. */
import { type Clock, isoTime } from '../clock.ts'
import type { Availability, ReadingStatus } from './device-status.ts'
import type { ReadingSpec } from './device-type.ts'

/** Timeouts in a row, without a byte from the device, after which it counts as offline. */
const OFFLINE_AFTER_MISSES = 3

interface Measured {
  readonly value: unknown
  readonly atMs: number
  readonly atWallMs: number
}

/** What is told when it happens. */
export interface StateListener {
  readonly onReading?: (reading: {
    readonly field: string
    readonly value: unknown
    readonly unit: string | null
    readonly measuredAt: string
  }) => void
  readonly onAvailability?: () => void
}

export class DeviceState {
  readonly #clock: Clock
  readonly #readings: Readonly<Record<string, ReadingSpec>>
  readonly #measured = new Map<string, Measured>()
  #misses = 0
  #asked = false
  /** Why the last question has no answer; null: it has one. */
  #reason: string | null = null
  #heardAt = Number.NEGATIVE_INFINITY
  #sinceWallMs: number

  readonly #listener: StateListener

  constructor(clock: Clock, readings: Readonly<Record<string, ReadingSpec>>, listener: StateListener = {}) {
    this.#clock = clock
    this.#readings = readings
    this.#listener = listener
    this.#sinceWallMs = clock.wall()
  }

  get availability(): Availability {
    if (!this.#asked) return 'unknown'
    if (this.#misses >= OFFLINE_AFTER_MISSES) return 'offline'
    return this.#reason === null ? 'online' : 'degraded'
  }

  get reason(): string | null {
    return this.#reason
  }

  get since(): string {
    return isoTime(this.#sinceWallMs)
  }

  /** Timeouts in a row without a byte from the device. */
  get misses(): number {
    return this.#misses
  }

  /** Clock time of the last frame that was certainly the device's. */
  get heardAt(): number {
    return this.#heardAt
  }

  /** A frame of the device came, be it late or an event: it is there, whether it answers or not. */
  heard(): void {
    this.#heardAt = this.#clock.now()
    this.#become(this.#asked, 0, this.#reason)
  }

  /** The device answered, be it with a refusal. */
  answered(): void {
    this.#become(true, 0, null)
  }

  /** No byte of the device came. */
  missed(reason: string): void {
    this.#become(true, this.#misses + 1, reason)
  }

  /** Something came, and it was no answer. */
  garbled(reason: string): void {
    this.#become(true, 0, reason)
  }

  /** Fields that are readings become the device's values; null is no value, and the last one stays. */
  measured(fields: Readonly<Record<string, unknown>>): void {
    const atMs = this.#clock.now()
    const atWallMs = this.#clock.wall()
    for (const [field, value] of Object.entries(fields)) {
      if (!Object.hasOwn(this.#readings, field)) continue
      if (value === null || value === undefined) continue
      this.#measured.set(field, { value, atMs, atWallMs })
      const unit = this.#readings[field]?.unit ?? null
      this.#listener.onReading?.({ field, value, unit, measuredAt: isoTime(atWallMs) })
    }
  }

  /** As `measured`; but what a device pushes is the whole truth: a field that is null has no value any more. */
  pushed(fields: Readonly<Record<string, unknown>>): void {
    for (const [field, value] of Object.entries(fields)) if (value === null) this.#measured.delete(field)
    this.measured(fields)
  }

  /** The values with their age. All of an offline device are stale, others from `staleAfterMs` on. */
  readings(staleAfterMs: number, isOffline: boolean): Record<string, ReadingStatus> {
    const now = this.#clock.now()
    const shown: Record<string, ReadingStatus> = {}
    for (const [field, { value, atMs, atWallMs }] of this.#measured) {
      const ageMs = Math.round(now - atMs)
      const unit = this.#readings[field]?.unit ?? null
      shown[field] = {
        value,
        unit,
        measuredAt: isoTime(atWallMs),
        ageMs,
        stale: isOffline || ageMs > staleAfterMs,
      }
    }
    return shown
  }

  #become(asked: boolean, misses: number, reason: string | null): void {
    const before = this.availability
    this.#asked = asked
    this.#misses = misses
    this.#reason = reason
    if (this.availability === before) return
    this.#sinceWallMs = this.#clock.wall()
    this.#listener.onAvailability?.()
  }
}
