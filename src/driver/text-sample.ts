/** Texts that a pattern matches: what a simulated device answers with, and what two patterns are compared by. */
import type { PatternNode, PatternSequence } from './pattern-syntax.ts'
import { type Bindings, expressionOf, type TextPattern } from './text-pattern.ts'

/** Characters that a sample prefers, the most telling first. */
const PREFERRED = '5A1a B-.'

/**
 * A text of the pattern. A named group takes the text that `groups` has for it, if its own pattern allows it. The
 * alternative at `choice`, counted around, is taken wherever there are several.
 */
export function sampleText(
  pattern: TextPattern,
  options: { readonly bindings?: Bindings; readonly groups?: Bindings; readonly choice?: number } = {},
): string {
  const { bindings = {}, groups = {}, choice = 0 } = options
  const ofAlternatives = (alternatives: readonly PatternSequence[]): string =>
    (alternatives[choice % alternatives.length] ?? []).map(ofNode).join('')
  const ofNode = (node: PatternNode): string => {
    switch (node.type) {
      case 'start':
      case 'end':
        return ''
      case 'literal':
        return node.character
      case 'class':
        return characterOf(node.source)
      case 'parameter':
        return bindings[node.name] ?? ''
      case 'group': {
        const known = node.name === undefined ? undefined : groups[node.name]
        const own = new RegExp(`^(?:${expressionOf(node.alternatives, bindings)})$`)
        return known !== undefined && own.test(known) ? known : ofAlternatives(node.alternatives)
      }
      case 'repeat':
        return ofNode(node.body).repeat(Math.max(node.min, Math.min(node.max, 1)))
    }
  }
  return ofAlternatives(pattern.alternatives)
}

function characterOf(source: string): string {
  const own = new RegExp(`^${source}$`)
  for (const character of PREFERRED) if (own.test(character)) return character
  for (let code = 33; code < 256; code += 1) {
    const character = String.fromCharCode(code)
    if (own.test(character)) return character
  }
  return ''
}
