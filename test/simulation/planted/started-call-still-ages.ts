import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'started-call-still-ages',
  breaks: 'A call that has started is still in the list of those that gain a rank with age.',
  invariant: 'soundness',
  changes: [
    {
      file: 'src/scheduler/scheduler.ts',
      find: `    this.#changed.delete(entry)
    this.#ageing.delete(entry)
`,
      replace: `    this.#changed.delete(entry)
`,
    },
  ],
}

export default bug
