import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'automation-before-people',
  breaks: 'Automations rank higher than people.',
  invariant: 'order',
  changes: [
    {
      file: 'src/scheduler/queue.ts',
      find: 'interactive: 1, automation: 2',
      replace: 'interactive: 2, automation: 1',
    },
  ],
}

export default bug
