/**
 * Checksums of byte frames. A checksum says over which bytes it runs and where in the frame it stands, so that
 * one value both checks what came and completes what is sent.
 */
import crc16 from 'crc/calculators/crc16modbus'
import { assert } from '../../errors.ts'

export interface Checksum {
  /** Equal keys mean equal checksums; part of the key of a framing. */
  readonly key: string
  /** Bytes that it occupies. */
  readonly width: number
  /** Whether the checksum that stands in the frame is right. False for a frame too short to hold it. */
  matches(frame: Uint8Array): boolean
  /** The same frame with the right checksum in its place: whatever stood there is replaced. */
  seal(frame: ArrayLike<number>): Uint8Array
}

/** Offsets from the start of the frame; `to` is the first byte that is no longer summed. */
export interface ChecksumRange {
  readonly from: number
  /** Default: the checksum is the end of the frame, and everything before it is summed. */
  readonly to?: number
  /** Where the checksum stands; default: at `to`. */
  readonly at?: number
}

/** (-sum) & FF: the summed bytes and the checksum add up to zero. */
export function twosComplement8(range: ChecksumRange): Checksum {
  return checksum('twos-complement-8', 1, range, (bytes) => -sum(bytes) & 0xff)
}

/** sum & FF. */
export function sum8(range: ChecksumRange): Checksum {
  return checksum('sum-8', 1, range, (bytes) => sum(bytes) & 0xff)
}

/** Exclusive or of all bytes. */
export function xor8(range: ChecksumRange): Checksum {
  return checksum('xor-8', 1, range, (bytes) => {
    let value = 0
    for (const byte of bytes) value ^= byte
    return value
  })
}

/** CRC-16/MODBUS (polynomial 8005 reflected, initial FFFF), low byte first on the wire. */
export function crc16modbus(range: ChecksumRange): Checksum {
  return checksum('crc-16-modbus', 2, range, crc16)
}

/** The CRC-16/MODBUS of the bytes as a number. */
export function crc16modbusOf(bytes: Uint8Array): number {
  return crc16(bytes)
}

function sum(bytes: Uint8Array): number {
  let total = 0
  for (const byte of bytes) total += byte
  return total
}

function checksum(
  name: string,
  width: 1 | 2,
  range: ChecksumRange,
  calculate: (bytes: Uint8Array) => number,
): Checksum {
  const { from, to } = range
  const at = range.at ?? to
  assert(from >= 0 && (to === undefined || to >= from), `${name}: the range ${from} to ${to} is none`)
  const endOf = (length: number) => to ?? length - width
  const placeOf = (length: number) => at ?? length - width
  const fits = (length: number) =>
    endOf(length) <= length && endOf(length) >= from && placeOf(length) + width <= length
  return {
    key: `${name}(${from}-${to ?? 'end'}@${at ?? 'end'})`,
    width,
    matches(frame) {
      const { length } = frame
      if (!fits(length)) return false
      const place = placeOf(length)
      const value = calculate(frame.subarray(from, endOf(length)))
      return frame[place] === (value & 0xff) && (width === 1 || frame[place + 1] === value >> 8)
    },
    seal(bytes) {
      const frame = Uint8Array.from(bytes)
      assert(fits(frame.length), `${name}: a frame of ${frame.length} bytes has no room for it`)
      const place = placeOf(frame.length)
      const value = calculate(frame.subarray(from, endOf(frame.length)))
      frame[place] = value & 0xff
      if (width === 2) frame[place + 1] = value >> 8
      return frame
    },
  }
}
