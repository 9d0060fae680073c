import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/tool/nearest.ts'

const KNOWN = [
  'office_co2__read_co2',
  'office_co2__calibrate_zero',
  'boiler__read_zero',
  'boiler__set_pump',
  'mode',
]

/** Levenshtein's distance by its definition, without any shortcut. */
function distance(one: string, other: string): number {
  const known = new Map<string, number>()
  const from = (i: number, j: number): number => {
    const key = `${i},${j}`
    const before = known.get(key)
    if (before !== undefined) return before
    const rest =
      i === one.length
        ? other.length - j
        : j === other.length
          ? one.length - i
          : Math.min(
              from(i + 1, j) + 1,
              from(i, j + 1) + 1,
              from(i + 1, j + 1) + (one[i] === other[j] ? 0 : 1),
            )
    known.set(key, rest)
    return rest
  }
  return from(0, 0)
}

describe('the names that may have been meant', () => {
  it('are those a few typing mistakes away, whatever the case', () => {
    expect(nearest('office_co2_read_co2', KNOWN)).toEqual(['office_co2__read_co2'])
    expect(nearest('Boiler__Read_Zero', KNOWN)).toEqual(['boiler__read_zero'])
    expect(nearest('mod', KNOWN)).toEqual(['mode'])
  })

  it('are none where nothing is near', () => {
    expect(nearest('restart_everything', KNOWN)).toEqual([])
    expect(nearest('', KNOWN)).toEqual([])
    expect(nearest('on', ['up'])).toEqual([])
  })

  it('are three at most, the nearest first', () => {
    const known = ['relay_1000', 'relay_1234', 'relay_1230', 'relay_1204', 'relay_9999']
    expect(nearest('relay_1234x', known)).toEqual(['relay_1234', 'relay_1204', 'relay_1230'])
  })

  it('are those of at most three changes, and of no more than half the name', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })
    fc.assert(
      fc.property(letters, letters, (name, candidate) => {
        const changes = distance(name, candidate)
        const isNear = changes <= 3 && changes <= Math.floor(candidate.length / 2)
        expect(nearest(name, [candidate])).toEqual(isNear ? [candidate] : [])
      }),
      { numRuns: 500 },
    )
  })

  it('are not looked for where the name is no name', () => {
    const long = 'x'.repeat(129)
    expect(nearest(long, [long])).toEqual([])
    expect(nearest('x'.repeat(128), ['x'.repeat(128)])).toHaveLength(1)
  })
})
