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

export class DeviceState {
  readonly #clock: Clock
  readonly #readings: Readonly<Record<string, ReadingSpec>>
  readonly #measured = new Map<string, Measured>()
  #misses = 0
  #asked = false
  #reason: string | null = null
  #sinceWallMs: number

  constructor(clock: Clock, readings: Readonly<Record<string, ReadingSpec>>) {
    this.#clock = clock
    this.#readings = readings
    this.#sinceWallMs = clock.wall()
  }

  get availability(): Availability {
    if (!this.#asked) return 'unknown'
    if (this.#misses === 0) return 'online'
    return this.#misses < OFFLINE_AFTER_MISSES ? 'degraded' : 'offline'
  }

  get reason(): string | null {
    return this.#reason
  }

  get since(): string {
    return isoTime(this.#sinceWallMs)
  }

  /** Timeouts in a row. */
  get misses(): number {
    return this.#misses
  }

  /** The device answered; fields that are readings become its values. */
  answered(fields: Readonly<Record<string, unknown>>): void {
    this.#become(true, 0, null)
    const atMs = this.#clock.now()
    const atWallMs = this.#clock.wall()
    for (const [field, value] of Object.entries(fields)) {
      if (!Object.hasOwn(this.#readings, field)) continue
      if (value === null || value === undefined) continue
      this.#measured.set(field, { value, atMs, atWallMs })
    }
  }

  missed(reason: string): void {
    this.#become(true, this.#misses + 1, reason)
  }

  /** The values with their age; `staleAfterMs` is the age from which they are called stale. */
  readings(staleAfterMs: number): Record<string, ReadingStatus> {
    const now = this.#clock.now()
    const offline = this.availability === 'offline'
    const shown: Record<string, ReadingStatus> = {}
    for (const [field, { value, atMs, atWallMs }] of this.#measured) {
      const ageMs = Math.round(now - atMs)
      const unit = this.#readings[field]?.unit ?? null
      shown[field] = {
        value,
        unit,
        measuredAt: isoTime(atWallMs),
        ageMs,
        stale: offline || ageMs > staleAfterMs,
      }
    }
    return shown
  }

  #become(asked: boolean, misses: number, reason: string | null): void {
    const before = this.availability
    this.#asked = asked
    this.#misses = misses
    this.#reason = reason
    if (this.availability !== before) this.#sinceWallMs = this.#clock.wall()
  }
}
