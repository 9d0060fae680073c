import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'results-in-order-of-their-end',
  breaks: "A batch answers its calls in the order of their ends, and each gets another one's result.",
  invariant: 'one-outcome',
  from: 2,
  changes: [
    {
      file: 'src/tool/gate.ts',
      find: 'const settled: (TaskResult | undefined)[] = intakes.map(() => undefined)',
      replace: 'const settled: (TaskResult | undefined)[] = []',
    },
    {
      file: 'src/tool/gate.ts',
      find: `const each = settling.map(async (result, index) => {
      const task = await result
      settled[index] = task
`,
      replace: `const each = settling.map(async (result, index) => {
      const task = await result
      settled.push(task)
`,
    },
  ],
}

export default bug
