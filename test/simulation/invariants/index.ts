/** All invariants. */
import type { History, Invariant, Violation } from '../history.ts'
import { admission } from './admission.ts'
import { atMostOnce } from './at-most-once.ts'
import { attribution } from './attribution.ts'
import { bounds } from './bounds.ts'
import { isolation } from './isolation.ts'
import { liveness } from './liveness.ts'
import { oneOutcome } from './one-outcome.ts'
import { order } from './order.ts'
import { partitionLaw } from './partition-law.ts'
import { quietEnd } from './quiet-end.ts'
import { soundness } from './soundness.ts'
import { noStarvation } from './starvation.ts'
import { truth } from './truth.ts'
import { wireExclusion } from './wire-exclusion.ts'

export const INVARIANTS: readonly Invariant[] = [
  wireExclusion,
  attribution,
  oneOutcome,
  truth,
  atMostOnce,
  order,
  isolation,
  bounds,
  noStarvation,
  liveness,
  quietEnd,
  partitionLaw,
  soundness,
  admission,
]

export function check(history: History): readonly Violation[] {
  return INVARIANTS.flatMap((invariant) => invariant.check(history))
}
