import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'one-failure-fails-all-behind-it',
  breaks:
    'The line is passed on from run to run by a chain of promises, and a run that fails breaks the chain for all behind it.',
  invariant: 'liveness',
  from: 3,
  changes: [
    {
      file: 'src/port/mutex.ts',
      find: '    return this.#mutex.runExclusive(work)',
      replace: `    const done = this.#tail.then(() => this.#mutex.runExclusive(work))
    this.#tail = done
    return done`,
    },
    {
      file: 'src/port/mutex.ts',
      find: '  readonly #mutex = new Mutex()',
      replace: `  readonly #mutex = new Mutex()
  #tail: Promise<unknown> = Promise.resolve()`,
    },
  ],
}

export default bug
