import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'late-list-dropped-at-reopen',
  breaks: 'What may still come of requests before a loss is forgotten when the port opens again.',
  invariant: 'attribution',
  from: 439,
  changes: [
    {
      file: 'src/port/line.ts',
      find: `    this.#framer.reset()
    this.#opening = { connection, ended: false }`,
      replace: `    this.#framer.reset()
    this.#late.expire(Number.POSITIVE_INFINITY)
    this.#opening = { connection, ended: false }`,
    },
  ],
}

export default bug
