import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'cancelled-call-keeps-its-room',
  breaks: 'A call that ends while it waits is still counted in the queue of its port.',
  invariant: 'bounds',
  from: 4,
  changes: [
    {
      file: 'src/scheduler/occupancy.ts',
      find: 'else if (this.#waiting.has(occupant)) this.#leaveWaiting(occupant)',
      replace: 'else this.#waiting.delete(occupant)',
    },
  ],
}

export default bug
