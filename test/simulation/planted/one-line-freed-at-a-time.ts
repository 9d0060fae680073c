import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'one-line-freed-at-a-time',
  breaks:
    'Of the resources that became free, only the last one is remembered, and the waiters of the others sleep on.',
  invariant: 'isolation',
  from: 60,
  changes: [
    {
      file: 'src/scheduler/scheduler.ts',
      find: `    for (const [resource, mode] of freed) {
      if`,
      replace: `    this.#freed.clear()
    for (const [resource, mode] of freed) {
      if`,
    },
  ],
}

export default bug
