import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'gateway-claim-stays-shared',
  breaks:
    'A tool that wants the whole gateway for itself is counted as one that shares it: the claim that every call has came first.',
  invariant: 'wire-exclusion',
  from: 2,
  changes: [
    {
      file: 'src/scheduler/claims.ts',
      find: `if (mode === 'exclusive' || isPort(resource)) modes.set(resource, 'exclusive')
    else if (!modes.has(resource)) modes.set(resource, 'shared')`,
      replace: `if (modes.has(resource)) continue
    modes.set(resource, mode === 'exclusive' || isPort(resource) ? 'exclusive' : 'shared')`,
    },
  ],
}

export default bug
