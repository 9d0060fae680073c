import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'departure-not-awaited',
  breaks:
    'A request that is still held back by the system when its time is over does not hold back the next one, which goes out into its reply.',
  invariant: 'wire-exclusion',
  from: 126,
  changes: [
    {
      file: 'src/port/line.ts',
      find: 'return this.#pending === undefined && this.#departure?.isOver === false',
      replace: 'return false',
    },
  ],
}

export default bug
