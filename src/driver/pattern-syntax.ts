/**
 * The patterns that a configuration may use: a subset of regular expressions in which every construct is known to
 * the analysis that bounds its cost. Literals, `.`, classes, escapes of classes and punctuation, named and plain
 * groups, alternatives, quantifiers, `^` and `$`, and `{parameter}` for the text of an argument. No backreferences,
 * no lookaround, no flags.
 */

/** Characters as bits: 0 to 127 are ASCII, one bit stands for all others, one for the end of the text. */
export type CharacterSet = bigint

const OTHERS: CharacterSet = 1n << 128n
export const TEXT_END: CharacterSet = 1n << 129n
const ALL: CharacterSet = (1n << 129n) - 1n

export type PatternNode =
  | { readonly type: 'literal'; readonly character: string; readonly set: CharacterSet }
  | { readonly type: 'class'; readonly source: string; readonly set: CharacterSet }
  | { readonly type: 'parameter'; readonly name: string; readonly set: CharacterSet }
  | { readonly type: 'start' | 'end' }
  | { readonly type: 'group'; readonly name?: string; readonly alternatives: readonly PatternSequence[] }
  | {
      readonly type: 'repeat'
      readonly body: PatternNode
      readonly min: number
      readonly max: number
      readonly lazy: boolean
    }

export type PatternSequence = readonly PatternNode[]

/** Why a pattern is refused. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault'
}

/** A count in braces above this is refused: it is no pattern of one line. */
const COUNT_MAX = 1024

const CLASS_ESCAPES: Readonly<Record<string, CharacterSet>> = {
  d: ranges('09'),
  D: ALL & ~ranges('09'),
  w: ranges('09AZaz__'),
  W: ALL & ~ranges('09AZaz__'),
  s: ranges('\t\r  ') | OTHERS,
  S: ALL & ~ranges('\t\r  '),
}

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' }

/** The alternatives of the whole pattern. Throws PatternFault. */
export function parsePattern(source: string): readonly PatternSequence[] {
  const parser = new Parser(source)
  const alternatives = parser.alternatives()
  if (!parser.ended) throw new PatternFault('a ")" that closes nothing')
  return alternatives
}

class Parser {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  get ended(): boolean {
    return this.#at === this.#source.length
  }

  alternatives(): PatternSequence[] {
    const alternatives: PatternSequence[] = []
    do alternatives.push(this.#sequence())
    while (this.#take('|'))
    return alternatives
  }

  #sequence(): PatternSequence {
    const nodes: PatternNode[] = []
    while (!this.ended && !this.#sees('|') && !this.#sees(')')) nodes.push(this.#quantified(this.#atom()))
    return nodes
  }

  #atom(): PatternNode {
    const parameter = this.#match(/\{([a-zA-Z_][a-zA-Z0-9_]*)\}/y)
    if (parameter?.[1] !== undefined) return { type: 'parameter', name: parameter[1], set: ALL }
    if (this.#take('(')) return this.#group()
    if (this.#sees('[')) return this.#class()
    const character = this.#next()
    if (character === '^') return { type: 'start' }
    if (character === '$') return { type: 'end' }
    if (character === '.') return { type: 'class', source: '.', set: ALL & ~ranges('\n\n\r\r') }
    if (character === '\\') return this.#escaped()
    if ('*+?'.includes(character)) throw new PatternFault(`a "${character}" that repeats nothing`)
    return literal(character)
  }

  #group(): PatternNode {
    let name: string | undefined
    if (this.#take('?')) {
      name = this.#match(/<([a-zA-Z_][a-zA-Z0-9_]*)>/y)?.[1]
      if (name === undefined && !this.#take(':')) {
        throw new PatternFault('"(?" is only for named groups "(?<name>…)" and for "(?:…)"')
      }
    }
    const alternatives = this.alternatives()
    if (!this.#take(')')) throw new PatternFault('a "(" that nothing closes')
    return name === undefined ? { type: 'group', alternatives } : { type: 'group', name, alternatives }
  }

  #escaped(): PatternNode {
    const character = this.#next()
    const set = CLASS_ESCAPES[character]
    if (set !== undefined) return { type: 'class', source: `\\${character}`, set }
    return literal(this.#escapedCharacter(character))
  }

  #escapedCharacter(character: string): string {
    if (character === 'x') {
      const code = this.#match(/[0-9a-fA-F]{2}/y)?.[0]
      if (code === undefined) throw new PatternFault('"\\x" needs two hexadecimal digits')
      return String.fromCharCode(Number.parseInt(code, 16))
    }
    const control = CONTROL_ESCAPES[character]
    if (control !== undefined) return control
    if (/[a-zA-Z0-9]/.test(character)) throw new PatternFault(`"\\${character}" is not supported`)
    return character
  }

  #class(): PatternNode {
    const start = this.#at
    this.#next()
    const negated = this.#take('^')
    let set = 0n
    while (!this.#take(']')) {
      const from = this.#classItem()
      if (typeof from === 'bigint') {
        set |= from
        continue
      }
      if (this.#match(/-(?!\])/y)) {
        const to = this.#classItem()
        if (typeof to === 'bigint' || to < from) throw new PatternFault('a range in a class that is none')
        set |= ranges(from + to)
      } else {
        set |= ranges(from + from)
      }
    }
    // A negated class of other characters still takes some of them.
    return {
      type: 'class',
      source: this.#source.slice(start, this.#at),
      set: negated ? (ALL & ~set) | OTHERS : set,
    }
  }

  #classItem(): string | CharacterSet {
    const character = this.#next()
    if (character !== '\\') return character
    const escaped = this.#next()
    return CLASS_ESCAPES[escaped] ?? this.#escapedCharacter(escaped)
  }

  #quantified(body: PatternNode): PatternNode {
    const counted = this.#match(/\*|\+|\?|\{(\d+)(,(\d*))?\}/y)
    if (!counted) return body
    if (body.type === 'start' || body.type === 'end') throw new PatternFault('a position cannot be repeated')
    const [text, least, comma, most] = counted
    const min = text === '+' ? 1 : Number(least ?? 0)
    const max = text === '?' ? 1 : least === undefined || (comma && !most) ? COUNT_MAX : Number(most || least)
    if (min > max) throw new PatternFault(`the count ${text} is none`)
    if (max > COUNT_MAX) throw new PatternFault(`a count above ${COUNT_MAX}`)
    const lazy = this.#take('?')
    if (this.#match(/[*+?]|\{\d+(,\d*)?\}/y)) throw new PatternFault('a repetition of a repetition')
    return { type: 'repeat', body, min, max, lazy }
  }

  #sees(character: string): boolean {
    return this.#source[this.#at] === character
  }

  #take(character: string): boolean {
    const taken = this.#sees(character)
    if (taken) this.#at += 1
    return taken
  }

  #next(): string {
    const character = this.#source[this.#at]
    if (character === undefined) throw new PatternFault('it ends in the middle')
    this.#at += 1
    return character
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found) this.#at = expression.lastIndex
    return found
  }
}

function literal(character: string): PatternNode {
  return { type: 'literal', character, set: ranges(character + character) }
}

/** Pairs of first and last character. */
function ranges(pairs: string): CharacterSet {
  let set = 0n
  for (let index = 0; index < pairs.length; index += 2) {
    const from = pairs.charCodeAt(index)
    const to = pairs.charCodeAt(index + 1)
    for (let code = from; code <= to && code < 128; code += 1) set |= 1n << BigInt(code)
    if (to >= 128) set |= OTHERS
  }
  return set
}
