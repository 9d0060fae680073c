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

/** Whether this call may overlap with other parallel-safe ones. Undefined is an unknown tool: never safe. */
export function isParallelSafe(
  declaration: Declaration | undefined,
  args: Readonly<Record<string, unknown>>,
): boolean {
  if (!declaration || declaration.serial) return false
  const { parallelSafe } = declaration
  if (typeof parallelSafe !== 'function') return parallelSafe === true
  try {
    // Only `true` counts: a predicate that answers with anything else, a promise for one, has not said yes.
    return (parallelSafe as (args: unknown) => unknown)(args) === true
  } catch {
    return false
  }
}

export function declaredAs(declaration: Declaration): Declared {
  if (declaration.serial) return 'serial'
  if (typeof declaration.parallelSafe === 'function') return 'conditional'
  return declaration.parallelSafe === true ? 'parallelSafe' : 'undeclared'
}
