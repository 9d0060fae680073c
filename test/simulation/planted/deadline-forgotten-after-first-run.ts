import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'deadline-forgotten-after-first-run',
  breaks:
    "The alarm of a lane's deadline is cleared when its first call has run: the others wait until somebody lets them start.",
  invariant: 'one-outcome',
  from: 14,
  changes: [
    {
      file: 'src/scheduler/lane.ts',
      find: 'if (this.#unstarted.size === 0) this.#deadline.clear()',
      replace: 'if (this.#unstarted.size === 0 || this.#hasRun) this.#deadline.clear()',
    },
  ],
}

export default bug
