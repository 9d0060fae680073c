/** A property that is run in few inputs by every test, and in many by the soak. */
import type { Parameters } from 'fast-check'

export type Runs = Pick<Parameters<unknown>, 'numRuns'> & { readonly seed?: number }

export interface FuzzProperty {
  readonly name: string
  /** Inputs in the short run, so that each property costs about a second. */
  readonly runs: number
  /** Rejects with the input in its shortest form and the seed. */
  check(runs: Runs): Promise<void>
}
