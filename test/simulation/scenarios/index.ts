/** All scenarios of the sweep. */
import { outages } from './outages.ts'
import type { Scenario } from './scenario.ts'
import { singles } from './single.ts'
import { together } from './together.ts'

export const SCENARIOS: readonly Scenario[] = [...singles, ...together, ...outages]
