/** What a tool says of itself, and what follows from it for one call. */
import type { Claim } from '../driver/claim.ts'
import type { Effect } from '../errors.ts'

export type { Claim }

/** The concurrency side of a tool. Nothing declared is serial: fail closed. */
export interface Declaration {
  readonly effect?: Effect
  readonly claims?: readonly Claim[] | undefined
  readonly because?: string | undefined
  /** On purpose. Wins over `parallelSafe`, under every policy. */
  readonly serial?: boolean | undefined
  /** A predicate that throws counts as false. */
  readonly parallelSafe?: boolean | ((args: never) => boolean) | undefined
}

/** How `declared` shows it: `serial` was said on purpose, `undeclared` was not said at all. Both run serially. */
export type Declared = 'serial' | 'parallelSafe' | 'conditional' | 'undeclared'

/** The order of calls within one lane. */
export type Policy = 'partition' | 'batch' | 'resource'

/** Who goes first across lanes. */
export type Rank = 'stop' | 'interactive' | 'automation' | 'poll'
