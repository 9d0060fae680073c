import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'stall-watch-never-rests',
  breaks: 'The watch over stalls of the event loop goes on when nothing is expected on the line.',
  invariant: 'quiet-end',
  from: 5,
  changes: [
    {
      file: 'src/port/stall-watch.ts',
      find: 'this.#beat = isNeeded() ? clock.after(BEAT_MS, beat) : undefined',
      replace: 'this.#beat = isNeeded() || this.#lastBeatAt > 0 ? clock.after(BEAT_MS, beat) : undefined',
    },
  ],
}

export default bug
