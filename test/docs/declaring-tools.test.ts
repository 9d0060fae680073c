/** The worked examples of docs/declaring-tools.md come out of the scheduler as the page says. */
import { describe, expect, it } from 'vitest'
import type { Claim, Declaration, Policy } from '../../src/scheduler/declaration.ts'
import { partition } from '../../src/scheduler/policies.ts'
import { page, tableBelow } from './pages.ts'

const PATH = 'docs/declaring-tools.md'
const rows = tableBelow(PATH, 'Worked examples').map((cells) => cells.map((cell) => cell.replaceAll('`', '')))

/** "a(parallelSafe), b(serial, bus1)": names with what is declared; a bus is an exclusive claim on a port. */
function callsOf(text: string): { name: string; declaration: Declaration }[] {
  return Array.from(text.matchAll(/(\w+)\(([^)]*)\)/g), ([, name = '', said = '']) => {
    const words = said.split(', ').filter((word) => word !== '')
    const claims: Claim[] = words
      .filter((word) => word.startsWith('bus'))
      .map((bus) => ({ resource: `port:${bus}`, mode: 'exclusive' }))
    const isKnown = (word: string) => ['parallelSafe', 'serial'].includes(word) || word.startsWith('bus')
    expect(words.filter((word) => !isKnown(word))).toEqual([])
    return {
      name,
      declaration: {
        claims,
        ...(words.includes('serial') && { serial: true }),
        ...(words.includes('parallelSafe') && { parallelSafe: true }),
      },
    }
  })
}

function policyOf(text: string | undefined): Policy {
  if (text === 'partition' || text === 'batch' || text === 'resource') return text
  throw new Error(`${text} is no policy`)
}

describe('the worked examples', () => {
  it('are of all three policies', () => {
    expect(new Set(rows.map(([policy]) => policy))).toEqual(new Set(['partition', 'batch', 'resource']))
  })

  it.each(rows)('%s: %s run as %s', (policy, given = '', expected) => {
    const calls = callsOf(given)
    const declarations = new Map(calls.map(({ name, declaration }) => [name, declaration]))
    const groups = partition(calls, (name) => declarations.get(name), policyOf(policy))
    expect(groups.map((group) => `[${group.map(({ name }) => name).join(', ')}]`).join(' ')).toBe(expected)
  })
})

describe('the figures', () => {
  const figures = tableBelow(PATH, 'Figures')

  it('say of every row how many calls were executed, and that it was all of them', () => {
    expect(figures.length).toBeGreaterThan(3)
    for (const [figure, , , executed = '', frames] of figures) {
      const [, ran, asked] = /^([0-9]+) of ([0-9]+)$/.exec(executed) ?? []
      expect(ran, figure).toBeDefined()
      expect(ran, figure).toBe(asked)
      expect(Number(frames), figure).toBeGreaterThan(0)
    }
  })

  it('have the two controls, and the command that made them', () => {
    expect(figures.filter(([figure]) => figure?.includes('(control)'))).toHaveLength(2)
    expect(page(PATH).text).toContain('`npm run bench`')
  })
})
