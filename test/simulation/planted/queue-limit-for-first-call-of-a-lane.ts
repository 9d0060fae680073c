import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'queue-limit-for-first-call-of-a-lane',
  breaks: 'Only the first call of a lane is held to the length of the queue.',
  invariant: 'bounds',
  from: 5,
  changes: [
    {
      file: 'src/scheduler/lane.ts',
      find: 'return this.#host.refusal(task, rank)',
      replace: `const refusal = this.#host.refusal(task, rank)
    return refusal?.code === 'queue_full' && this.#unstarted.size > 0 ? undefined : refusal`,
    },
  ],
}

export default bug
