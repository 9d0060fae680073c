/**
 * Frames written in hex, with holes: `ff 86 {co2:uint16be} .. {checksum}`. A template has one length; what it fixes
 * of a frame becomes the shape of the reply. Two dots are any byte.
 */
import type { ReplyShape } from '../port/reply.ts'
import { type ByteFormat, byteFormatOf, bytesOfFormat, decodeBytes, encodeBytes } from './byte-format.ts'

export type TemplatePart =
  | { readonly kind: 'byte'; readonly at: number; readonly byte: number }
  | { readonly kind: 'any'; readonly at: number }
  | { readonly kind: 'number'; readonly at: number; readonly name: string; readonly format: ByteFormat }
  | { readonly kind: 'checksum'; readonly at: number }

export type NumberPart = TemplatePart & { readonly kind: 'number' }

export interface ByteTemplate {
  readonly parts: readonly TemplatePart[]
  readonly length: number
  /** The holes for numbers, in order. */
  readonly numbers: readonly NumberPart[]
  /** Where the checksum stands. */
  readonly checksumAt: number | undefined
}

/** Numbers by name. */
export type Numbers = Readonly<Record<string, number>>

const TOKEN = /\s+|([0-9a-fA-F]{2})|(\.\.)|\{([a-zA-Z_][a-zA-Z0-9_]*)(?::([a-z0-9]+))?\}/y
const CHECKSUM = 'checksum'

/** `checksumWidth`: bytes of a checksum; undefined: these frames have none. */
export function readTemplate(
  source: string,
  checksumWidth: number | undefined,
): { readonly template: ByteTemplate } | { readonly fault: string } {
  const parts: TemplatePart[] = []
  let at = 0
  let position = 0
  let checksumAt: number | undefined
  while (position < source.length) {
    TOKEN.lastIndex = position
    const token = TOKEN.exec(source)
    if (!token)
      return { fault: `neither two hex digits, "..", nor "{name:format}": "${source.slice(position)}"` }
    position = TOKEN.lastIndex
    const [, hex, dots, name, formatName] = token
    if (hex !== undefined) parts.push({ kind: 'byte', at, byte: Number.parseInt(hex, 16) })
    if (dots !== undefined) parts.push({ kind: 'any', at })
    if (hex !== undefined || dots !== undefined) at += 1
    if (name === undefined) continue
    if (name === CHECKSUM) {
      if (checksumWidth === undefined) return { fault: 'the framing has no checksum' }
      if (checksumAt !== undefined) return { fault: 'two checksums' }
      checksumAt = at
      parts.push({ kind: 'checksum', at })
      at += checksumWidth
      continue
    }
    const format = byteFormatOf(formatName ?? '')
    if (!format) return { fault: `{${name}} has no format such as "uint16be": "${formatName ?? ''}"` }
    parts.push({ kind: 'number', at, name, format })
    at += bytesOfFormat(format)
  }
  const numbers = parts.filter((part) => part.kind === 'number')
  return at === 0 ? { fault: 'it is empty' } : { template: { parts, length: at, numbers, checksumAt } }
}

/** The bytes, 0 where the checksum will stand. A number that is not given, or does not fit, is the fault's name. */
export function fillTemplate(
  template: ByteTemplate,
  numbers: Numbers,
): { readonly bytes: Uint8Array } | { readonly unfit: string } {
  const bytes = new Uint8Array(template.length)
  for (const part of template.parts) {
    if (part.kind === 'byte') bytes[part.at] = part.byte
    if (part.kind !== 'number') continue
    const encoded = encodeBytes(part.format, numbers[part.name] ?? Number.NaN)
    if (!encoded) return { unfit: part.name }
    bytes.set(encoded, part.at)
  }
  return { bytes }
}

/** Of all frames that the template takes when these numbers are known. */
export function shapeOfTemplate(template: ByteTemplate, known: Numbers): ReplyShape {
  const bytes: (readonly [offset: number, value: number])[] = []
  for (const part of template.parts) {
    if (part.kind === 'byte') bytes.push([part.at, part.byte])
    if (part.kind !== 'number') continue
    const number = known[part.name]
    const encoded = number === undefined ? undefined : encodeBytes(part.format, number)
    for (const [index, byte] of (encoded ?? []).entries()) bytes.push([part.at + index, byte])
  }
  return { length: template.length, bytes }
}

/** The numbers that are not `known`, of a frame that has the template's shape. */
export function numbersIn(
  template: ByteTemplate,
  known: Numbers,
  frame: Uint8Array,
): Record<string, number | null> {
  const fields: Record<string, number | null> = {}
  for (const { name, format, at } of template.numbers) {
    if (Object.hasOwn(known, name)) continue
    fields[name] = decodeBytes(format, frame.subarray(at, at + bytesOfFormat(format)))
  }
  return fields
}
