/**
 * Reads a body as I-JSON (RFC 7493): what a plain JSON parser drops or bends in silence is a fault here. These are
 * repeated names, numbers that a double cannot hold, half surrogate pairs and bytes that are no UTF-8. Nesting is
 * bounded, and the two names that reach a prototype are refused. The grammar is that of RFC 8259, nothing more.
 *
 * The text is scanned once for faults; only a text without any is given to `JSON.parse`.
 */
import { assert } from '../../errors.ts'

export interface JsonFault {
  /** JSON pointer to the value that the fault is in. */
  readonly field: string
  readonly message: string
}

export type JsonReading = { readonly value: unknown } | { readonly faults: readonly JsonFault[] }

/** Faults that are kept; a body may hold any number of them. */
const FAULTS_MAX = 100

/** `__proto__` and `constructor` lead to a prototype in any code that merges objects key by key. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor'])

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const INTEGER = /^-?[0-9]+$/
const HEX4 = /^[0-9a-fA-F]{4}$/
const ESCAPES = '"\\/bfnrt'
const LONE_SURROGATE = /\p{Surrogate}/u
const SPACE = /[ \t\n\r]*/y

export function readJson(bytes: Uint8Array, depthMax: number): JsonReading {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { faults: [{ field: '', message: 'the body is not UTF-8' }] }
  }
  const scan = new Scan(text, depthMax)
  const faults = scan.run()
  return faults.length > 0 ? { faults } : { value: JSON.parse(text) }
}

/** One segment of a JSON pointer, escaped. */
export function pointerSegment(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** One walk over one text. Its methods return false when the walk cannot go on. */
class Scan {
  readonly #text: string
  readonly #depthMax: number
  readonly #path: (string | number)[] = []
  readonly #faults: JsonFault[] = []
  #at = 0
  /** Faults come in the order of the text, so lines are counted on from the last one. */
  #line = 1
  #lineStart = 0

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
  }

  run(): readonly JsonFault[] {
    this.#space()
    if (this.#at === this.#text.length) {
      this.#stop('the body is empty')
    } else if (this.#value()) {
      this.#space()
      if (this.#at < this.#text.length) this.#stop('expected the end of the body')
    }
    return this.#faults
  }

  #value(): boolean {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#container('}', () => this.#member(new Set()))
      case '[':
        return this.#container(']', () => this.#element())
      case '"':
        return this.#string() !== undefined
      case 't':
        return this.#word('true')
      case 'f':
        return this.#word('false')
      case 'n':
        return this.#word('null')
      default:
        return this.#number()
    }
  }

  /** An object or an array: `part` makes the reader of its parts. */
  #container(close: '}' | ']', part: () => (index: number) => boolean): boolean {
    if (this.#path.length >= this.#depthMax) return this.#stop(`nested deeper than ${this.#depthMax}`)
    this.#at += 1
    this.#space()
    if (this.#text[this.#at] === close) {
      this.#at += 1
      return true
    }
    const read = part()
    for (let index = 0; ; index += 1) {
      if (!read(index)) return false
      this.#space()
      const next = this.#text[this.#at]
      if (next !== ',' && next !== close) return this.#stop(`expected "," or "${close}"`)
      this.#at += 1
      if (next === close) return true
      this.#space()
    }
  }

  #element(): (index: number) => boolean {
    return (index) => this.#inside(index)
  }

  #member(names: Set<string>): () => boolean {
    return () => {
      const start = this.#at
      if (this.#text[start] !== '"') return this.#stop('expected a name in double quotes')
      const name = this.#string()
      if (name === undefined) return false
      if (names.has(name)) this.#note(name, 'the name is given twice', start)
      if (FORBIDDEN_NAMES.has(name)) this.#note(name, 'this name is not allowed', start)
      names.add(name)
      this.#space()
      if (this.#text[this.#at] !== ':') return this.#stop('expected ":"')
      this.#at += 1
      this.#space()
      return this.#inside(name)
    }
  }

  #inside(segment: string | number): boolean {
    this.#path.push(segment)
    const goesOn = this.#value()
    this.#path.pop()
    return goesOn
  }

  /** The decoded string, or undefined where the walk ends. */
  #string(): string | undefined {
    const text = this.#text
    const start = this.#at
    let escaped = false
    let at = start + 1
    for (; ; at += 1) {
      const code = text.charCodeAt(at)
      if (code === 0x22) break
      if (Number.isNaN(code)) return this.#stopAt(text.length, 'the string does not end')
      if (code < 0x20) return this.#stopAt(at, 'a control character in a string has to be escaped')
      if (code !== 0x5c) continue
      escaped = true
      at += 1
      const escaping = text[at]
      if (escaping === 'u' && HEX4.test(text.slice(at + 1, at + 5))) at += 4
      else if (escaping === undefined || !ESCAPES.includes(escaping)) {
        return this.#stopAt(at - 1, 'not an escape of JSON')
      }
    }
    this.#at = at + 1
    if (!escaped) return text.slice(start + 1, at)
    const decoded: unknown = JSON.parse(text.slice(start, this.#at))
    assert(typeof decoded === 'string', 'the scan ended a string where JSON does not')
    if (LONE_SURROGATE.test(decoded)) this.#note(undefined, 'half of a surrogate pair', start)
    return decoded
  }

  #number(): boolean {
    const start = this.#at
    NUMBER.lastIndex = start
    const token = NUMBER.exec(this.#text)?.[0]
    if (token === undefined) return this.#stop('expected a value')
    this.#at += token.length
    const value = Number(token)
    if (!Number.isFinite(value)) this.#note(undefined, 'the number is too large', start)
    else if (!Number.isSafeInteger(value) && INTEGER.test(token) && String(value) !== token) {
      this.#note(undefined, 'the whole number has more digits than a double can hold', start)
    }
    return true
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return this.#stop('expected a value')
    this.#at += word.length
    return true
  }

  #space(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  #stop(message: string): false {
    this.#note(undefined, message, this.#at)
    return false
  }

  #stopAt(at: number, message: string): undefined {
    this.#note(undefined, message, at)
    return undefined
  }

  #note(name: string | undefined, message: string, at: number): void {
    if (this.#faults.length > FAULTS_MAX) return
    if (this.#faults.length === FAULTS_MAX) {
      this.#faults.push({ field: '', message: 'further faults are not listed' })
      return
    }
    const path = name === undefined ? this.#path : [...this.#path, name]
    const field = path.map((segment) => `/${pointerSegment(segment)}`).join('')
    this.#faults.push({ field, message: `${this.#position(at)}: ${message}` })
  }

  #position(at: number): string {
    for (;;) {
      const end = this.#text.indexOf('\n', this.#lineStart)
      if (end === -1 || end >= at) return `line ${this.#line}, column ${at - this.#lineStart + 1}`
      this.#line += 1
      this.#lineStart = end + 1
    }
  }
}
