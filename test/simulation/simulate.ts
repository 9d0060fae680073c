/** The command of the simulator: `npm run simulate`. */
import { readFile } from 'node:fs/promises'
import { ArgumentError, type Arguments, parseArguments, USAGE } from './arguments.ts'
import { drawPlan } from './draw.ts'
import { commit, failureLines, writePlan } from './failure.ts'
import { runJobs, withProcess } from './jobs.ts'
import type { Plan } from './plan.ts'
import { planLines } from './plan-lines.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { shrink } from './shrink.ts'
import { add, emptyTally, type Tally, tallyLines } from './tally.ts'
import type { Task, TaskResult } from './task.ts'

const SEEDS_OF_A_TASK = 25
const FAILURES_TOLD = 3
const PROGRESS_MS = 500
/** What every soak begins with. */
const SOAK_TWICE = 200

try {
  const told = parseArguments(process.argv.slice(2), process.env)
  process.exitCode = (await perform(told)) ? 0 : 1
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}\n`)
  process.exitCode = 2
}

/** Resolves with whether nothing was violated. */
async function perform(told: Arguments): Promise<boolean> {
  switch (told.mode) {
    case 'help':
      say([USAGE])
      return true
    case 'seed':
      return one(`seed ${told.seed}`, drawPlan(told.seed), told)
    case 'plan':
      return one(told.plan, await readPlan(told.plan), told)
    case 'seeds':
      return seeds(seedTasks(told.from, told.seeds), told)
    case 'minutes':
      return seeds(timedTasks(told), told)
    case 'sweep':
      return sweepAll(told)
    case 'twice':
      return twice(told.from, told.seeds, told)
    case 'home':
      return home(told)
    case 'soak': {
      const areSame = await twice(1, SOAK_TWICE, told)
      const isSwept = await sweepAll(told)
      return (await seeds(timedTasks(told), told)) && areSame && isSwept
    }
  }
}

async function one(subject: string, plan: Plan, told: Arguments): Promise<boolean> {
  const startedAt = performance.now()
  const { tally, judged } = await withProcess((perform) => perform({ kind: 'plan', subject, plan }))
  say([
    `${subject}, commit ${commit()}, event log ${judged?.hash}`,
    ...planLines(plan).map((line) => `  ${line}`),
    ...tallyLines(tally, 'run', performance.now() - startedAt),
  ])
  return tellFailures(tally, told)
}

async function seeds(tasks: Iterator<Task>, told: Arguments): Promise<boolean> {
  const { tally, realMs } = await runTasks(tasks, told)
  say([`seeds from ${told.from} on, commit ${commit()}`, ...tallyLines(tally, 'seeds', realMs)])
  return tellFailures(tally, told)
}

async function sweepAll(told: Arguments): Promise<boolean> {
  const chosen = SCENARIOS.filter(({ name }) => told.scenario === undefined || name === told.scenario)
  if (chosen.length === 0) {
    throw new ArgumentError(`--scenario is one of ${SCENARIOS.map(({ name }) => name).join(', ')}`)
  }
  const tasks = chosen.map(({ name }): Task => ({ kind: 'sweep', scenario: name }))
  const { tally, realMs } = await runTasks(tasks.values(), told, ({ tally: of }, task) => {
    if (task.kind === 'sweep') say([`${task.scenario}: ${of.runs} runs, ${of.failed} failed`])
  })
  say([`sweep of ${chosen.length} scenarios, commit ${commit()}`, ...tallyLines(tally, 'runs', realMs)])
  return tellFailures(tally, told)
}

/** Every seed twice in each of two processes. */
async function twice(from: number, seedCount: number, told: Arguments): Promise<boolean> {
  const tasks = [...seedTasks(from, seedCount)].map((task) => ({ ...task, kind: 'twice' }) as const)
  const hashes = new Map<number, Set<string>>()
  const tally = emptyTally()
  const startedAt = performance.now()
  for (let round = 0; round < 2; round += 1) {
    const { tally: ofRound } = await runTasks(tasks.values(), told, (result, task) => {
      if (task.kind !== 'twice') return
      for (const [index, each] of result.hashes.entries()) {
        const seed = task.from + index
        hashes.set(seed, new Set([...(hashes.get(seed) ?? []), ...each]))
      }
    })
    add(tally, ofRound)
  }
  const differing = [...hashes].filter(([, all]) => all.size !== 1).map(([seed]) => seed)
  say([
    `${hashes.size} seeds from ${from} on, twice in each of two processes, commit ${commit()}`,
    ...tallyLines(tally, 'runs', performance.now() - startedAt),
    differing.length === 0
      ? 'the event log of each seed was the same in all four runs'
      : `the event logs of ${differing.length} seeds differ: ${differing.slice(0, 20).join(', ')}`,
  ])
  return (await tellFailures(tally, told)) && differing.length === 0
}

async function home(told: Arguments): Promise<boolean> {
  let isGood = true
  for (const isFaulty of [false, true]) {
    const tasks = Array.from(
      { length: Math.ceil(told.hours) },
      (_, index): Task => ({ kind: 'home', seed: String(index + 1), hours: 1, isFaulty }),
    )
    const { tally, realMs } = await runTasks(tasks.values(), told)
    say([
      `20 devices on 4 lines at 9600 baud, polled every 10 s, ${isFaulty ? 'with a few faults' : 'without faults'}, commit ${commit()}`,
      ...tallyLines(tally, 'hours', realMs),
    ])
    isGood = (await tellFailures(tally, told)) && isGood
  }
  return isGood
}

function* seedTasks(from: number, seedCount: number): Generator<Task & { readonly kind: 'seeds' }> {
  for (let done = 0; done < seedCount; done += SEEDS_OF_A_TASK) {
    yield { kind: 'seeds', from: from + done, count: Math.min(SEEDS_OF_A_TASK, seedCount - done) }
  }
}

function* timedTasks({ from, minutes }: Arguments): Generator<Task> {
  const until = performance.now() + minutes * 60_000
  for (let next = from; performance.now() < until; next += SEEDS_OF_A_TASK) {
    yield { kind: 'seeds', from: next, count: SEEDS_OF_A_TASK }
  }
}

async function runTasks(
  tasks: Iterator<Task>,
  { jobs }: Arguments,
  onResult: (result: TaskResult, task: Task) => void = () => {},
): Promise<{ readonly tally: Tally; readonly realMs: number }> {
  const tally = emptyTally()
  const startedAt = performance.now()
  let toldAt = 0
  await runJobs({
    jobs,
    tasks,
    onResult: (result, task) => {
      add(tally, result.tally)
      if (process.stdout.isTTY && performance.now() - toldAt > PROGRESS_MS) {
        toldAt = performance.now()
        process.stdout.write(`\r\u001b[K${tally.runs} runs, ${tally.calls} calls, ${tally.failed} failed `)
      }
      onResult(result, task)
    },
  })
  if (process.stdout.isTTY) process.stdout.write('\r\u001b[K')
  return { tally, realMs: performance.now() - startedAt }
}

async function tellFailures(tally: Tally, told: Arguments): Promise<boolean> {
  for (const failure of tally.failures.slice(0, FAILURES_TOLD)) say(await failureLines(failure))
  const [first] = tally.failures
  const invariant = first?.violations[0]?.invariant
  if (first && invariant !== undefined && told.shrink) await tellSmaller(first.plan, invariant)
  return tally.failed === 0
}

async function tellSmaller(plan: Plan, invariant: string): Promise<void> {
  const { judged, runs, isMinimal } = await withProcess((perform) => {
    const judge = async (smaller: Plan) => {
      const { judged: one } = await perform({ kind: 'plan', subject: 'a smaller plan', plan: smaller })
      if (!one) throw new Error('a process of the simulator judged nothing')
      return one
    }
    return shrink(plan, { invariant, judge })
  })
  const path = await writePlan(judged.plan)
  say([
    `smaller, after ${runs} runs${isMinimal ? '' : ' (there was no time for more)'}, event log ${judged.hash}`,
    ...judged.violations.map(({ invariant: name, message }) => `  ${name}: ${message}`),
    ...planLines(judged.plan).map((line) => `  ${line}`),
    JSON.stringify(judged.plan),
    `  again: npm run simulate -- --plan ${path}`,
  ])
}

async function readPlan(path: string): Promise<Plan> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Plan
  } catch (error) {
    throw new ArgumentError(`${path} is no plan: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}
