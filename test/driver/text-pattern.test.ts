import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasShape } from '../../src/driver/exchange.ts'
import { patternsOverlap } from '../../src/driver/pattern-overlap.ts'
import { readPattern, type TextPattern, textOf, usablePattern } from '../../src/driver/text-pattern.ts'
import { sampleText } from '../../src/driver/text-sample.ts'
import { ANY_SHAPE, startsWith } from '../../src/port/reply.ts'

const groupsOf = (source: string, text: string, bindings = {}) =>
  usablePattern(source).bind(bindings).match(text)

describe('a pattern', () => {
  test.each<[string, string, Record<string, string> | undefined]>([
    ['^MV(?<volume>[0-9]+)$', 'MV80', { volume: '80' }],
    ['^MV(?<volume>[0-9]+)$', 'MVMAX 98', undefined],
    ['^PW(?<power>ON|STANDBY)$', 'PWSTANDBY', { power: 'STANDBY' }],
    ['^(?<key>\\w+)=(?<value>.*)$', 'a_1=x = y', { key: 'a_1', value: 'x = y' }],
    ['volume', 'the volume is up', {}],
    ['^\\((?<volts>[0-9.]{5}) ', '(226.0 195.0', { volts: '226.0' }],
    ['^T(?:emp)?:? *(?<t>-?\\d+\\.?\\d*)', 'T: -4.5C', { t: '-4.5' }],
    ['^[^,]*,(?<second>[^,]*),', 'a,b,c', { second: 'b' }],
    ['^\\x41\\t$', 'A\t', {}],
    ['^(?<a>x)|(?<b>y)$', 'zy', { b: 'y' }],
    ['^a{2}b{1,}c{0,2}$', 'aabbb', {}],
    ['^"(?<text>.*?)"', '"a"b"', { text: 'a' }],
    ['^{$', '{', {}],
  ])('%s in %j', (source, text, groups) => {
    expect(groupsOf(source, text)).toEqual(groups)
  })

  test('names its groups, and those that take part in every match', () => {
    const pattern = usablePattern('^(?<a>x)(?<b>y)?(?:(?<c>1)|(?<d>2))(?<e>z)+$')
    expect(pattern.groups).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect([...pattern.certainGroups]).toEqual(['a', 'e'])
  })

  test('takes the text of an argument literally', () => {
    expect(groupsOf('^MV{level}$', 'MV5', { level: '5' })).toEqual({})
    expect(groupsOf('^MV{level}$', 'MV50', { level: '5' })).toBeUndefined()
    expect(groupsOf('^SET {name}!$', 'SET a.b*(c!', { name: 'a.b*(c' })).toEqual({})
    expect(groupsOf('^SET {name}!$', 'SET aXb*(c!', { name: 'a.b*(c' })).toBeUndefined()
    expect(groupsOf('^{a}{b}$', '{b}x', { a: '{b}', b: 'x' })).toEqual({})
  })

  test('reads bytes that are no text leniently', () => {
    expect(groupsOf('^T=(?<t>\\d+)', textOf(Uint8Array.from([0x54, 0x3d, 0x35, 0xb3, 0xff])))).toEqual({
      t: '5',
    })
  })
})

describe('a pattern is refused that', () => {
  test.each([
    ['repeats a repetition', '^(a+)+$'],
    ['repeats a repetition of anything', '^(.*)*$'],
    ['repeats alternatives that begin alike', '^(a|a)*$'],
    ['repeats alternatives of which one begins the other', '^(a|aa)+$'],
    ['repeats a repetition that borders on itself', '^([a-z]+[0-9]*)+$'],
    ['repeats a choice', '^(x?x)*$'],
    ['repeats a repetition a counted number of times', '^(a+){20}$'],
    ['has three repetitions that border on each other', '^.*.*.*x$'],
    ['has them without an anchor', '.*,.*,x'],
    ['has many optional parts that border on each other', `^${'a?'.repeat(25)}${'a'.repeat(25)}$`],
  ])('%s', (_, source) => {
    expect(readPattern(source)).toHaveProperty('fault', expect.stringContaining('backtrack without bound'))
  })

  test.each([
    ['refers back', '^(a)\\1$'],
    ['refers back by name', '^(?<a>x)\\k<a>$'],
    ['looks ahead', '^(?=a)b'],
    ['looks behind', '(?<=a)b'],
    ['has flags', '(?i:a)'],
    ['is not closed', '^(a'],
    ['closes too much', '^a)'],
    ['has an open class', '[a-'],
    ['has a range backwards', '[z-a]'],
    ['repeats nothing', '*a'],
    ['repeats a position', '^*'],
    ['repeats twice', 'a**'],
    ['counts backwards', 'a{3,1}'],
    ['counts too far', 'a{5000}'],
    ['ends in the middle', 'a\\'],
    ['escapes a letter that means nothing', '\\y'],
    ['uses a name twice', '(?<a>x)(?<a>y)'],
  ])('%s', (_, source) => {
    expect(readPattern(source)).toHaveProperty('fault')
  })
})

describe('a pattern is taken that', () => {
  test.each([
    ['has one repetition', '^MV(?<volume>[0-9]+)$'],
    ['has two of anything with a sign between', '^(?<key>.*)=(?<value>.*)$'],
    ['has one of anything without an anchor', '=.*x'],
    ['is a list whose items have an end', '^([0-9]+,)*[0-9]+$'],
    ['has alternatives that begin alike, once', '^(ON|OFF|OPEN)$'],
    ['has counted repetitions', '^[0-9]{2}(:[0-9]{2}){2}$'],
  ])('%s', (_, source) => {
    expect(readPattern(source)).toHaveProperty('pattern')
  })

  test('and none of them takes long over a line made to be searched', () => {
    const lines = ['a', ',', '=', '1', ' ', 'a,', 'a=1,'].map((part) => part.repeat(1024).slice(0, 1023))
    const sources = [
      '^(.*),(.*)!$',
      '^.*=.*=x$',
      'a.*!',
      '^(?:[a-z]=[0-9],)*!$',
      '^(?<a>[^,]*),(?<b>[^,]*)!$',
    ]
    const start = performance.now()
    for (const source of sources) {
      const bound = usablePattern(source).bind({})
      for (const line of lines) expect(bound.match(line)).toBeUndefined()
    }
    expect(performance.now() - start).toBeLessThan(3000)
  })
})

describe('the shape of a pattern', () => {
  test.each([
    ['^MV(?<volume>[0-9]+)$', startsWith(Buffer.from('MV'))],
    ['^OK$', startsWith(Buffer.from('OK'), 2)],
    ['^$', startsWith([], 0)],
    ['^caf\u00e9!', startsWith(Buffer.from('caf\u00e9!'))],
    ['^OK\\?+', startsWith(Buffer.from('OK'))],
    ['OK$', ANY_SHAPE],
    ['^[A-Z]', ANY_SHAPE],
    ['^OK$|^ERR$', ANY_SHAPE],
    ['^\ufffd', ANY_SHAPE],
  ])('%s', (source, shape) => {
    expect(usablePattern(source).bind({}).shape).toEqual(shape)
  })

  test('holds the text of an argument', () => {
    const pattern = usablePattern('^MV{level}$')
    expect(pattern.bind({ level: '10' }).shape).toEqual(startsWith(Buffer.from('MV10'), 4))
    expect(pattern.bind({ level: '\ud800' }).shape).toEqual(startsWith(Buffer.from('MV')))
  })
})

const atom = fc.constantFrom(
  'A',
  'B',
  '1',
  '[AB]',
  '[^A]',
  '\\d',
  '.',
  '{p}',
  '\u00e9',
  '\\$',
  '(?<g>A|B1)',
  '(?:1|B)',
)
const quantified = fc
  .tuple(atom, fc.constantFrom('', '', '', '?', '+', '*', '{2}'))
  .map((parts) => parts.join(''))
const source = fc
  .tuple(fc.constantFrom('', '^'), fc.array(quantified, { maxLength: 5 }), fc.constantFrom('', '$'))
  .map(([start, atoms, end]) => `${start}${atoms.join('')}${end}`)
const pattern: fc.Arbitrary<TextPattern> = source
  .map((text) => readPattern(text))
  .filter((read) => 'pattern' in read)
  .map((read) => ('pattern' in read ? read.pattern : usablePattern('')))
const line = fc
  .array(fc.constantFrom('A', 'B', '1', '$', '\u00e9', '\ufffd'), { maxLength: 6 })
  .map((characters) => characters.join(''))
const argument = fc.constantFrom('', 'A', '1B', '\u00e9', '\ufffd', '\ud800', '.*')

test('the shape is never narrower than what is matched', () => {
  fc.assert(
    fc.property(
      pattern,
      argument,
      fc.oneof(
        line.map((text) => Buffer.from(text)),
        fc.uint8Array(),
      ),
      (one, p, frame) => {
        const bound = one.bind({ p })
        if (bound.match(textOf(frame)) === undefined) return
        expect(hasShape(frame, bound.shape)).toBe(true)
      },
    ),
    { numRuns: 3000 },
  )
})

test('a sample of a pattern is matched by it', () => {
  fc.assert(
    fc.property(pattern, argument, fc.nat(3), (one, p, choice) => {
      const bindings = { p }
      expect(one.bind(bindings).match(sampleText(one, { bindings, choice }))).toBeDefined()
    }),
  )
})

describe('two patterns', () => {
  test.each([
    ['^AMP', '^MV(?<volume>[0-9]+)$', false],
    ['^AMP', '^(?<text>.*)$', true],
    ['^AMP', '^[A-Z]{3} (?<x>[0-9]+)$', true],
    ['^AMP$', '^[A-Z]{3} (?<x>[0-9]+)$', false],
    ['^OK$', 'OK', true],
    ['OK', 'ERR', true],
    ['^OK', '^ERR', false],
    ['^A{level}$', '^A5$', true],
    ['^[0-9]+$', '^[a-z]+$', false],
    ['^(?:ab)*$', '^(?:abab)+$', true],
    ['^a{3}$', '^a{4}$', false],
    ['^$', '^.+$', false],
  ])('%s and %s: %s', (one, other, overlap) => {
    expect(patternsOverlap(usablePattern(one), usablePattern(other))).toBe(overlap)
    expect(patternsOverlap(usablePattern(other), usablePattern(one))).toBe(overlap)
  })

  test('that do not overlap never match one line both', () => {
    fc.assert(
      fc.property(pattern, pattern, line, argument, (one, other, text, p) => {
        if (patternsOverlap(one, other)) return
        const both = one.bind({ p }).match(text) !== undefined && other.bind({ p }).match(text) !== undefined
        expect(both).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })
})
