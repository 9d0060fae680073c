/** Numbers in binary frames. */
import { decodeRegisters } from './register-format.ts'

export const BYTE_FORMATS = [
  'uint8',
  'int8',
  'uint16be',
  'uint16le',
  'int16be',
  'int16le',
  'uint32be',
  'uint32le',
  'int32be',
  'int32le',
  'float32be',
  'float32le',
] as const

export type ByteFormat = (typeof BYTE_FORMATS)[number]

export function byteFormatOf(name: string): ByteFormat | undefined {
  return BYTE_FORMATS.find((format) => format === name)
}

/** Bytes that the number takes up. */
export function bytesOfFormat(format: ByteFormat): 1 | 2 | 4 {
  return format.includes('32') ? 4 : format.includes('16') ? 2 : 1
}

/** The least and the greatest whole number; undefined for a float. */
export function integerRange(format: ByteFormat): { readonly min: number; readonly max: number } | undefined {
  if (isFloat(format)) return undefined
  const span = 2 ** (8 * bytesOfFormat(format))
  return format.startsWith('u') ? { min: 0, max: span - 1 } : { min: -span / 2, max: span / 2 - 1 }
}

/** Null: not a number, or infinite. The bytes are as many as the format has. */
export function decodeBytes(format: ByteFormat, bytes: Uint8Array): number | null {
  const ordered = Buffer.from(isLittle(format) ? bytes.toReversed() : bytes)
  if (isFloat(format)) {
    const number = decodeRegisters({ format: 'float32' }, [ordered.readUInt16BE(0), ordered.readUInt16BE(2)])
    return typeof number === 'number' ? number : null
  }
  return format.startsWith('u') ? ordered.readUIntBE(0, ordered.length) : ordered.readIntBE(0, ordered.length)
}

/** Undefined: the format does not hold the number. */
export function encodeBytes(format: ByteFormat, number: number): Uint8Array | undefined {
  const bytes = Buffer.alloc(bytesOfFormat(format))
  const range = integerRange(format)
  if (!range) {
    if (!Number.isFinite(Math.fround(number))) return undefined
    bytes.writeFloatBE(number)
  } else {
    if (!Number.isInteger(number) || number < range.min || number > range.max) return undefined
    if (range.min < 0) bytes.writeIntBE(number, 0, bytes.length)
    else bytes.writeUIntBE(number, 0, bytes.length)
  }
  return isLittle(format) ? bytes.reverse() : bytes
}

export function isFloat(format: ByteFormat): boolean {
  return format.startsWith('float')
}

function isLittle(format: ByteFormat): boolean {
  return format.endsWith('le')
}
