import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'aged-call-goes-to-the-end',
  breaks: 'A call that gains a rank by its age stands behind all that have that rank already.',
  invariant: 'order',
  changes: [
    {
      file: 'src/scheduler/queue.ts',
      find: 'row.rank = rank\n',
      replace: 'Object.assign(row, { rank, order: row.order + 1_000_000 })\n',
    },
  ],
}

export default bug
