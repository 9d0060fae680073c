import { describe, expect, it } from 'vitest'
import { cut, table } from '../../src/cli/table.ts'

const COLUMNS = [{ title: 'N', align: 'right' }, { title: 'NAME' }, { title: 'TEXT', cut: true }] as const

describe('a table', () => {
  it('aligns its columns and leaves no space at the end of a line', () => {
    const rows = [
      ['1', 'short', 'a'],
      ['10', 'a longer one', 'bc'],
    ]
    expect(table(COLUMNS, rows, { colour: false, columns: 80 })).toEqual([
      ' N  NAME          TEXT',
      ' 1  short         a',
      '10  a longer one  bc',
    ])
  })

  it('cuts only the columns that may be cut, to the width of the terminal', () => {
    const rows = [['1', 'n'.repeat(30), 'x'.repeat(300)]]
    const lines = table(COLUMNS, rows, { colour: false, columns: 60 })
    expect(lines[1]).toHaveLength(60)
    expect(lines[1]).toBe(`1  ${'n'.repeat(30)}  ${'x'.repeat(24)}…`)
  })

  it('shares the cut between two long columns', () => {
    const columns = [
      { title: 'A', cut: true },
      { title: 'B', cut: true },
    ]
    const [, line] = table(columns, [['a'.repeat(100), 'b'.repeat(40)]], { colour: false, columns: 80 })
    expect(line).toBe(`${'a'.repeat(38)}…  ${'b'.repeat(38)}…`)
  })

  it('is not cut where nobody looks at it as a screen', () => {
    const screen = { colour: false, columns: Number.POSITIVE_INFINITY }
    expect(table(COLUMNS, [['1', 'n', 'x'.repeat(300)]], screen)[1]).toHaveLength('1  n     '.length + 300)
  })

  it('colours after aligning, and not at all where colour is off', () => {
    const rows = [['1', { text: 'ok', colour: 'green' as const }, 'z']]
    expect(table(COLUMNS, rows, { colour: true, columns: 80 })[1]).toBe('1  \u001b[32mok\u001b[0m    z')
    expect(table(COLUMNS, rows, { colour: false, columns: 80 })[1]).toBe('1  ok    z')
  })

  it('shows no control character of a cell', () => {
    const [, line] = table(COLUMNS, [['1', 'a\u001b[2Jb', 'c\nd']], { colour: false, columns: 80 })
    expect(line).toBe('1  ab    c d')
  })

  it('cuts between characters, not within them', () => {
    expect(cut('😀😀😀', 2)).toBe('😀…')
    expect(cut('abc', 3)).toBe('abc')
  })
})
