import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'order-of-queueing',
  breaks: 'Calls are ordered by when their turn in the lane came, not by when they came.',
  invariant: 'order',
  from: 5,
  changes: [
    {
      file: 'src/scheduler/scheduler.ts',
      find: 'order: call.order,',
      replace: 'order: this.#host.nextOrder(),',
    },
  ],
}

export default bug
