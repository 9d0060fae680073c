import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearestName } from '../../src/config/near-names.ts'
import { idLike, isId, parseDuration, parseSize, wordsOf } from '../../src/config/notation.ts'

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['1m', 60_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['999999999d', 999_999_999 * 86_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    '',
    '0s',
    '10',
    's',
    '1.5h',
    '-1s',
    '+1s',
    '01s',
    '1 s',
    '1S',
    '1min',
    '1w',
    '1s1',
    'forever',
    '9999999999s',
  ])('is not %j', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})

describe('a size', () => {
  it.each([
    ['64kB', 64_000],
    ['500MB', 500_000_000],
    ['2GB', 2_000_000_000],
    ['1TB', 1_000_000_000_000],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  it.each(['', '0GB', '2', '2gb', '2GiB', '2 GB', '1.5GB'])('is not %j', (text) => {
    expect(parseSize(text)).toBeUndefined()
  })
})

describe('an id', () => {
  it.each(['a', 'a1', 'office_co2', 'a_1_b', 'x'.repeat(31)])('may be %s', (id) => {
    expect(isId(id)).toBe(true)
  })

  it.each(['', '1a', '_a', 'a_', 'a__b', 'A', 'a-b', 'ä', 'a b', 'a\n', 'x'.repeat(32)])(
    'is not %j',
    (id) => {
      expect(isId(id)).toBe(false)
    },
  )

  it('is suggested for a name only where the suggestion is one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), (name) => {
        const id = idLike(name)
        expect(id === undefined || isId(id)).toBe(true)
      }),
    )
  })

  it.each([
    ['Büro CO2', 'buro_co2'],
    ['2nd-floor', 'nd_floor'],
    ['CO₂', 'co2'],
    ['日本', undefined],
  ])('that %s could mean is %s', (name, id) => {
    expect(idLike(name)).toBe(id)
  })

  it('is shown in words', () => {
    expect(wordsOf('heat_pump_meter')).toBe('Heat pump meter')
  })
})

describe('the nearest name', () => {
  const keys = ['baudRate', 'dataBits', 'stopBits', 'parity', 'rtscts', 'path', 'poll', 'port']

  it.each([
    ['baudrate', 'baudRate'],
    ['buadRate', 'baudRate'],
    ['databit', 'dataBits'],
    ['pol', 'poll'],
    ['prot', 'port'],
    ['baud', 'baudRate'],
  ])('to %s is %s', (name, nearest) => {
    expect(nearestName(name, keys)).toBe(nearest)
  })

  it.each(['', 'x', 'speed', 'bd', 'p'.repeat(65)])('to %j is none', (name) => {
    expect(nearestName(name, keys)).toBeUndefined()
  })

  it('is found among the first 200 only, so that many names stay cheap', () => {
    const many = Array.from({ length: 200 }, (_, index) => `other_name_${index}`)
    expect(nearestName('pol', [...many.slice(1), 'poll'])).toBe('poll')
    expect(nearestName('pol', [...many, 'poll'])).toBeUndefined()
  })
})
