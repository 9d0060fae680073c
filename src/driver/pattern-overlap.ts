/**
 * Whether one line could match two patterns. Both become automata, and their product is searched for a text that
 * both accept. The answer errs towards yes: an argument may be any text, and long counts are taken for any count.
 */
import type { CharacterSet, PatternNode, PatternSequence } from './pattern-syntax.ts'
import type { TextPattern } from './text-pattern.ts'

/** Any character that a line may hold. */
const ANY: CharacterSet = (1n << 129n) - 1n
/** Counts above it are taken for any count. */
const COPIES_MAX = 16
const STATES_MAX = 5_000
const PAIRS_MAX = 200_000

interface State {
  readonly steps: { readonly set: CharacterSet; readonly to: number }[]
  readonly free: number[]
}

export function patternsOverlap(one: TextPattern, other: TextPattern): boolean {
  const first = new Automaton(one.alternatives)
  const second = new Automaton(other.alternatives)
  if (first.isTooLarge || second.isTooLarge) return true
  const seen = new Set<number>()
  const waiting: [number, number][] = [[first.start, second.start]]
  while (waiting.length > 0) {
    const pair = waiting.pop()
    if (!pair) break
    const [left, right] = pair
    const key = left * STATES_MAX + right
    if (seen.has(key)) continue
    seen.add(key)
    if (seen.size > PAIRS_MAX || (left === first.accepting && right === second.accepting)) return true
    const here = first.states[left]
    const there = second.states[right]
    if (!here || !there) continue
    for (const to of here.free) waiting.push([to, right])
    for (const to of there.free) waiting.push([left, to])
    for (const step of here.steps) {
      for (const otherStep of there.steps) {
        if ((step.set & otherStep.set) !== 0n) waiting.push([step.to, otherStep.to])
      }
    }
  }
  return false
}

/** States with steps that take a character and steps that take none. */
class Automaton {
  readonly states: State[] = []
  readonly start: number
  readonly accepting: number

  constructor(alternatives: readonly PatternSequence[]) {
    this.start = this.#state()
    this.accepting = this.#state()
    for (const nodes of alternatives) {
      const from = this.#join(this.start)
      if (nodes[0]?.type !== 'start') this.#loop(from, ANY)
      const to = this.#sequence(nodes, from)
      if (nodes.at(-1)?.type !== 'end') this.#loop(to, ANY)
      this.#free(to, this.accepting)
    }
  }

  #sequence(nodes: PatternSequence, from: number): number {
    return nodes.reduce((at, node) => this.#node(node, at), from)
  }

  /** Adds the node behind `from`; the state behind the node. */
  #node(node: PatternNode, from: number): number {
    switch (node.type) {
      case 'start':
      case 'end':
        return from
      case 'parameter': {
        const to = this.#join(from)
        this.#loop(to, node.set)
        return to
      }
      case 'group': {
        const to = this.#state()
        for (const nodes of node.alternatives) this.#free(this.#sequence(nodes, this.#join(from)), to)
        return to
      }
      case 'repeat':
        return this.#repeat(node, from)
      default: {
        const to = this.#state()
        this.states[from]?.steps.push({ set: node.set, to })
        return to
      }
    }
  }

  #repeat(node: PatternNode & { readonly type: 'repeat' }, from: number): number {
    const { body, min, max } = node
    let at = from
    for (let copy = 0; copy < Math.min(min, COPIES_MAX); copy += 1) at = this.#node(body, at)
    if (max > COPIES_MAX) {
      const loop = this.#join(at)
      this.#free(this.#node(body, loop), loop)
      return loop
    }
    const end = this.#state()
    for (let copy = min; copy < max; copy += 1) {
      this.#free(at, end)
      at = this.#node(body, at)
    }
    this.#free(at, end)
    return end
  }

  get isTooLarge(): boolean {
    return this.states.length >= STATES_MAX
  }

  #state(): number {
    if (this.isTooLarge) return this.accepting
    return this.states.push({ steps: [], free: [] }) - 1
  }

  /** A new state that is reached from `from` for free, so that loops do not touch `from` itself. */
  #join(from: number): number {
    const to = this.#state()
    this.#free(from, to)
    return to
  }

  #free(from: number, to: number): void {
    this.states[from]?.free.push(to)
  }

  #loop(state: number, set: CharacterSet): void {
    this.states[state]?.steps.push({ set, to: state })
  }
}
