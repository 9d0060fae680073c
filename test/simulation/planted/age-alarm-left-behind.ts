import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'age-alarm-left-behind',
  breaks: 'The alarm for calls that grow with age is not cleared when the last of them is gone.',
  invariant: 'quiet-end',
  from: 3,
  changes: [
    {
      file: 'src/scheduler/scheduler.ts',
      find: `    if (oldest) this.#age.at(oldest.queuedAtMs + AGEING_MS)
    else this.#age.clear()`,
      replace: '    if (oldest) this.#age.at(oldest.queuedAtMs + AGEING_MS)',
    },
  ],
}

export default bug
