import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'stuck-chain-holds-the-bus',
  breaks:
    'A ready call behind one to its own device that is not ready holds back the other devices of the bus as well.',
  invariant: 'admission',
  from: 14,
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: `return row.isReady && !isStuck(queue, row) ? 'everything' : 'device'`,
      replace: `return row.isReady ? 'everything' : 'device'`,
    },
  ],
}

export default bug
