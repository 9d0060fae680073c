/** Whatever is given: a configuration or faults, never an exception; and every fault has a place in the text. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConfiguration, validateConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

const EXAMPLE = readFileSync(join(import.meta.dirname, '../../baudway.example.yaml'), 'utf8')

function checkText(text: string): void {
  const { configuration, faults, warnings } = parseConfiguration(text, 'f', fakeTypes)
  expect(configuration === undefined).toBe(faults.length > 0)
  const lines = text.replace(/^\ufeff/, '').split('\n')
  for (const { file, line, column, message } of [...faults, ...warnings]) {
    expect(file).toBe('f')
    expect(message).not.toBe('')
    const text = lines[line - 1]
    expect(text, `line ${line} of ${lines.length}`).toBeDefined()
    expect(column).toBeGreaterThanOrEqual(1)
    expect(column, `column of line ${line}`).toBeLessThanOrEqual((text ?? '').length + 1)
  }
  const printed = faults.map(({ line, column, message }) => `${line}:${column}: ${message}`)
  expect(new Set(printed).size, 'each fault once').toBe(printed.length)
}

const words = [
  ...['http', 'ports', 'devices', 'never', 'mqtt', 'id', 'type', 'port', 'path', 'poll', 'address', 'stop'],
  ...['meter', 'co2', 'text', 'tools', 'bus1', 'simulated', '9600', '10s', '"', "'", '&a', '*a', '!t', '<<'],
  ...[
    '\n',
    '\n  ',
    '\n- ',
    '\n  - ',
    '\r\n',
    '\t',
    ' ',
    ': ',
    ', ',
    '{',
    '}',
    '[',
    ']',
    '? ',
    '- ',
    '#',
    '|',
  ],
  ...['>', '%', '@', '`', '---\n', '...\n', '\ufeff', '\u0000', '\u2028', 'é', '🏠', '\ud800', '__proto__'],
]

describe('any text', { timeout: 3_000_000 }, () => {
  it('of any characters gives faults with places', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), checkText), { numRuns: 12000 })
  })

  it('of the words and marks of YAML gives faults with places', () => {
    const text = fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(fc.property(text, checkText), { numRuns: 12000 })
  })

  it('near to a good one gives faults with places', () => {
    const edit = fc.record({
      at: fc.nat(EXAMPLE.length),
      removed: fc.nat(30),
      added: fc.array(fc.constantFrom(...words), { maxLength: 3 }).map((parts) => parts.join('')),
    })
    const text = fc
      .array(edit, { minLength: 1, maxLength: 4 })
      .map((edits) =>
        edits.reduce(
          (changed, { at, removed, added }) => changed.slice(0, at) + added + changed.slice(at + removed),
          EXAMPLE,
        ),
      )
    fc.assert(fc.property(text, checkText), { numRuns: 12000 })
  })
})

describe('any value', { timeout: 3_000_000 }, () => {
  function checkValue(value: unknown): void {
    const { configuration, faults } = validateConfiguration(value, fakeTypes)
    expect(configuration === undefined).toBe(faults.length > 0)
    for (const { pointer } of faults) expect(pointer).toMatch(/^(\/.*)?$/su)
  }

  it('gives faults or a configuration', () => {
    const value = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
    fc.assert(fc.property(value, checkValue), { numRuns: 12000 })
  })

  it('in the shape of a configuration gives faults or a configuration', () => {
    const leaf = fc.oneof(fc.constantFrom(...words, 1, 0, -1, 1.5, true, null), fc.anything({ maxDepth: 1 }))
    const mapping = (keys: readonly string[]) =>
      fc.dictionary(fc.constantFrom(...keys), leaf, { noNullPrototype: true })
    const device = mapping([
      'id',
      'type',
      'port',
      'poll',
      'stop',
      'retries',
      'address',
      'tools',
      'enabled',
      'x',
    ])
    const port = mapping(['path', 'baudRate', 'echo', 'x'])
    const value = fc.record(
      {
        http: fc.oneof(leaf, mapping(['host', 'port', 'allowedHosts'])),
        ports: fc.oneof(leaf, fc.dictionary(fc.constantFrom('bus1', 'Bus', '__proto__', 'a'), port)),
        devices: fc.oneof(leaf, fc.array(fc.oneof(leaf, device), { maxLength: 5 })),
        never: fc.oneof(leaf, fc.array(mapping(['tool', 'minimumGapMs']))),
        mqtt: fc.oneof(leaf, mapping(['url', 'password'])),
      },
      { requiredKeys: [] },
    )
    fc.assert(fc.property(value, checkValue), { numRuns: 12000 })
  })
})
