import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'failed-write-unhandled',
  breaks: 'A write that fails because the port is gone is an error that nobody handles.',
  invariant: 'soundness',
  from: 120,
  changes: [
    {
      file: 'src/port/line.ts',
      find: `        // The connection reports a failed write as a loss by itself.
        () => {},
`,
      replace: '',
    },
  ],
}

export default bug
