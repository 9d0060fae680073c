import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'look-ends-at-the-unready',
  breaks: 'When a line becomes free, nobody behind a call that may not start yet is looked at.',
  invariant: 'admission',
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: `      if (reach(queue, row, nowMs) !== 'everything') continue
`,
      replace: '',
    },
  ],
}

export default bug
