/**
 * A bound on how long a pattern may search a line. The host's matcher tries alternatives one after the other, so a
 * pattern is taken only if the ways to match any text are few: what is repeated may leave no choice inside itself,
 * and the choices elsewhere, multiplied, stay under a limit. A choice is left where the character that comes next
 * could belong to the repetition as well as to what follows it, or to two alternatives.
 */
import {
  type CharacterSet,
  PatternFault,
  type PatternNode,
  type PatternSequence,
  TEXT_END,
} from './pattern-syntax.ts'

/** Characters of a line at most, and so the choices that one repetition can leave. */
const LINE_CHARACTERS_MAX = 1024
/** Two repetitions may each leave all their choices, and no third one. */
const CHOICES_MAX = LINE_CHARACTERS_MAX ** 2

/** Throws PatternFault if the pattern can backtrack without bound. */
export function boundCost(alternatives: readonly PatternSequence[]): void {
  const cost = new Cost()
  // Without an anchor the search begins anew at every character.
  if (!alternatives.every(([first]) => first?.type === 'start')) cost.choose(LINE_CHARACTERS_MAX, false)
  cost.alternatives(alternatives, 0n, false)
}

class Cost {
  #choices = 1

  choose(ways: number, repeated: boolean): void {
    if (repeated) throw new PatternFault('it can backtrack without bound: a choice inside a repetition')
    this.#choices *= ways
    if (this.#choices > CHOICES_MAX) {
      throw new PatternFault(
        'it can backtrack without bound: anchor it with "^", or say what may not be in a part, as in "[^,]*"',
      )
    }
  }

  /** What may come first in the alternatives or, where one can be empty, in what follows them. */
  alternatives(
    alternatives: readonly PatternSequence[],
    follow: CharacterSet,
    repeated: boolean,
  ): CharacterSet {
    let all = 0n
    let overlap = false
    for (const alternative of alternatives) {
      const first = this.#sequence(alternative, follow, repeated)
      overlap ||= (all & first) !== 0n
      all |= first
    }
    if (overlap) this.choose(alternatives.length, repeated)
    return all
  }

  #sequence(nodes: PatternSequence, follow: CharacterSet, repeated: boolean): CharacterSet {
    return nodes.reduceRight((next, node) => this.#node(node, next, repeated), follow)
  }

  #node(node: PatternNode, follow: CharacterSet, repeated: boolean): CharacterSet {
    switch (node.type) {
      case 'start':
        return follow
      case 'end':
        return TEXT_END
      case 'group':
        return this.alternatives(node.alternatives, follow, repeated)
      case 'repeat':
        return this.#repeat(node, follow, repeated)
      default:
        return node.set
    }
  }

  #repeat(
    node: PatternNode & { readonly type: 'repeat' },
    follow: CharacterSet,
    repeated: boolean,
  ): CharacterSet {
    const { body, min, max } = node
    if (max === 0) return follow
    const several = max > 1
    if (several && isNullable(body))
      throw new PatternFault('it can backtrack without bound: a repetition of nothing')
    const first = firstOf(body)
    this.#node(body, several ? first | follow : follow, repeated || several)
    if (max > min && (first & follow) !== 0n)
      this.choose(Math.min(max - min + 1, LINE_CHARACTERS_MAX), repeated)
    return min === 0 ? first | follow : first
  }
}

function isNullable(node: PatternNode): boolean {
  switch (node.type) {
    case 'start':
    case 'end':
      return true
    case 'group':
      return node.alternatives.some((nodes) => nodes.every(isNullable))
    case 'repeat':
      return node.min === 0 || isNullable(node.body)
    // The text of an argument may be empty.
    case 'parameter':
      return true
    default:
      return false
  }
}

function firstOf(node: PatternNode): CharacterSet {
  switch (node.type) {
    case 'start':
    case 'end':
      return 0n
    case 'group':
      return node.alternatives.reduce((all, nodes) => all | firstOfSequence(nodes), 0n)
    case 'repeat':
      return node.max === 0 ? 0n : firstOf(node.body)
    default:
      return node.set
  }
}

function firstOfSequence(nodes: PatternSequence): CharacterSet {
  let first = 0n
  for (const node of nodes) {
    first |= firstOf(node)
    if (!isNullable(node)) break
  }
  return first
}
