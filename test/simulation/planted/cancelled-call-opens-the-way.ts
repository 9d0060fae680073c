import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'cancelled-call-opens-the-way',
  breaks: 'A call that is cancelled in its lane lets those behind it pass those before it.',
  invariant: 'partition-law',
  from: 5,
  changes: [
    {
      file: 'src/scheduler/lane.ts',
      find: 'if (call.unmet > 0) continue',
      replace: "if (call.unmet > 0 && call.state.phase !== 'settled') continue",
    },
  ],
}

export default bug
