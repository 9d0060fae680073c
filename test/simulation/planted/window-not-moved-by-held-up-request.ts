import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'window-not-moved-by-held-up-request',
  breaks: 'A request that left late is expected to be answered as if it had left in time.',
  invariant: 'attribution',
  from: 137,
  changes: [
    {
      file: 'src/port/line.ts',
      find: `if (outAt > lastByteAt) this.#late.holdUntil(outAt + request.replyLatencyMaxMs)
`,
      replace: '',
    },
  ],
}

export default bug
