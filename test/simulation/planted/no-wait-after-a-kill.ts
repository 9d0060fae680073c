import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'no-wait-after-a-kill',
  breaks: 'A process takes what is answered to the one before it, which was killed, for its own replies.',
  invariant: 'attribution',
  from: 634,
  changes: [
    {
      file: 'src/gateway.ts',
      find: 'if (this.#afterUncleanEnd) this.#lines.expectAnything()',
      replace: '',
    },
  ],
}

export default bug
