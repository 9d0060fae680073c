/** Runs one plan, judges it by every invariant, and keeps of it what is counted. */
import type { Violation } from './history.ts'
import { check } from './invariants/index.ts'
import type { Plan } from './plan.ts'
import { run } from './run.ts'

export interface Judged {
  readonly plan: Plan
  /** Of everything that happened. */
  readonly hash: string
  readonly violations: readonly Violation[]
  readonly calls: number
  /** Requests that the gateway handed to the bindings. */
  readonly requests: number
  /** What devices and tools really did, polls among them, by their own logs. */
  readonly executions: number
  readonly simulatedMs: number
  readonly events: number
  /** The names of the operations of the binding until everything was mended, by port. */
  readonly operations: ReadonlyMap<string, readonly string[]>
}

export async function judge(plan: Plan): Promise<Judged> {
  const { history, hash, simulatedMs, events, operations } = await run(plan)
  return {
    plan,
    hash,
    violations: check(history),
    calls: history.calls.length + history.lastCalls.length,
    requests: history.writes.length,
    executions: history.executions.length,
    simulatedMs,
    events,
    operations,
  }
}
