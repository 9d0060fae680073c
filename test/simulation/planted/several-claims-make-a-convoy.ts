import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'several-claims-make-a-convoy',
  breaks: 'A call of several claims holds back later ones after a fifth of a second, not after two seconds.',
  invariant: 'admission',
  changes: [
    {
      file: 'src/scheduler/admission.ts',
      find: 'export const SEVERAL_CLAIMS_PATIENCE_MS = 2_000',
      replace: 'export const SEVERAL_CLAIMS_PATIENCE_MS = 200',
    },
  ],
}

export default bug
