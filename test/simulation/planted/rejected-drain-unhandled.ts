import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'rejected-drain-unhandled',
  breaks: 'A drain that fails because the port is gone is an error that nobody handles.',
  invariant: 'soundness',
  from: 25,
  changes: [
    {
      file: 'src/port/departure.ts',
      find: 'this.#connection.drain().then(over, over)',
      replace: 'void this.#connection.drain().finally(over)',
    },
  ],
}

export default bug
