/**
 * The same calls as a plan has, each alone: the next is handed over when the one before is long over. Where nothing can
 * go wrong, as much must come of each of them as when they were handed over together.
 */
import type { CallPlan, Plan, Submission } from './plan.ts'

/** Longer than the longest run of any call, and the polls before it. */
const APART_MS = 2_500

export function oneByOnePlan(plan: Plan): Plan {
  const { submissions: all, isComparedOneByOne: _, ...rest } = plan
  const submissions = all
    .flatMap(({ calls }) => calls)
    .map((call, index): Submission => ({ ...ALONE, at: index * APART_MS, calls: [alone(call)] }))
  return { ...rest, submissions, safetyMs: submissions.length * APART_MS }
}

const ALONE: Omit<Submission, 'at' | 'calls'> = {
  kind: 'batch',
  policy: 'partition',
  priority: 'interactive',
  deadlineMs: 30_000,
  onError: 'continue',
}

function alone({ afterMs: _, ...call }: CallPlan): CallPlan {
  return call
}
