import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'poll-never-ages',
  breaks: 'A poll waits for as long as automations keep calling.',
  invariant: 'no-starvation',
  from: 192,
  changes: [{ file: 'src/scheduler/admission.ts', find: "poll: 'automation',", replace: "poll: 'poll'," }],
}

export default bug
