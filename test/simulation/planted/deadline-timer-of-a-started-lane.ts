import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'deadline-timer-of-a-started-lane',
  breaks: 'The timer of a deadline is kept until it is due, although all calls of the lane have started.',
  invariant: 'bounds',
  changes: [
    {
      file: 'src/scheduler/lane.ts',
      find: `if (this.#unstarted.size === 0) this.#deadline.clear()
      else this`,
      replace: 'if (this.#unstarted.size > 0) this',
    },
  ],
}

export default bug
