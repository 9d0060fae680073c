/** Runs one seed after the other, and tells of each that goes against an invariant. */
import { drawPlan } from './draw.ts'
import type { Violation } from './history.ts'
import { check } from './invariants/index.ts'
import { run } from './run.ts'

export interface SeedFailure {
  readonly seed: string
  readonly violations: readonly Violation[]
}

export interface SeedsReport {
  readonly seeds: number
  readonly calls: number
  readonly simulatedMs: number
  readonly elapsedMs: number
  /** Events of the clock. */
  readonly events: number
  /** Requests that the far ends of the wires were sent. */
  readonly requests: number
  readonly failures: readonly SeedFailure[]
}

export interface SeedsOptions {
  readonly from: number
  readonly count: number
  /** Stops at the first failure of this invariant; `any`: of whichever. */
  readonly stopAt?: string
  readonly onFailure?: (failure: SeedFailure) => void
  /** Stops when so much time has gone by. */
  readonly budgetMs?: number
}

export async function runSeeds(options: SeedsOptions): Promise<SeedsReport> {
  const { from, count, stopAt, onFailure, budgetMs = Number.POSITIVE_INFINITY } = options
  const startedAt = performance.now()
  const failures: SeedFailure[] = []
  let [seeds, calls, simulatedMs, events, requests] = [0, 0, 0, 0, 0]
  for (let index = 0; index < count && performance.now() - startedAt < budgetMs; index += 1) {
    const seed = String(from + index)
    const result = await run(drawPlan(seed))
    const violations = check(result.history)
    seeds += 1
    calls += result.history.calls.length + result.history.lastCalls.length
    simulatedMs += result.simulatedMs
    events += result.events
    requests += result.history.writes.length
    if (violations.length === 0) continue
    const failure = { seed, violations }
    failures.push(failure)
    onFailure?.(failure)
    if (stopAt === 'any' || violations.some(({ invariant }) => invariant === stopAt)) break
  }
  return { seeds, calls, simulatedMs, elapsedMs: performance.now() - startedAt, events, requests, failures }
}
