import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'sends-before-reading-out',
  breaks:
    'After a stall of the event loop requests go out, and entries of the list end, before the bytes that came meanwhile were read.',
  invariant: 'attribution',
  from: 155,
  changes: [
    {
      file: 'src/port/stall-watch.ts',
      find: `this.#unreadUntil = now + READ_OUT_MS
      onStall(this.#unreadUntil)`,
      replace: `this.#unreadUntil = now
      onStall(this.#unreadUntil)`,
    },
  ],
}

export default bug
