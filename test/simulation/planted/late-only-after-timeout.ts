import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'late-only-after-timeout',
  breaks:
    'Only a timeout leaves an entry on the list of late replies; a stop, a loss or a spoiled reply leaves none.',
  invariant: 'attribution',
  from: 439,
  changes: [
    {
      file: 'src/port/line.ts',
      find: `if (end.code === 'timeout') this.#parts.counters.timeouts += 1
`,
      replace: `if (end.code !== 'timeout') return
    this.#parts.counters.timeouts += 1
`,
    },
  ],
}

export default bug
