/** Bytes in two columns, hex and text, as many to a line as the terminal has room for. */

const BYTES_MIN = 4
const BYTES_MAX = 16
/** Between the columns. */
const GAP = '  '

/** `hex` with a space between bytes or none; `text` has one character for each byte. */
export function hexLines(
  { hex, text }: { readonly hex: string; readonly text: string },
  columns: number,
): string[] {
  const bytes = hex.match(/[0-9a-f]{2}/gi) ?? []
  // A byte takes two digits, a space and its character.
  const fitting = Math.floor((columns - GAP.length + 1) / 4)
  const perLine = Math.min(BYTES_MAX, Math.max(BYTES_MIN, fitting))
  return Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, line) => {
    const [start, end] = [line * perLine, (line + 1) * perLine]
    const digits = bytes.slice(start, end).join(' ')
    return `${digits.padEnd(perLine * 3 - 1)}${GAP}${text.slice(start, end).replace(/[^\x20-\x7e]/g, '.')}`
  })
}
