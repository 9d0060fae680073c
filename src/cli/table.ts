/** Aligned columns that fit the terminal: where they do not, the columns that may be cut are cut. */
import { printable } from './printable.ts'
import { type Colour, coloured, type Terminal } from './terminal.ts'

export interface Column {
  readonly title: string
  /** Text that may be cut where the line is too long. */
  readonly cut?: boolean
  readonly align?: 'left' | 'right'
}

export type Cell = string | { readonly text: string; readonly colour: Colour | undefined }

type Screen = Pick<Terminal, 'colour' | 'columns'>

const GAP = 2
const CUT_WIDTH_MIN = 8

/** The lines of a table with its titles. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string[] {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: cell, colour: undefined } : cell)),
  )
  const shown = cells.map((row) => row.map((cell) => ({ ...cell, text: printable(cell.text) })))
  const natural = columns.map(({ title }, index) =>
    Math.max(length(title), ...shown.map((row) => length(row[index]?.text ?? ''))),
  )
  const widths = shrink(columns, natural, screen.columns)
  const titles = columns.map(({ title }) => ({ text: title, colour: 'bold' as const }))
  return [titles, ...shown].map((row) =>
    row
      .map((cell, index) => {
        const text = cut(cell.text, widths[index] ?? 0)
        const padding = ' '.repeat((widths[index] ?? 0) - length(text))
        const painted = coloured(screen, cell.colour, text)
        return columns[index]?.align === 'right' ? padding + painted : painted + padding
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
}

/** Takes what a line is too long from the columns that may be cut, always from the widest. */
function shrink(columns: readonly Column[], natural: readonly number[], lineWidth: number): number[] {
  const isCut = (index: number) => columns[index]?.cut === true
  const widths = natural.map((width, index) => (isCut(index) ? Math.min(width, lineWidth) : width))
  let over = widths.reduce((sum, width) => sum + width, GAP * (columns.length - 1)) - lineWidth
  for (; over > 0; over -= 1) {
    const widest = Math.max(...widths.filter((_width, index) => isCut(index)))
    if (widest <= CUT_WIDTH_MIN) break
    widths[widths.findIndex((width, index) => width === widest && isCut(index))] = widest - 1
  }
  return widths
}

/** Text of at most `width` characters; an ellipsis stands for what was cut. */
export function cut(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

function length(text: string): number {
  return [...text].length
}
