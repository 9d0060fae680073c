/**
 * Whatever a configuration file holds: a configuration or faults, never an exception; every fault has its place in
 * the text, and no character of the file that a terminal would obey is in its sentence.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc, { type Arbitrary } from 'fast-check'
import type { ConfigurableTypes } from '../../src/config/configurable-type.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import type { FuzzProperty } from './fuzz-property.ts'
import { mutated } from './mutation.ts'

const EXAMPLE = readFileSync(join(import.meta.dirname, '../../baudway.example.yaml'), 'utf8')

const CONTROL = /\p{Cc}/u

function check(text: string, types: ConfigurableTypes): void {
  const { configuration, faults, warnings } = parseConfiguration(text, 'f', types)
  assert.equal(configuration === undefined, faults.length > 0, 'a configuration or faults')
  // A byte order mark is no column, and CR is the end of a line only before LF.
  const lines = text.replace(/^\ufeff/, '').split('\n')
  for (const { line, column, message, hint = '' } of [...faults, ...warnings]) {
    const shown = lines[line - 1]
    assert.ok(shown !== undefined, `line ${line} of ${lines.length}: ${message}`)
    assert.ok(column >= 1 && column <= shown.length + 1, `column ${column} of ${shown.length}: ${message}`)
    assert.ok(message.length > 0)
    assert.ok(!CONTROL.test(message + hint), JSON.stringify(message + hint))
  }
}

type LineChange = (lines: string[]) => string[]

/** Replaces the value behind the colon of a line, or the line where it has none. */
function withValue(value: string): (line: string) => string {
  return (line) => (line.includes(': ') ? line.replace(/: .*$/s, () => `: ${value}`) : value)
}

const HUGE = [
  '1e999',
  '9'.repeat(400),
  '-9007199254740993',
  '0x7fffffffffffffffffff',
  '.inf',
  '.nan',
  '1e-400',
]
const MARKS = [
  '&a [*a]',
  '*nowhere',
  '&b {<<: *b}',
  '!!binary x',
  '!<tag> 1',
  '__proto__',
  '"\\u009b31m"',
  '|',
  '>-',
]
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '<<',
  '? [a]',
  '""',
  '"\\e[2J"',
  '\u009b',
  '~',
]

function nested(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth)
}

/** Lines lost, doubled, moved, indented, given another value or another key. */
function lineChange(): Arbitrary<LineChange> {
  const at = fc.nat(EXAMPLE.split('\n').length - 1)
  const depth = fc.constantFrom(1, 8, 28, 31, 32, 33, 500, 5_000)
  const value = fc.oneof(
    fc.constantFrom(...HUGE, ...MARKS),
    fc
      .tuple(depth, fc.constantFrom(['[', ']'], ['{a: ', '}'], ['[', ''], ['- ', ''], ['? ', '']))
      .map(([times, [open = '', close = '']]) => nested(times, open, close)),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ unit: 'binary', maxLength: 8 }))
  const edit = (from: number, change: (line: string) => readonly string[]): LineChange => {
    return (lines) => lines.flatMap((line, index) => (index === from ? change(line) : [line]))
  }
  return fc.oneof(
    at.map((from) => edit(from, () => [])),
    at.map((from) => edit(from, (line) => [line, line])),
    at.map((from) => edit(from, (line) => [` ${line}`])),
    at.map((from) => edit(from, (line) => [`\t${line}`])),
    fc.tuple(at, at).map(([from, to]): LineChange => {
      return (lines) => lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] ?? '')
    }),
    fc.tuple(at, value).map(([from, one]) => edit(from, (line) => [withValue(one)(line)])),
    fc.tuple(at, key).map(([from, one]) => edit(from, (line) => [line.replace(/[\w]+(?=:)/, () => one)])),
    fc.tuple(at, key, value).map(([from, one, other]) => {
      return edit(from, (line) => [`${/^[ ]*/.exec(line)?.[0] ?? ''}${one}: ${other}`, line])
    }),
  )
}

/** What an editor or a transport does to a whole text. */
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replaceAll('\n', '\r'),
  (text) => `${text}\0`,
  (text) => `\ufeff\ufeff${text}`,
  (text) => `---\n${text}...\n---\n${text}`,
  (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  (text) => Buffer.from(text).toString('latin1'),
]

export async function configurations(): Promise<readonly FuzzProperty[]> {
  const types = configurableTypes(await loadCatalogue())
  const bytes = mutated([Buffer.from(EXAMPLE)]).map((one) => Buffer.from(one).toString('utf8'))
  const changes = fc.array(lineChange(), { minLength: 1, maxLength: 4 })
  const edited = fc
    .tuple(changes, fc.constantFrom(...ENCODINGS))
    .map(([list, encode]) =>
      encode(list.reduce((lines, make) => make(lines), EXAMPLE.split('\n')).join('\n')),
    )
  const property = (name: string, text: Arbitrary<string>, runs: number): FuzzProperty => {
    const checked = fc.property(text, (one) => check(one, types))
    return { name: `configuration: ${name}`, runs, check: async (given) => fc.assert(checked, given) }
  }
  return [
    property('bytes of the example changed', bytes, 60),
    property('lines of the example changed', edited, 120),
  ]
}
