import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'offline-device-refuses',
  breaks:
    'A device that missed three times in a row is refused until it answers, and what is not polled is never asked again.',
  invariant: 'liveness',
  from: 4,
  changes: [
    {
      file: 'src/driver/driver.ts',
      find: 'return this.#spec(command).get ? this.#pushed.refusal() : this.#parts.port.refusal()',
      replace: `if (this.#spec(command).get) return this.#pushed.refusal()
    if (this.#state.availability === 'offline') return new GatewayError('device_unavailable', 'the device is offline')
    return this.#parts.port.refusal()`,
    },
  ],
}

export default bug
