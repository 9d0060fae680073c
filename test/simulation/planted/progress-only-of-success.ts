import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'progress-only-of-success',
  breaks: 'A run reports that bytes were sent only after a transaction that succeeded.',
  invariant: 'truth',
  from: 30,
  changes: [
    {
      file: 'src/driver/session.ts',
      find: `    } finally {
      this.#run.progress.sent = this.#line.sent
      this.#run.progress.wireMs = this.#line.wireMs
    }
`,
      replace: `    }
`,
    },
    {
      file: 'src/driver/session.ts',
      find: `      this.#completed += 1
`,
      replace: `      this.#completed += 1
      this.#run.progress.sent = this.#line.sent
      this.#run.progress.wireMs = this.#line.wireMs
`,
    },
  ],
}

export default bug
