import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'patience-of-the-close-left',
  breaks: 'The close leaves the timers of its own patience behind.',
  invariant: 'quiet-end',
  changes: [
    {
      file: 'src/gateway.ts',
      find: `    await Promise.race([work, pause(this.#clock, durationMs, patience.signal)])
    patience.abort()`,
      replace: '    await Promise.race([work, pause(this.#clock, durationMs, patience.signal)])',
    },
  ],
}

export default bug
