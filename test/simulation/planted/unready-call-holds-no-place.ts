import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'unready-call-holds-no-place',
  breaks: 'A call that may not start yet is passed by later ones to its own device.',
  invariant: 'order',
  from: 4,
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: "return row.isReady && !isStuck(queue, row) ? 'everything' : 'device'",
      replace: "return row.isReady && !isStuck(queue, row) ? 'everything' : 'nothing'",
    },
  ],
}

export default bug
