import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'newest-first-among-equals',
  breaks: 'Within a rank, who came last goes first.',
  invariant: 'order',
  changes: [
    {
      file: 'src/scheduler/queue.ts',
      find: 'RANK_ORDER[one.rank] - RANK_ORDER[other.rank] || one.order - other.order',
      replace: 'RANK_ORDER[one.rank] - RANK_ORDER[other.rank] || other.order - one.order',
    },
  ],
}

export default bug
