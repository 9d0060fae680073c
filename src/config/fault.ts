/**
 * What is wrong with a configuration. A fault is a value, never an exception: the command prints all of them, a
 * reload refuses the file and keeps what runs.
 */

/** A fault of data that stands in no file: the library's configuration object. */
export interface DataFault {
  /** JSON pointer to the offending key or value; of a missing key, to the mapping that lacks it. */
  readonly pointer: string
  /** One sentence, without full stop. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
}

/** A fault of a file. Lines and columns count from 1; columns are UTF-16 code units, as editors count them. */
export interface Fault extends DataFault {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A fault or a warning on its way to a position: `at` says whether the key or the value is to be shown. */
export interface Finding extends DataFault {
  readonly severity: 'error' | 'warning'
  readonly at: 'key' | 'value'
}

export function errorAt(pointer: string, message: string, parts: FindingParts = {}): Finding {
  return finding('error', pointer, message, parts)
}

export function warningAt(pointer: string, message: string, parts: FindingParts = {}): Finding {
  return finding('warning', pointer, message, parts)
}

interface FindingParts {
  readonly at?: 'key' | 'value'
  readonly hint?: string | undefined
}

function finding(
  severity: Finding['severity'],
  pointer: string,
  message: string,
  { at = 'value', hint }: FindingParts,
): Finding {
  return hint === undefined ? { severity, pointer, at, message } : { severity, pointer, at, message, hint }
}

/** `FILE:LINE:COLUMN: message (hint)`, or the pointer where there is no file. */
export function formatFault(fault: DataFault | Fault): string {
  const place = 'file' in fault ? `${fault.file}:${fault.line}:${fault.column}` : fault.pointer || '/'
  const hint = fault.hint === undefined ? '' : ` (${fault.hint})`
  return `${place}: ${fault.message}${hint}`
}

/** A text longer than this is cut in a sentence. */
const QUOTED_LENGTH_MAX = 40

/** DEL and U+009B among them, which JSON leaves as they are; a terminal obeys U+009B as it does ESC [. */
const CONTROL = /\p{Cc}/gu

/** With control characters as JSON's escapes, so that none of a file reaches a terminal or a log. */
export function escaped(text: string): string {
  return text.replaceAll(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** As JSON, long texts cut, without control characters. */
export function quoted(text: string): string {
  const characters = [...text.slice(0, 2 * QUOTED_LENGTH_MAX)]
  const cut = characters.length > QUOTED_LENGTH_MAX || text.length > 2 * QUOTED_LENGTH_MAX
  return escaped(JSON.stringify(cut ? `${characters.slice(0, QUOTED_LENGTH_MAX).join('')}…` : text))
}
