/**
 * Whatever a configuration file holds: a configuration or faults, never an exception; every fault has its place in
 * the text, and no character of the file that a terminal would obey is in its sentence.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc, { type Arbitrary } from 'fast-check'
import { stringify } from 'yaml'
import type { ConfigurableTypes } from '../../src/config/configurable-type.ts'
import type { Configuration } from '../../src/config/configuration.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import type { DeviceType } from '../../src/driver/device-type.ts'
import { Gateway } from '../../src/gateway.ts'
import { createSimulatedBinding } from '../../src/simulator/binding.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { DEVICE_VARIANTS } from './device-variants.ts'
import type { FuzzProperty } from './fuzz-property.ts'
import { mutated } from './mutation.ts'

const EXAMPLE = readFileSync(join(import.meta.dirname, '../../baudway.example.yaml'), 'utf8')

const CONTROL = /\p{Cc}/u

/** Processor time, which a busy machine does not lengthen; the largest texts here take some hundred milliseconds. */
const CHECK_CPU_MS_MAX = 5_000

function check(text: string, types: ConfigurableTypes): Configuration | undefined {
  const begun = process.cpuUsage()
  const { configuration, faults, warnings } = parseConfiguration(text, 'f', types)
  const { user, system } = process.cpuUsage(begun)
  const tookMs = (user + system) / 1_000
  assert.ok(tookMs < CHECK_CPU_MS_MAX, `${tookMs} ms for ${text.length} characters`)
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
  return configuration
}

/** What has no fault is a gateway; it is put together, and opens nothing. */
async function checkGateway(configuration: Configuration, types: ReadonlyMap<string, DeviceType>) {
  const { stateDir: _, ...stateless } = configuration
  const clock = new VirtualClock()
  const binding = createSimulatedBinding({ clock })
  const { host } = binding
  const gateway = await Gateway.create({ configuration: stateless, types, binding, host, clock })
  const wanted = configuration.devices.filter(({ enabled }) => enabled).map(({ id }) => id)
  const made = gateway.devices().map(({ id }) => id)
  assert.deepEqual(made.toSorted(), wanted.toSorted())
  await gateway.close()
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
  '"\\u009b2J"',
  '"\\x7f\\x85"',
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

const FRAGMENTS = [
  ...[
    '- { id: a, type: line }\n',
    '- &a {}\n',
    '- *a\n',
    'a: &a 1\n',
    '<<: *a\n',
    '? [a]\n',
    '"\\0": 1\n',
    "'",
    '"',
  ],
  ...[
    '!t ',
    '&a ',
    '[',
    '{a: ',
    '- ',
    ' ',
    '\n',
    '\t',
    '# x\n',
    '|\n',
    '%YAML 1.2\n',
    '---\n',
    '*a, ',
    'k: v\n',
    ']',
    '\u0085',
  ],
]

/** Texts that are made to cost: one piece again and again, and anchors that stand for anchors. */
function costly(): Arbitrary<string> {
  const begin = fc.constantFrom('', 'devices:\n', 'a: &a {}\n', '[', 'ports: {')
  const again = fc.tuple(begin, fc.constantFrom(...FRAGMENTS), fc.integer({ min: 2, max: 2_000 }))
  const size = fc.integer({ min: 1, max: 40 })
  const bomb = fc.tuple(size, fc.integer({ min: 1, max: 12 })).map(([levels, width]) =>
    Array.from({ length: levels }, (_, level) => {
      const inside = level === 0 ? 'x' : Array.from({ length: width }, () => `*a${level - 1}`).join(', ')
      return `a${level}: &a${level} [${inside}]`
    }).join('\n'),
  )
  return fc.oneof(
    again.map(([first, piece, times]) => first + piece.repeat(times)),
    bomb,
  )
}

function mostly(right: readonly unknown[], wrong: readonly unknown[]): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom(...right) },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) },
  )
}

/** Whole files with devices of every type, most of them right. */
function generated(types: ReadonlyMap<string, DeviceType>): Arbitrary<string> {
  const options = [...types.values()].flatMap(({ type, sample }) => [
    { type, ...sample },
    ...Object.values(DEVICE_VARIANTS[type] ?? {}).map((variant) => ({ type, ...variant })),
  ])
  const device = fc.record(
    {
      id: fc.oneof({ weight: 29, arbitrary: fc.stringMatching(/^[a-z]{4,8}$/) }, fc.string({ maxLength: 5 })),
      is: fc.constantFrom(...options),
      port: fc.oneof(
        { weight: 15, arbitrary: fc.constant({ path: 'simulated' }) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('bus1', 'nowhere', { path: '/dev/ttyUSB0', baudRate: 9600 }, {}),
        },
      ),
      poll: mostly(['off', '30s', '10ms', '1h'], ['0s', 7]),
      enabled: fc.boolean(),
      retries: mostly([0], [1, 2, -1]),
      timeoutMs: mostly([100, 5_000], [0]),
    },
    { requiredKeys: ['id', 'is', 'port'] },
  )
  const file = fc.record(
    {
      ports: fc.constantFrom(
        { bus1: { path: 'simulated' } },
        { bus1: { path: '/dev/ttyS0', parity: 'even' } },
      ),
      devices: fc
        .array(device, { maxLength: 4 })
        .map((list) => list.map(({ is, ...rest }) => ({ ...is, ...rest }))),
      never: fc.array(fc.record({ tool: fc.constantFrom('*__set_*', 'a', '**'), minimumGapMs: fc.nat() }), {
        maxLength: 2,
      }),
      scheduler: fc.constantFrom({ policy: 'resource' }, { queueLength: 1 }),
    },
    { requiredKeys: ['ports'] },
  )
  return file.map((data) => stringify(data))
}

export async function configurations(): Promise<readonly FuzzProperty[]> {
  const types = await loadCatalogue()
  const known = configurableTypes(types)
  const bytes = mutated([Buffer.from(EXAMPLE)]).map((one) => Buffer.from(one).toString('utf8'))
  const changes = fc.array(lineChange(), { minLength: 1, maxLength: 4 })
  const edited = fc
    .tuple(changes, fc.constantFrom(...ENCODINGS))
    .map(([list, encode]) =>
      encode(list.reduce((lines, make) => make(lines), EXAMPLE.split('\n')).join('\n')),
    )
  const property = (name: string, text: Arbitrary<string>, runs: number): FuzzProperty => {
    const checked = fc.asyncProperty(text, async (one) => {
      const configuration = check(one, known)
      if (configuration) await checkGateway(configuration, types)
    })
    return { name: `configuration: ${name}`, runs, check: (given) => fc.assert(checked, given) }
  }
  return [
    property('bytes of the example changed', bytes, 40),
    property('lines of the example changed', edited, 80),
    property('devices of every type', generated(types), 20),
    property('made to cost', costly(), 40),
  ]
}
