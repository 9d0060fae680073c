import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'poll-in-flight-starts-the-next',
  breaks: 'The next poll is timed when one has ended, also after the poller was stopped.',
  invariant: 'quiet-end',
  from: 30,
  changes: [
    {
      file: 'src/driver/poller.ts',
      find: `    this.#schedule(everyMs)
    if (this.#waiting)`,
      replace: '    if (this.#waiting)',
    },
    {
      file: 'src/driver/poller.ts',
      find: `      this.#waiting = false
      this.#backOff()`,
      replace: `      this.#waiting = false
      this.#schedule(everyMs)
      this.#backOff()`,
    },
  ],
}

export default bug
