/** Sentences on a terminal: lines of whole words. A word that is longer than a line, such as a path, keeps its length. */
import { printable } from './printable.ts'
import { type Colour, coloured, type Terminal } from './terminal.ts'

/** The text below an indent; where it takes more lines, those are indented a little more. */
export function wrapped(text: string, indent: string, { columns }: Pick<Terminal, 'columns'>): string[] {
  const lines: string[] = []
  for (const word of printable(text).split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`
    } else {
      lines.push(`${indent}${last === undefined ? '' : '  '}${word}`)
    }
  }
  return lines
}

/** The same with a label before it, which has the colour unless it had to be broken itself. */
export function labelled(
  label: string,
  text: string,
  indent: string,
  screen: Pick<Terminal, 'colour' | 'columns'>,
  colour?: Colour,
): string[] {
  const start = `${indent}${label}:`
  return wrapped(`${label}: ${text}`, indent, screen).map((line, index) =>
    index === 0 && line.startsWith(start)
      ? `${indent}${coloured(screen, colour, label)}${line.slice(start.length - 1)}`
      : line,
  )
}
