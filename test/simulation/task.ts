/** What a process of the simulator is given to do, as data, and what it answers. */
import { drawPlan } from './draw.ts'
import { homePlan } from './home.ts'
import { type Judged, judge } from './judge.ts'
import type { Plan } from './plan.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { sweep } from './sweep.ts'
import { count, emptyTally, type Tally } from './tally.ts'

export type Task =
  | { readonly kind: 'seeds'; readonly from: number; readonly count: number }
  /** Each seed twice, in this process. */
  | { readonly kind: 'twice'; readonly from: number; readonly count: number }
  | { readonly kind: 'plan'; readonly subject: string; readonly plan: Plan }
  | { readonly kind: 'sweep'; readonly scenario: string }
  | { readonly kind: 'home'; readonly seed: string; readonly hours: number; readonly isFaulty: boolean }

export interface TaskResult {
  readonly tally: Tally
  /** Of `twice`: the hashes of each seed. */
  readonly hashes: readonly (readonly string[])[]
  /** Of `plan`. */
  readonly judged?: Judged
}

export async function perform(task: Task): Promise<TaskResult> {
  const before = process.cpuUsage()
  const result = await performed(task)
  const { user, system } = process.cpuUsage(before)
  result.tally.cpuMs = (user + system) / 1_000
  return result
}

async function performed(task: Task): Promise<TaskResult> {
  const tally = emptyTally()
  const hashes: string[][] = []
  switch (task.kind) {
    case 'seeds':
    case 'twice':
      for (let number = task.from; number < task.from + task.count; number += 1) {
        const seed = String(number)
        const judged = await judge(drawPlan(seed))
        count(tally, `seed ${seed}`, judged)
        if (task.kind === 'seeds') continue
        const again = await judge(drawPlan(seed))
        count(tally, `seed ${seed}`, again)
        hashes.push([judged.hash, again.hash])
      }
      break
    case 'plan': {
      const judged = await judge(task.plan)
      count(tally, task.subject, judged)
      return { tally, hashes, judged }
    }
    case 'sweep': {
      const scenario = SCENARIOS.find(({ name }) => name === task.scenario)
      if (!scenario) throw new Error(`there is no scenario ${task.scenario}`)
      await sweep(scenario, (subject, judged) => count(tally, subject, judged))
      break
    }
    case 'home': {
      const { seed, ...options } = task
      count(tally, `home ${seed}`, await judge(homePlan(seed, options)))
    }
  }
  return { tally, hashes }
}
