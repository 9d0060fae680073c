/** The whole anomaly sweep: every operation of every scenario fails, in every way. */
import { describe, expect, it } from 'vitest'
import { failureLines } from '../simulation/failure.ts'
import { runJobs } from '../simulation/jobs.ts'
import { SCENARIOS } from '../simulation/scenarios/index.ts'
import { type Tally, tallyLines } from '../simulation/tally.ts'
import type { Task } from '../simulation/task.ts'

const PATIENCE_MS = 600_000

describe('The sweep of the simulated home', () => {
  it(
    'violates no invariant in any scenario',
    async () => {
      const tallies = new Map<string, Tally>()
      const tasks = SCENARIOS.map(({ name }): Task => ({ kind: 'sweep', scenario: name }))
      await runJobs({
        jobs: 2,
        tasks: tasks.values(),
        onResult: ({ tally }, task) => {
          if (task.kind === 'sweep') tallies.set(task.scenario, tally)
        },
      })
      expect(tallies.size).toBe(SCENARIOS.length)
      expect(tallies.size).toBeGreaterThanOrEqual(10)
      for (const [name, tally] of tallies) {
        process.stdout.write(`${name}: ${tallyLines(tally, 'runs', tally.cpuMs)[0]}\n`)
        const stories = await Promise.all(tally.failures.map(failureLines))
        expect([name, stories.map((lines) => lines.join('\n'))]).toEqual([name, []])
        expect(tally.executions).toBeGreaterThan(0)
      }
    },
    PATIENCE_MS,
  )
})
