import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'admission-ends-at-first-taken',
  breaks: 'The first call whose line is taken ends the round, and those behind it are not asked again.',
  invariant: 'isolation',
  from: 60,
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: 'if (!areFree(queue, taken, row.claims) || isHeldBack(queue, row, nowMs)) continue',
      replace: `if (!areFree(queue, taken, row.claims)) break
    if (isHeldBack(queue, row, nowMs)) continue`,
    },
  ],
}

export default bug
