/**
 * The anomaly sweep: a scenario runs once untouched, and its operations of the bindings are counted; then it runs again
 * for every one of them, which fails in every way, once and for as long as anything may go wrong.
 */
import { type Judged, judge } from './judge.ts'
import type { Fault, OperationFailure, Plan } from './plan.ts'
import type { Scenario } from './scenarios/scenario.ts'

/** The ways that differ from each other, by operation. */
const WAYS: Readonly<Record<string, readonly OperationFailure[]>> = {
  open: ['rejects', 'hangs', 'never_ends'],
  read: ['rejects', 'rejects_after', 'hangs'],
  close: ['rejects', 'hangs'],
}
const ALL_WAYS: readonly OperationFailure[] = ['rejects', 'rejects_after', 'hangs', 'never_ends']

export interface SweptCase {
  /** In words. */
  readonly subject: string
  readonly plan: Plan
}

/** The untouched scenario first. Its own run says how many operations there are to fail. */
export async function casesOf({ name, plan }: Scenario): Promise<readonly SweptCase[]> {
  const { operations } = await judge(plan)
  const cases: SweptCase[] = [{ subject: `${name}, untouched`, plan }]
  for (const [port, names] of operations) {
    for (const [index, operation] of names.entries()) {
      for (const how of WAYS[operation] ?? ALL_WAYS) {
        for (const persistent of [false, true]) {
          const fault: Fault = { kind: 'operation', port, index, persistent, how }
          const times = persistent ? 'from then on' : 'once'
          cases.push({
            subject: `${name}, ${operation} (operation ${index} of ${port}) ${how} ${times}`,
            plan: { ...plan, faults: [...plan.faults, fault] },
          })
        }
      }
    }
  }
  return cases
}

export async function sweep(
  scenario: Scenario,
  onJudged: (subject: string, judged: Judged) => void,
): Promise<void> {
  for (const { subject, plan } of await casesOf(scenario)) onJudged(subject, await judge(plan))
}
