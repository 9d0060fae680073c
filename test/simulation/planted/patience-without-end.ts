import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'patience-without-end',
  breaks:
    'A call of several resources never holds one of them back for itself, as its patience is counted in seconds.',
  invariant: 'no-starvation',
  from: 61,
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: 'return nowMs < row.queuedAtMs + SEVERAL_CLAIMS_PATIENCE_MS',
      replace: 'return (nowMs - row.queuedAtMs) / 1_000 < SEVERAL_CLAIMS_PATIENCE_MS',
    },
  ],
}

export default bug
