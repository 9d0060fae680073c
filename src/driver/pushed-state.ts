/** The last of everything that a device has pushed, for tools that answer from it without touching the line. */
import type { Clock } from '../clock.ts'
import { GatewayError } from '../errors.ts'

export class PushedState {
  readonly #clock: Clock
  readonly #silenceMs: number
  readonly #fields: Record<string, unknown> = {}
  #atMs = Number.NEGATIVE_INFINITY
  #atWallMs = 0

  /** `silenceMs`: a device that has pushed nothing for so long has nothing to say. */
  constructor(clock: Clock, silenceMs: number) {
    this.#clock = clock
    this.#silenceMs = silenceMs
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.#fields
  }

  /** Wall-clock milliseconds of the last push. */
  get atWallMs(): number {
    return this.#atWallMs
  }

  take(fields: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#fields, fields)
    this.#atMs = this.#clock.now()
    this.#atWallMs = this.#clock.wall()
  }

  refusal(): GatewayError | undefined {
    if (this.#clock.now() - this.#atMs <= this.#silenceMs) return undefined
    return new GatewayError('device_unavailable', `the device has said nothing for ${this.#silenceMs} ms`, {
      details: { state: 'silent' },
    })
  }
}
