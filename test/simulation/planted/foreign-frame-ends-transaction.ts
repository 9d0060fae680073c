import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'foreign-frame-ends-transaction',
  breaks:
    'Any whole frame that is not the reply ends the wait for the reply, and the next request goes out into it.',
  invariant: 'wire-exclusion',
  from: 7,
  changes: [
    {
      file: 'src/port/transaction.ts',
      find: 'return { ...state, foreignFrames: state.foreignFrames + 1 }',
      replace: "return failed('bad_reply', true, wireMs)",
    },
  ],
}

export default bug
