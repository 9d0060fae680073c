import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'automation-never-ages',
  breaks: 'An automation waits for as long as people keep calling.',
  invariant: 'no-starvation',
  from: 19,
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: "automation: 'interactive',",
      replace: "automation: 'automation',",
    },
  ],
}

export default bug
