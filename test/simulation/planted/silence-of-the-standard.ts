import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'silence-of-the-standard',
  breaks:
    'A spoiled reply counts as over after the 3.5 characters of the standard, which no USB adapter keeps.',
  invariant: 'wire-exclusion',
  from: 354,
  changes: [
    {
      file: 'src/port/pace.ts',
      find: 'silenceMs: Math.max(SILENCE_MS_MIN, SILENCE_CHARACTERS * character, framing.idleMs ?? 0)',
      replace: 'silenceMs: Math.max(FRAME_GAP_CHARACTERS * character, framing.idleMs ?? 0)',
    },
  ],
}

export default bug
