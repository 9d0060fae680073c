import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_DEPTH_MAX } from '../../../src/limits.ts'
import { readJson } from '../../../src/transport/http/json-reader.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const read = (text: string) => readJson(bytes(text), JSON_DEPTH_MAX)
const faultsOf = (text: string) => {
  const reading = read(text)
  return 'faults' in reading ? reading.faults : []
}
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** JSON text of any shape, written with any white space and with names and strings escaped at will. */
const jsonText = fc.json({ maxDepth: 5 })

describe('the JSON reader', () => {
  it('reads what a plain JSON parser reads, to the same value', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        fc.pre(!/__proto__|constructor/.test(text))
        const reading = read(text)
        expect(reading).toEqual({ value: JSON.parse(text) })
      }),
    )
  })

  it('never takes a text that a plain JSON parser refuses, and names a place in it', () => {
    const spoiled = fc.tuple(
      jsonText,
      fc.nat(),
      fc.constantFrom(...'{}[]",:\\0eE+-.tfn\n\u0001 '),
      fc.boolean(),
    )
    fc.assert(
      fc.property(spoiled, ([text, at, character, inserted]) => {
        const place = at % (text.length + 1)
        const changed = text.slice(0, place) + character + text.slice(inserted ? place : place + 1)
        let parses = true
        try {
          JSON.parse(changed)
        } catch {
          parses = false
        }
        fc.pre(!parses)
        const faults = faultsOf(changed)
        expect(faults.length).toBeGreaterThan(0)
        expect(faults.at(-1)?.message).toMatch(/^line \d+, column \d+: /)
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['', 'line 1, column 1: the body is empty'],
    ['  ', 'line 1, column 3: the body is empty'],
    ['\ufeff{}', 'line 1, column 1: expected a value'],
    ['{"a":1,}', 'line 1, column 8: expected a name in double quotes'],
    ['{\n  "a" 1}', 'line 2, column 7: expected ":"'],
    ['[1 2]', 'line 1, column 4: expected "," or "]"'],
    ['{"a":1', 'line 1, column 7: expected "," or "}"'],
    ['01', 'line 1, column 2: expected the end of the body'],
    ['NaN', 'line 1, column 1: expected a value'],
    ["'a'", 'line 1, column 1: expected a value'],
    ['"a\tb"', 'line 1, column 3: a control character in a string has to be escaped'],
    ['"a\\x"', 'line 1, column 3: not an escape of JSON'],
    ['"\\u12g4"', 'line 1, column 2: not an escape of JSON'],
    ['"abc', 'line 1, column 5: the string does not end'],
    ['{} {}', 'line 1, column 4: expected the end of the body'],
  ])('says where %j is wrong', (text, message) => {
    expect(faultsOf(text)).toEqual([{ field: expect.any(String), message }])
  })

  it('refuses a name that is given twice, also when one of the two is written with escapes', () => {
    expect(faultsOf('{"calls":[{"name":"a","n\\u0061me":"b"}]}')).toEqual([
      { field: '/calls/0/name', message: 'line 1, column 23: the name is given twice' },
    ])
  })

  it('takes the same name in different objects', () => {
    expect(read('[{"a":1},{"a":{"a":2}}]')).toEqual({ value: [{ a: 1 }, { a: { a: 2 } }] })
  })

  it('refuses numbers that a double would bend', () => {
    expect(faultsOf('[9007199254740993,1e999,-10000000000000000000000]').map(({ field }) => field)).toEqual([
      '/0',
      '/1',
      '/2',
    ])
    expect(read('[9007199254740992,-123456789012345680000,1e21,0.1,-0.0]')).toHaveProperty('value')
  })

  it('refuses half a surrogate pair and takes a whole one', () => {
    expect(faultsOf('{"a":"\\ud83d"}')).toEqual([
      { field: '/a', message: 'line 1, column 6: half of a surrogate pair' },
    ])
    expect(read('"\\ud83d\\ude00"')).toEqual({ value: '😀' })
  })

  it('refuses bytes that are no UTF-8', () => {
    expect(readJson(Uint8Array.of(0x22, 0xff, 0x22), JSON_DEPTH_MAX)).toEqual({
      faults: [{ field: '', message: 'the body is not UTF-8' }],
    })
  })

  it.each(['__proto__', 'constructor', '__pr\\u006fto__'])('refuses the name %s at any depth', (name) => {
    expect(faultsOf(`{"context":{"${name}":{"a":1}}}`)).toEqual([
      { field: `/context/${name.replace('\\u006f', 'o')}`, message: expect.stringContaining('not allowed') },
    ])
  })

  it('takes the deepest nesting that is allowed and refuses one level more', () => {
    expect(read(nested(JSON_DEPTH_MAX))).toHaveProperty('value')
    const [fault, ...others] = faultsOf(nested(JSON_DEPTH_MAX + 1))
    expect(fault?.message).toBe(`line 1, column ${JSON_DEPTH_MAX + 1}: nested deeper than ${JSON_DEPTH_MAX}`)
    expect(others).toEqual([])
  })

  it('ends at a body of nothing but open brackets without growing the stack', () => {
    expect(faultsOf('['.repeat(500_000))).toHaveLength(1)
  })

  it('names every fault in the order of the text, its pointer escaped', () => {
    expect(faultsOf('{"a/b":1e999,\n"a~c":{"constructor":1},"a/b":2}')).toEqual([
      { field: '/a~1b', message: 'line 1, column 8: the number is too large' },
      { field: '/a~0c/constructor', message: 'line 2, column 8: this name is not allowed' },
      { field: '/a~1b', message: 'line 2, column 25: the name is given twice' },
    ])
  })

  it('lists a hundred faults of a body that has thousands, and says that there are more', () => {
    const faults = faultsOf(`[${'1e999,'.repeat(5_000)}0]`)
    expect(faults).toHaveLength(101)
    expect(faults.at(-1)).toEqual({ field: '', message: 'further faults are not listed' })
  })
})
