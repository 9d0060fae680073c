import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'safe-wins-over-serial',
  breaks: 'A tool that is serial on purpose overlaps, because it calls itself parallel-safe too.',
  invariant: 'partition-law',
  from: 2,
  changes: [
    {
      file: 'src/scheduler/declaration.ts',
      find: 'if (!declaration || declaration.serial) return false',
      replace: 'if (!declaration) return false',
    },
  ],
}

export default bug
