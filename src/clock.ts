/**
 * Time, randomness and ids. Nothing else in the gateway touches timers, `Date` or `Math.random`: the fault
 * simulator runs the real gateway on another implementation of this interface.
 */
import { randomBytes as cryptoRandomBytes } from 'node:crypto'

export interface Timer {
  /** Idempotent; after it the callback is never called. */
  cancel(): void
}

export interface Clock {
  /** Monotonic time in milliseconds, with fractions; its zero has no meaning. Deadlines are made of it. */
  now(): number
  /** Wall-clock time in milliseconds since 1970-01-01 UTC. It may jump; it is only ever shown. */
  wall(): number
  /** Calls `callback` once, `delayMs` from now at the earliest; a delay of 0 or less still calls back later, not inline. */
  after(delayMs: number, callback: () => void): Timer
  /** A number in [0, 1): jitter, not secrets. */
  random(): number
  /** `length` bytes fit for a secret. */
  randomBytes(length: number): Uint8Array
}

/** The longest delay that the host's timers take in one piece. */
const HOST_DELAY_MAX_MS = 2_147_483_647

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, callback) {
    const dueAt = performance.now() + delayMs
    let handle: NodeJS.Timeout
    // The host's timers take whole milliseconds, up to a limit, and may fire a little early.
    const wait = () => {
      const leftMs = Math.ceil(dueAt - performance.now())
      handle = setTimeout(fire, Math.min(Math.max(0, leftMs), HOST_DELAY_MAX_MS))
    }
    const fire = () => {
      if (performance.now() < dueAt) wait()
      else callback()
    }
    wait()
    return { cancel: () => clearTimeout(handle) }
  },
  random: () => Math.random(),
  randomBytes: (length) => cryptoRandomBytes(length),
}

const ID_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 16

/** A fresh id such as `b_4k1x…`: 16 characters of base 36, drawn from the clock's randomness. */
export function newId(clock: Clock, prefix: string): string {
  let id = ''
  for (let index = 0; index < ID_LENGTH; index += 1) {
    id += ID_ALPHABET[Math.floor(clock.random() * ID_ALPHABET.length)]
  }
  return `${prefix}_${id}`
}

/** ISO 8601 in UTC with milliseconds, the form of every time that the gateway shows. */
export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString()
}

/** Resolves after `delayMs`, or at once when `signal` aborts (it never rejects: the caller looks at the signal). */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      timer.cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.after(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
