/** A property that is run in few inputs by every test, and in many by the soak. */
import type { Parameters } from 'fast-check'

export interface Runs extends Pick<Parameters<unknown>, 'numRuns' | 'seed' | 'interruptAfterTimeLimit'> {
  readonly numRuns: number
}

/** Making a failing input small may take for ever: after this long the smallest so far is told. */
export const CHECK_MS_MAX = 40_000

export interface FuzzProperty {
  readonly name: string
  /** Inputs in the short run, so that each property costs about a second. */
  readonly runs: number
  /** Rejects with the input in its shortest form and the seed. */
  check(runs: Runs): Promise<void>
}

export interface FuzzProperties {
  readonly properties: readonly FuzzProperty[]
  /** Of what the properties are tried on. */
  close(): Promise<void>
}
