import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'stall-ends-only-with-a-byte',
  breaks:
    'After a stall of the event loop the line waits for the first byte to be read, and if none had come it waits for ever.',
  invariant: 'liveness',
  from: 11,
  changes: [
    {
      file: 'src/port/stall-watch.ts',
      find: `this.#unreadUntil = now + READ_OUT_MS
`,
      replace: `this.#unreadUntil = Number.POSITIVE_INFINITY
`,
    },
    {
      file: 'src/port/stall-watch.ts',
      find: '  /** Clock time until which bytes',
      replace: `  read(): void {
    this.#unreadUntil = Math.min(this.#unreadUntil, this.#parts.clock.now())
  }

  /** Clock time until which bytes`,
    },
    {
      file: 'src/port/line.ts',
      find: `    this.#lastReceivedAt = this.#parts.clock.now()
    this.#parts.counters`,
      replace: `    this.#lastReceivedAt = this.#parts.clock.now()
    this.#stalls.read()
    this.#parts.counters`,
    },
  ],
}

export default bug
