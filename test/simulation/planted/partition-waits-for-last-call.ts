import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'partition-waits-for-last-call',
  breaks: 'A partition starts when the last call of the one before has ended, whatever the others of it do.',
  invariant: 'partition-law',
  from: 10,
  changes: [
    {
      file: 'src/scheduler/policies.ts',
      find: 'this.#waits = this.#current.map(',
      replace: 'this.#waits = this.#current.slice(-1).map(',
    },
  ],
}

export default bug
