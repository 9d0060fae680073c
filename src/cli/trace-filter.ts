/** Which entries of a trace are shown: those of a direction, with certain bytes, or with a certain text. */
import { messageOf } from '../errors.ts'
import type { TraceEntry } from '../port/status.ts'
import { readHex } from './byte-notation.ts'

export type TraceFilter = (entry: Pick<TraceEntry, 'direction' | 'hex' | 'text'>) => boolean

/** `tx`, `rx`, `/pattern/` for the text, or hex bytes that must follow one another. */
export function readFilter(text: string): TraceFilter | { readonly fault: string } {
  if (text === 'tx' || text === 'rx') return ({ direction }) => direction === text
  const [, source] = /^\/(.+)\/$/s.exec(text) ?? []
  if (source !== undefined) return textFilter(source)
  const reading = readHex(text)
  if ('fault' in reading) return { fault: `"${text}" is not tx, rx, /text/ or bytes in hex` }
  const wanted = Buffer.from(reading.bytes)
  return ({ hex }) => Buffer.from(hex.replaceAll(' ', ''), 'hex').includes(wanted)
}

function textFilter(source: string): TraceFilter | { readonly fault: string } {
  try {
    const pattern = new RegExp(source)
    return ({ text }) => pattern.test(text)
  } catch (error) {
    return { fault: messageOf(error) }
  }
}
