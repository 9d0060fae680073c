import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'batch-lets-undeclared-overlap',
  breaks: 'Under `batch` a tool that declares nothing does not make the batch serial.',
  invariant: 'partition-law',
  from: 89,
  changes: [
    {
      file: 'src/scheduler/policies.ts',
      find: 'this.#areAllSafe &&= isParallelSafe(call.declaration, call.arguments)',
      replace: `this.#areAllSafe &&=
      isParallelSafe(call.declaration, call.arguments) || !call.declaration?.serial`,
    },
  ],
}

export default bug
