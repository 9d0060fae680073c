import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'resource-forgets-the-port',
  breaks: 'Under `resource` calls of one line keep no order, and one that is ready passes one that is not.',
  invariant: 'partition-law',
  from: 2,
  changes: [
    {
      file: 'src/scheduler/policies.ts',
      find: 'const claims = isBarrier(call) ? withBarrier(call.claims) : call.claims',
      replace: `const named = new Map([...call.claims].filter(([resource]) => !resource.startsWith('port:')))
    const claims = isBarrier(call) ? withBarrier(named) : named`,
    },
  ],
}

export default bug
