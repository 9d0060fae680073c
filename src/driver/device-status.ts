/** What is shown of a device. Port up, device answering and age of a value are three separate facts. */

export type Availability = 'online' | 'degraded' | 'offline' | 'wrong_device' | 'unknown'

export interface ReadingStatus {
  readonly value: unknown
  readonly unit: string | null
  /** ISO 8601. */
  readonly measuredAt: string
  readonly ageMs: number
  /** Older than three times the polling interval, or the device is offline. */
  readonly stale: boolean
}

export interface DeviceStatus {
  readonly id: string
  readonly name: string
  readonly area: string | null
  readonly type: string
  readonly port: string
  readonly availability: Availability
  readonly reason: string | null
  /** ISO 8601: since when the availability is what it is. */
  readonly since: string
  readonly readings: Readonly<Record<string, ReadingStatus>>
}
