import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'polls-take-room',
  breaks: 'Polls that wait count against the queue of their port.',
  invariant: 'bounds',
  from: 21,
  changes: [
    {
      file: 'src/scheduler/occupancy.ts',
      find: 'counts.waiting - counts.polls >= this.#queueLength',
      replace: 'counts.waiting >= this.#queueLength',
    },
  ],
}

export default bug
