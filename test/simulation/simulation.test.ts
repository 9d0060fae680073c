/** A share of the simulation in every test run: seeds, the same seeds twice, and the sweep of the shortest scenarios. */
import { describe, expect, it } from 'vitest'
import { failureLines } from './failure.ts'
import { runJobs } from './jobs.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { sweep } from './sweep.ts'
import { add, count, emptyTally, type Tally, tallyLines } from './tally.ts'
import type { Task } from './task.ts'

const BUDGET_MS = 30_000
const SEEDS_OF_A_TASK = 10
const PATIENCE_MS = 180_000

function* seedsFor(budgetMs: number): Generator<Task> {
  const until = performance.now() + budgetMs
  for (let from = 1; performance.now() < until; from += SEEDS_OF_A_TASK) {
    yield { kind: 'seeds', from, count: SEEDS_OF_A_TASK }
  }
}

async function storiesOf(tally: Tally): Promise<readonly string[]> {
  const stories = await Promise.all(tally.failures.map(failureLines))
  return stories.map((lines) => lines.join('\n'))
}

describe('The simulated home', () => {
  it(
    'violates no invariant in half a minute of seeds',
    async () => {
      const tally = emptyTally()
      const startedAt = performance.now()
      await runJobs({
        jobs: 1,
        tasks: seedsFor(BUDGET_MS),
        onResult: (result) => add(tally, result.tally),
      })
      process.stdout.write(`${tallyLines(tally, 'seeds', performance.now() - startedAt).join('\n')}\n`)
      expect(await storiesOf(tally)).toEqual([])
      expect(tally.runs).toBeGreaterThanOrEqual(SEEDS_OF_A_TASK)
      expect(tally.requests).toBeGreaterThan(tally.runs)
    },
    PATIENCE_MS,
  )

  it(
    'has the same event log for the same seed, in one process and in two',
    async () => {
      const hashes = new Map<number, string[]>()
      const one: Task = { kind: 'twice', from: 1, count: 20 }
      const { from } = one
      await runJobs({
        jobs: 2,
        tasks: [one, one].values(),
        onResult: (result) => {
          for (const [index, each] of result.hashes.entries()) {
            hashes.set(from + index, [...(hashes.get(from + index) ?? []), ...each])
          }
        },
      })
      expect(hashes.size).toBe(20)
      for (const [seed, all] of hashes) expect([seed, all]).toEqual([seed, Array(4).fill(all[0])])
      // Logs that are the same whatever happens would be the same, too.
      expect(new Set([...hashes.values()].flat()).size).toBe(20)
    },
    PATIENCE_MS,
  )

  it.each(['single-read', 'act-on-a-bus', 'text-with-read-back'])(
    'violates no invariant whichever operation fails in the scenario %s',
    async (name) => {
      const scenario = SCENARIOS.find((each) => each.name === name)
      if (!scenario) throw new Error(`there is no scenario ${name}`)
      const tally = emptyTally()
      await sweep(scenario, (subject, judged) => count(tally, subject, judged))
      expect(await storiesOf(tally)).toEqual([])
      // An open, a write and a read at least; each fails in three ways, once and from then on.
      expect(tally.runs).toBeGreaterThan(3 * 6)
    },
    PATIENCE_MS,
  )
})
