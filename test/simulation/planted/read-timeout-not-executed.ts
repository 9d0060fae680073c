import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'read-timeout-not-executed',
  breaks: 'A read that timed out is said not to have been executed, because it changes nothing.',
  invariant: 'truth',
  from: 21,
  changes: [
    {
      file: 'src/errors.ts',
      find: "timeout: row('unknown', 'if_read'",
      replace: "timeout: row('unknown_unless_read', 'if_read'",
    },
  ],
}

export default bug
