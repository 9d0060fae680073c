/** What the clients saw and what the devices did, in the terms of both. */

/** Milliseconds of CLOCK_MONOTONIC: the clock of the devices' logs too. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export type Wanted =
  | { readonly kind: 'read' }
  /** A value that is set once only in the whole run. */
  | { readonly kind: 'set'; readonly value: number }
  /** A nonce that is used once only in the whole run. */
  | { readonly kind: 'add'; readonly amount: number; readonly nonce: string }

export interface ClientCall {
  readonly client: number
  readonly resource: string
  readonly wanted: Wanted
  readonly invokedAt: number
  readonly returnedAt: number
  readonly outcome: 'ok' | 'not_executed' | 'unknown'
  /** The error's code, or what became of the connection. */
  readonly code: string
  /** What an ok read or add showed. */
  readonly shown?: number | undefined
}

/** One executed request, as the device wrote it down. */
export interface DeviceEntry {
  readonly seq: number
  readonly at: number
  readonly boot: number
  readonly kind: 'start' | 'read' | 'set' | 'add'
  readonly resource?: string
  /** Read or set; of an add the total behind it. */
  readonly value?: number
  readonly amount?: number
  readonly nonce?: string
  readonly fate?: 'prompt' | 'late' | 'mute'
}

export function parseDeviceLog(text: string): DeviceEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as DeviceEntry)
}
