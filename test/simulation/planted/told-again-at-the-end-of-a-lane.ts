import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'told-again-at-the-end-of-a-lane',
  breaks: 'A lane that ends tells the feed of all its calls, which were told of already.',
  invariant: 'one-outcome',
  from: 3,
  changes: [
    {
      file: 'src/tool/gate.ts',
      find: `        await lane.drained
        const policy`,
      replace: `        await lane.drained
        for (const [index, result] of results.entries()) {
          const intake = intakes[index]
          if (intake) this.#publish(id, 0, intake, result, caller)
        }
        const policy`,
    },
  ],
}

export default bug
