import { describe, expect, it } from 'vitest'
import { plausible } from '../../src/driver/reading-bounds.ts'

const READINGS = { level: { min: 0, max: 100 }, total: { max: 1_000 }, delta: { min: -5 }, mode: {} }

describe('a decoded value', () => {
  it('is what it is within the bounds of its reading, the bounds themselves among them', () => {
    for (const value of [{ level: 0 }, { level: 100 }, { total: -1e9 }, { delta: 1e9 }, { mode: 1e9 }]) {
      expect(plausible(value, READINGS)).toEqual(value)
    }
  })

  it('is null outside of them, and everything beside it stays', () => {
    expect(plausible({ level: 100.1, total: 5, other: 9_999 }, READINGS)).toEqual({
      level: null,
      total: 5,
      other: 9_999,
    })
    expect(plausible({ level: -1, total: 1_001, delta: -6 }, READINGS)).toEqual({
      level: null,
      total: null,
      delta: null,
    })
  })

  it('is null where it is no number at all, bounds or not', () => {
    expect(plausible({ level: Number.NaN, mode: Number.POSITIVE_INFINITY }, READINGS)).toEqual({
      level: null,
      mode: null,
    })
  })

  it('is compared as a number also where it is a whole number too long for one', () => {
    expect(plausible({ total: '18446744073709551615' }, READINGS)).toEqual({ total: null })
    expect(plausible({ delta: '18446744073709551615' }, READINGS)).toEqual({ delta: '18446744073709551615' })
  })

  it('is left alone where it is no number or no reading', () => {
    const value = { level: 'high', mode: true, total: null, constructor: 5 }
    expect(plausible(value, READINGS)).toBe(value)
    for (const whole of [null, undefined, 7, 'text', [101]]) expect(plausible(whole, READINGS)).toBe(whole)
  })

  it('is not changed where it stands: whoever made it may still hold it', () => {
    const value = Object.freeze({ level: 101 })
    expect(plausible(value, READINGS)).toEqual({ level: null })
    expect(value.level).toBe(101)
  })
})
