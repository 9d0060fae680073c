/** The configuration file as text: what cannot be read, or is no text, is a fault like any other. */
import { isUtf8 } from 'node:buffer'
import { readBoundedFile } from './bounded-file.ts'

/** Far above what a house needs; the file is held in memory several times over. */
export const CONFIGURATION_BYTES_MAX = 1024 * 1024

export interface SourceFault {
  readonly line: number
  readonly column: number
  readonly message: string
  readonly hint?: string
}

export type Source =
  | { readonly text: string; readonly worldReadable: boolean }
  | { readonly fault: SourceFault }

export async function readSource(path: string): Promise<Source> {
  const content = await readBoundedFile(path, CONFIGURATION_BYTES_MAX)
  if ('fault' in content) {
    const { fault: message, hint } = content
    return { fault: { line: 1, column: 1, message, ...(hint === undefined ? {} : { hint }) } }
  }
  const { bytes, worldReadable } = content
  const fault = encodingFault(bytes)
  return fault ? { fault } : { text: new TextDecoder().decode(bytes), worldReadable }
}

function encodingFault(bytes: Uint8Array): SourceFault | undefined {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { line: 1, column: 1, message: 'the file is UTF-16', hint: 'save it as UTF-8' }
  }
  return isUtf8(bytes) ? undefined : { ...firstInvalid(bytes), message: 'the file is not UTF-8' }
}

/** A line end is never part of a longer character, so the first line that is not UTF-8 holds the first fault. */
function firstInvalid(bytes: Uint8Array): { line: number; column: number } {
  const LINE_END = 0x0a
  let line = 1
  let start = 0
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
    if (!isUtf8(bytes.subarray(start, end)))
      return { line, column: invalidColumn(bytes.subarray(start, end)) }
    line += 1
    start = end + 1
  }
  return { line, column: invalidColumn(bytes.subarray(start)) }
}

/** Decoded leniently, the line is right up to the first replacement character that its bytes do not have. */
function invalidColumn(line: Uint8Array): number {
  const encoder = new TextEncoder()
  let column = 1
  let offset = 0
  for (const character of new TextDecoder('utf-8', { ignoreBOM: true }).decode(line)) {
    const encoded = encoder.encode(character)
    if (character === '\ufffd' && encoded.some((byte, index) => byte !== line[offset + index])) break
    column += character.length
    offset += encoded.length
  }
  return column
}
