import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'polls-pile-up',
  breaks: 'A poll is asked for although the one before it still waits.',
  invariant: 'bounds',
  from: 4,
  changes: [
    {
      file: 'src/driver/poller.ts',
      find: `      this.#skipped += 1
      return`,
      replace: '      this.#skipped += 1',
    },
  ],
}

export default bug
