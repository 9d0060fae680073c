import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'cancelled-while-running',
  breaks: 'A call that is cancelled while it runs is answered as cancelled before it started.',
  invariant: 'truth',
  from: 22,
  changes: [
    {
      file: 'src/scheduler/lane.ts',
      find: 'const calls = [...this.#unstarted].filter(({ task }) => id === undefined || task.id === id)',
      replace:
        'const calls = [...this.#unpassed.values()].filter(({ task }) => id === undefined || task.id === id)',
    },
    {
      file: 'src/scheduler/call.ts',
      find: `      if (state.phase === 'running') return state
`,
      replace: '',
    },
  ],
}

export default bug
