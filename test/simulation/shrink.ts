/**
 * Makes a plan that fails smaller: leaves out submissions, calls and faults as long as the same invariant fails, first
 * many at a time, then one by one (delta debugging); then it ends the time of the faults sooner.
 */
import { type Judged, judge } from './judge.ts'
import type { Plan, Submission } from './plan.ts'

export interface ShrinkOptions {
  /** The invariant that has to go on failing. */
  readonly invariant: string
  readonly runsMax?: number
  readonly budgetMs?: number
  /** Default: the real invariants on a real run. */
  readonly judge?: (plan: Plan) => Promise<Judged>
}

export interface Shrunk {
  /** The smallest plan that was found. */
  readonly judged: Judged
  readonly runs: number
  /** Nothing more can be left out; false: the runs or the time were over before. */
  readonly isMinimal: boolean
}

const RUNS_MAX = 2_000
const BUDGET_MS = 120_000
const SAFETY_MS_MIN = 100

export async function shrink(plan: Plan, options: ShrinkOptions): Promise<Shrunk> {
  const { invariant, runsMax = RUNS_MAX, budgetMs = BUDGET_MS } = options
  const until = performance.now() + budgetMs
  const trial = new Trial(options.judge ?? judge, invariant, () => performance.now() < until, runsMax)
  let smallest = await trial.start(plan)
  for (let before: Plan | undefined; before !== smallest.plan && !trial.isOver; ) {
    before = smallest.plan
    for (const pass of [withoutSubmissions, withoutCalls, withoutFaults, sooner]) {
      smallest = await pass(smallest, trial)
    }
  }
  return { judged: smallest, runs: trial.runs, isMinimal: !trial.isOver }
}

/** Tries plans, and counts. */
class Trial {
  readonly #judge: (plan: Plan) => Promise<Judged>
  readonly #invariant: string
  readonly #hasTime: () => boolean
  readonly #runsMax: number
  runs = 0

  constructor(
    judgePlan: (plan: Plan) => Promise<Judged>,
    invariant: string,
    hasTime: () => boolean,
    runsMax: number,
  ) {
    this.#judge = judgePlan
    this.#invariant = invariant
    this.#hasTime = hasTime
    this.#runsMax = runsMax
  }

  get isOver(): boolean {
    return this.runs >= this.#runsMax || !this.#hasTime()
  }

  async start(plan: Plan): Promise<Judged> {
    const judged = await this.take(plan)
    if (!judged) throw new Error(`the plan does not violate ${this.#invariant}`)
    return judged
  }

  /** Undefined: it does not fail any more. */
  async take(plan: Plan): Promise<Judged | undefined> {
    this.runs += 1
    const judged = await this.#judge(plan)
    return judged.violations.some(({ invariant }) => invariant === this.#invariant) ? judged : undefined
  }
}

/** Leaves out pieces of the list, half of it first, then ever smaller ones. */
async function withFewer<T>(
  smallest: Judged,
  trial: Trial,
  itemsOf: (plan: Plan) => readonly T[],
  planOf: (plan: Plan, items: readonly T[]) => Plan,
): Promise<Judged> {
  let best = smallest
  let size = Math.ceil(itemsOf(best.plan).length / 2)
  while (size > 0 && !trial.isOver) {
    let from = 0
    while (from < itemsOf(best.plan).length && !trial.isOver) {
      const items = itemsOf(best.plan)
      const left = items.toSpliced(from, size)
      const judged = await trial.take(planOf(best.plan, left))
      // What comes next has moved to the place of what was left out.
      if (judged) best = judged
      else from += size
    }
    size = Math.floor(size / 2)
  }
  return best
}

function withoutSubmissions(smallest: Judged, trial: Trial): Promise<Judged> {
  return withFewer(
    smallest,
    trial,
    ({ submissions }) => submissions,
    (plan, submissions) => ({ ...plan, submissions }),
  )
}

function withoutCalls(smallest: Judged, trial: Trial): Promise<Judged> {
  return withFewer(
    smallest,
    trial,
    ({ submissions }) => submissions.flatMap(({ calls }) => calls),
    (plan, calls) => {
      const kept = new Set(calls)
      const submissions = plan.submissions
        .map(
          (submission): Submission => ({ ...submission, calls: submission.calls.filter((c) => kept.has(c)) }),
        )
        .filter(
          (submission, index) => submission.calls.length > 0 || plan.submissions[index]?.calls.length === 0,
        )
      return { ...plan, submissions }
    },
  )
}

function withoutFaults(smallest: Judged, trial: Trial): Promise<Judged> {
  return withFewer(
    smallest,
    trial,
    ({ faults }) => faults,
    (plan, faults) => ({ ...plan, faults }),
  )
}

async function sooner(smallest: Judged, trial: Trial): Promise<Judged> {
  let best = smallest
  while (best.plan.safetyMs > SAFETY_MS_MIN && !trial.isOver) {
    const judged = await trial.take({ ...best.plan, safetyMs: Math.ceil(best.plan.safetyMs * 0.7) })
    if (!judged) break
    best = judged
  }
  return best
}
