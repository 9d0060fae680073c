/**
 * Patterns for lines of text: read once, with their faults as values; bound to the arguments of a call where they
 * name one; matched in bounded time. What a bound pattern fixes of a frame becomes the shape of the reply.
 */
import { assert } from '../errors.ts'
import { ANY_SHAPE, type ReplyShape, startsWith } from '../port/reply.ts'
import { boundCost } from './pattern-cost.ts'
import { PatternFault, type PatternNode, type PatternSequence, parsePattern } from './pattern-syntax.ts'

/** Texts of arguments, by name. */
export type Bindings = Readonly<Record<string, string>>

/** Texts of named groups; a group that took no part in the match is absent. */
export type Groups = Readonly<Record<string, string>>

export interface BoundPattern {
  /** Of all frames that it matches: the literal text at its start, and its length if it is nothing but literal. */
  readonly shape: ReplyShape
  match(text: string): Groups | undefined
}

export interface TextPattern {
  readonly alternatives: readonly PatternSequence[]
  /** Named groups, in order. */
  readonly groups: readonly string[]
  /** Of these, those that take part in every match. */
  readonly certainGroups: ReadonlySet<string>
  /** Names in braces. */
  readonly parameters: readonly string[]
  /** Every `{name}` becomes this text, literally. */
  bind(bindings: Bindings): BoundPattern
}

const NO_BINDINGS: Bindings = {}

/** The pattern, or the fault of one that cannot be used. */
export function readPattern(source: string): { readonly pattern: TextPattern } | { readonly fault: string } {
  try {
    const alternatives = parsePattern(source)
    boundCost(alternatives)
    const nodes = [...nodesOf(alternatives, true)]
    const groups = nodes.flatMap(({ node }) => (node.type === 'group' && node.name ? [node.name] : []))
    if (new Set(groups).size < groups.length) throw new PatternFault('a group name is used twice')
    const parameters = nodes.flatMap(({ node }) => (node.type === 'parameter' ? [node.name] : []))
    const certain = nodes.flatMap(({ node, certain }) =>
      certain && node.type === 'group' && node.name ? [node.name] : [],
    )
    return { pattern: patternOf(alternatives, groups, new Set(certain), [...new Set(parameters)]) }
  } catch (thrown) {
    if (thrown instanceof PatternFault) return { fault: thrown.message }
    throw thrown
  }
}

/** Text as the gateway reads it off a line: bytes that are no UTF-8 become replacement characters. */
export function textOf(frame: Uint8Array): string {
  return Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('utf8')
}

/** The regular expression of a pattern, in the host's syntax. */
export function expressionOf(alternatives: readonly PatternSequence[], bindings: Bindings): string {
  return alternatives.map((nodes) => nodes.map((node) => sourceOf(node, bindings)).join('')).join('|')
}

function patternOf(
  alternatives: readonly PatternSequence[],
  groups: readonly string[],
  certainGroups: ReadonlySet<string>,
  parameters: readonly string[],
): TextPattern {
  const bind = (bindings: Bindings): BoundPattern => {
    const expression = new RegExp(expressionOf(alternatives, bindings))
    return {
      shape: shapeOf(alternatives, bindings),
      match(text) {
        const found = expression.exec(text)
        if (!found) return undefined
        const texts: Record<string, string> = {}
        for (const group of groups) {
          const taken = found.groups?.[group]
          if (taken !== undefined) texts[group] = taken
        }
        return texts
      },
    }
  }
  const once = parameters.length === 0 ? bind(NO_BINDINGS) : undefined
  return {
    alternatives,
    groups,
    certainGroups,
    parameters,
    bind: (bindings) => once ?? bind(bindings),
  }
}

/** All nodes, with whether they take part in every match. */
function* nodesOf(
  alternatives: readonly PatternSequence[],
  certain: boolean,
): Generator<{ node: PatternNode; certain: boolean }> {
  const only = alternatives.length === 1
  for (const node of alternatives.flat()) yield* nodeAndInner(node, certain && only)
}

function* nodeAndInner(
  node: PatternNode,
  certain: boolean,
): Generator<{ node: PatternNode; certain: boolean }> {
  yield { node, certain }
  if (node.type === 'group') yield* nodesOf(node.alternatives, certain)
  if (node.type === 'repeat') yield* nodeAndInner(node.body, certain && node.min > 0)
}

function sourceOf(node: PatternNode, bindings: Bindings): string {
  switch (node.type) {
    case 'start':
      return '^'
    case 'end':
      return '$'
    case 'literal':
      return escaped(node.character)
    case 'class':
      return node.source
    case 'parameter':
      return `(?:${escaped(bindings[node.name] ?? '')})`
    case 'group':
      return `(?${node.name ? `<${node.name}>` : ':'}${expressionOf(node.alternatives, bindings)})`
    case 'repeat': {
      const most = node.max === 1024 ? '' : node.max
      return `${sourceOf(node.body, bindings)}{${node.min},${most}}${node.lazy ? '?' : ''}`
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9 ]/g, (character) => {
    const code = character.charCodeAt(0)
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The literal start of a pattern that is anchored and has no alternatives. */
function shapeOf(alternatives: readonly PatternSequence[], bindings: Bindings): ReplyShape {
  const [nodes, other] = alternatives
  if (!nodes || other || nodes[0]?.type !== 'start') return ANY_SHAPE
  let prefix = ''
  for (const node of nodes.slice(1)) {
    if (node.type === 'end') return startsWith(Buffer.from(prefix), Buffer.byteLength(prefix))
    const text = literalOf(node, bindings)
    if (text === undefined || !survivesDecoding(text)) break
    prefix += text
  }
  return prefix === '' ? ANY_SHAPE : startsWith(Buffer.from(prefix))
}

function literalOf(node: PatternNode, bindings: Bindings): string | undefined {
  if (node.type === 'literal') return node.character
  if (node.type === 'parameter') return bindings[node.name] ?? ''
  return undefined
}

/** A replacement character stands for any bytes that are no UTF-8, and half a surrogate pair for none. */
function survivesDecoding(text: string): boolean {
  return !text.includes('\ufffd') && Buffer.from(text).toString() === text
}

/** A pattern that has been found usable before. */
export function usablePattern(source: string): TextPattern {
  const read = readPattern(source)
  assert('pattern' in read, `the pattern ${source} was not checked`)
  return read.pattern
}
