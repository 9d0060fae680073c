import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namePattern } from '../../src/tool/name-pattern.ts'

describe('a pattern of names', () => {
  it.each([
    ['pump__*', 'pump__set', true],
    ['pump__*', 'pumps__set', false],
    ['*__toggle', 'a__toggle', true],
    ['*__toggle', 'a__toggle_all', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['aa*aa', 'aaa', false],
    ['*', '', true],
    ['pump', 'pump', true],
    ['pump', 'pumps', false],
  ])('%s of %s is %s', (pattern, name, expected) => {
    expect(namePattern(pattern)(name)).toBe(expected)
  })

  it('agrees with the same pattern as a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), text, (parts, name) => {
        const expected = new RegExp(`^${parts.join('.*')}$`).test(name)
        expect(namePattern(parts.join('*'))(name)).toBe(expected)
      }),
    )
  })

  it('costs no more for a pattern that a regular expression would never finish', () => {
    const pattern = `${'*a'.repeat(30)}*zz`
    expect(namePattern(pattern)('a'.repeat(64))).toBe(false)
  })
})
