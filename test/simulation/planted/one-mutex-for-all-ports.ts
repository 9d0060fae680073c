import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'one-mutex-for-all-ports',
  breaks: 'All ports have one mutex, so that one line waits for the reply of another.',
  invariant: 'isolation',
  from: 3,
  changes: [
    {
      file: 'src/port/mutex.ts',
      find: `export class PortMutex {
  readonly #mutex = new Mutex()`,
      replace: `const mutex = new Mutex()

export class PortMutex {
  readonly #mutex = mutex`,
    },
  ],
}

export default bug
