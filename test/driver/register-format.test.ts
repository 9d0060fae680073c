import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeRegisters,
  encodeRegisters,
  type RegisterFormat,
  type RegisterMeaning,
  rangeOf,
  registersOf,
} from '../../src/driver/register-format.ts'

describe('registers', () => {
  test.each<[string, RegisterMeaning, number[], unknown]>([
    // Eastron's manual: 230.2 V; a value of a capture in esphome issue 3912: 236.494 V.
    ['a float32, the high word first', { format: 'float32', precision: 1 }, [0x4366, 0x3334], 230.2],
    ['a float32 of a capture', { format: 'float32', precision: 3 }, [0x436c, 0x7e6e], 236.494],
    ['a float32 as exact as it is', { format: 'float32' }, [0x4366, 0x3334], 230.20001],
    ['a float32 in the shortest form', { format: 'float32' }, [0x4366, 0x3333], 230.2],
    [
      'a float32 with the low word first',
      { format: 'float32', wordOrder: 'little' },
      [0x3333, 0x4366],
      230.2,
    ],
    ['a float32 of zero, which is a value', { format: 'float32' }, [0, 0], 0],
    ['not a number', { format: 'float32' }, [0x7fc0, 0], null],
    ['infinity', { format: 'float32' }, [0x7f80, 0], null],
    ['a float32 that is scaled', { format: 'float32', scale: 0.001 }, [0x4366, 0x3333], 0.2302],
    ['a float64', { format: 'float64' }, [0x400c, 0xcccc, 0xcccc, 0xcccd], 3.6],
    ['a uint16', { format: 'uint16' }, [0xffff], 65_535],
    ['an int16', { format: 'int16' }, [0xffff], -1],
    ['a scaled int16', { format: 'int16', scale: 0.1 }, [3], 0.3],
    ['a scaled and shifted one', { format: 'int16', scale: 0.1, offset: -40 }, [625], 22.5],
    ['a negative zero', { format: 'int16', scale: -0.1 }, [0], 0],
    ['a scale in scientific notation', { format: 'uint16', scale: 1e-7 }, [3], 3e-7],
    // A PZEM-004T, capture in esphome/feature-requests issue 49: current and energy, low word first.
    ['a current', { format: 'uint32', wordOrder: 'little', scale: 0.001 }, [0x006c, 0x0000], 0.108],
    ['an energy', { format: 'uint32', wordOrder: 'little' }, [0x0026, 0x0000], 38],
    ['the same current with the wrong word order', { format: 'uint32', scale: 0.001 }, [0x006c, 0], 7077.888],
    ['an int32', { format: 'int32' }, [0xffff, 0xfffe], -2],
    ['a uint64', { format: 'uint64' }, [0, 0, 1, 0], 65_536],
    [
      'the last uint64 that a number holds',
      { format: 'uint64' },
      [0x1f, 0xffff, 0xffff, 0xffff],
      2 ** 53 - 1,
    ],
    ['a larger one', { format: 'uint64' }, [0x20, 0, 0, 1], '9007199254740993'],
    ['an int64', { format: 'int64' }, [0xffff, 0xffff, 0xffff, 0xffff], -1],
    ['a smaller one', { format: 'int64' }, [0x8000, 0, 0, 0], '-9223372036854775808'],
    ['a larger one that is scaled', { format: 'uint64', scale: 0.5 }, [0x20, 0, 0, 0], 2 ** 52],
    ['a text', { format: 'string', length: 3 }, [0x5344, 0x4d36, 0x3300], 'SDM63'],
    ['a padded text', { format: 'string', length: 2 }, [0x4142, 0x2020], 'AB'],
    ['a bit that is set', { format: 'bit', bit: 15 }, [0x8000], true],
    ['a bit that is not', { format: 'bit', bit: 0 }, [0xfffe], false],
    ['a name', { format: 'uint16', enum: { 0: 'off', 2: 'hot_water' } }, [2], 'hot_water'],
    ['a number without a name', { format: 'uint16', enum: { 0: 'off' } }, [7], null],
    ['a negative number with a name', { format: 'int16', enum: { '-1': 'fault' } }, [0xffff], 'fault'],
  ])('%s', (_, meaning, words, value) => {
    expect(decodeRegisters(meaning, words)).toBe(value)
  })

  test('that are missing count as zero: decoding has no exceptions', () => {
    expect(decodeRegisters({ format: 'uint32' }, [])).toBe(0)
    expect(decodeRegisters({ format: 'string', length: 2 }, [0xfffe])).toBeTypeOf('string')
  })
})

describe('a value', () => {
  test.each<[string, RegisterMeaning, number | string, number[]]>([
    ['scaled back', { format: 'int16', scale: 0.1 }, 21.5, [215]],
    ['scaled back, shifted', { format: 'int16', scale: 0.1, offset: -40 }, 22.5, [625]],
    ['negative', { format: 'int16', scale: 0.1 }, -0.3, [0xfffd]],
    ['of two registers', { format: 'uint32' }, 70_000, [1, 0x1170]],
    ['of two registers, the low word first', { format: 'uint32', wordOrder: 'little' }, 70_000, [0x1170, 1]],
    ['of four registers', { format: 'int64' }, -2, [0xffff, 0xffff, 0xffff, 0xfffe]],
    ['a float', { format: 'float32' }, 230.2, [0x4366, 0x3333]],
    ['a name', { format: 'uint16', enum: { 0: 'off', 1: 'heating' } }, 'heating', [1]],
    ['a text', { format: 'string', length: 2 }, 'abc', [0x6162, 0x6300]],
  ])('is written %s', (_, meaning, value, words) => {
    expect(encodeRegisters(meaning, value)).toEqual({ words })
  })

  test.each<[string, RegisterMeaning, number | string]>([
    ['between two steps', { format: 'int16', scale: 0.1 }, 21.53],
    ['a fraction', { format: 'uint16' }, 0.5],
    ['too large', { format: 'uint16' }, 65_536],
    ['too small', { format: 'uint16' }, -1],
    ['too large once scaled', { format: 'int16', scale: 0.01 }, 400],
    ['beyond what a number holds exactly', { format: 'uint64' }, 2 ** 53],
    ['too large for its float', { format: 'float32' }, 1e39],
    ['without a number', { format: 'uint16', enum: { 0: 'off' } }, 'on'],
    ['a text that is too long', { format: 'string', length: 1 }, 'abc'],
    ['one bit', { format: 'bit', bit: 3 }, 1],
  ])('is not written that is %s', (_, meaning, value) => {
    expect(encodeRegisters(meaning, value)).toHaveProperty('fault')
  })
})

const formats: readonly RegisterFormat[] = ['uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64']
const meaning = fc.record({
  format: fc.constantFrom(...formats),
  wordOrder: fc.constantFrom('big' as const, 'little' as const),
  scale: fc.constantFrom(1, 0.1, 0.01, 0.5, 10, -1, 0.001),
  offset: fc.constantFrom(0, -40, 0.5),
})

test('what is read can be written back, and reads the same', () => {
  const words = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(meaning, words, (given, registers) => {
      const own = registers.slice(0, registersOf(given))
      // Beyond 2^53 a scaled number is no longer exact.
      if (registersOf(given) === 4) own[given.wordOrder === 'big' ? 0 : 3] = 0
      const value = decodeRegisters(given, own)
      if (typeof value !== 'number' || Math.abs(value) > 2 ** 45) return
      const range = rangeOf(given)
      expect(value).toBeGreaterThanOrEqual(range?.min ?? Number.NaN)
      expect(value).toBeLessThanOrEqual(range?.max ?? Number.NaN)
      expect(String(value)).not.toMatch(/\.\d*(00000\d|99999\d)/)
      expect(encodeRegisters(given, value)).toEqual({ words: own })
    }),
    { numRuns: 2000 },
  )
})

test('decoding any registers by any meaning gives a value that JSON can hold', () => {
  const any = fc.record({
    format: fc.constantFrom(
      ...formats,
      'float32' as const,
      'float64' as const,
      'string' as const,
      'bit' as const,
    ),
    wordOrder: fc.constantFrom('big' as const, 'little' as const),
    length: fc.constant(2),
    bit: fc.integer({ min: 0, max: 15 }),
    scale: fc.constantFrom(1, 0.1, 1e300),
  })
  fc.assert(
    fc.property(any, fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 }), (given, words) => {
      const value = decodeRegisters(given, words)
      expect(value === null || ['number', 'string', 'boolean'].includes(typeof value)).toBe(true)
      if (typeof value === 'number') expect(Number.isFinite(value) && !Object.is(value, -0)).toBe(true)
    }),
  )
})
