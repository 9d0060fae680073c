/**
 * Binary frames as a configuration describes them: found by their start, ended by a length or by closing bytes. The
 * search gives up one byte at a time, so nothing that is described wrongly or damaged costs the frame behind it.
 */
import { assert } from '../../errors.ts'
import { startsWith } from '../reply.ts'
import type { Checksum } from './checksum.ts'
import { type FrameRule, frameSearch, NO_FRAME, UNDECIDED } from './frame-search.ts'
import type { TraitedFraming } from './traits.ts'

export type CountFormat = 'uint8' | 'uint16be' | 'uint16le'

/** A count in the frame; the length of the whole frame is the count and `plus`. */
export interface LengthField {
  readonly at: number
  readonly format: CountFormat
  /** Bytes that the count leaves out. */
  readonly plus: number
}

export interface FrameOptions {
  /** Bytes that every frame starts with. */
  readonly start: readonly number[]
  /** Of the whole frame. Without it, or a field with it, the frame ends with the first `end` behind the start. */
  readonly length?: number | LengthField
  /** Bytes that every frame ends with. */
  readonly end?: readonly number[]
  /** Of the frame without its `end`. */
  readonly checksum?: Checksum
  /** A longer frame is none. */
  readonly lengthMax: number
}

export function frames(options: FrameOptions): TraitedFraming {
  const { start, length, end = [], checksum, lengthMax } = options
  const [first] = start
  assert(first !== undefined, 'frames: a frame needs a start byte to be found by')
  assert(length !== undefined || end.length > 0, 'frames: a frame needs a length or an end')
  const fixed = typeof length === 'number' ? length : undefined
  const rule: FrameRule = {
    lengthAt(bytes, offset) {
      const known = Math.min(start.length, bytes.length - offset)
      if (!holds(bytes, offset, start.slice(0, known))) return NO_FRAME
      return known < start.length ? UNDECIDED : lengthOf(options, bytes, offset)
    },
    valid: (frame) =>
      holds(frame, frame.length - end.length, end) &&
      (checksum?.matches(end.length === 0 ? frame : frame.subarray(0, -end.length)) ?? true),
    nextStart(bytes, from) {
      const found = bytes.indexOf(first, from)
      return found === -1 ? bytes.length : found
    },
  }
  return {
    key: `frames:${JSON.stringify([start, length ?? null, end, checksum?.key ?? null, lengthMax])}`,
    frameLengthMax: fixed ?? lengthMax,
    silenceEndsFrame: true,
    shape: startsWith(start, fixed),
    checked: checksum !== undefined,
    create: (sink) => frameSearch(rule, sink),
  }
}

/** The length of the frame whose start stands at `offset`, NO_FRAME or UNDECIDED. */
function lengthOf(options: FrameOptions, bytes: Uint8Array, offset: number): number {
  const { start, length, end = [], lengthMax } = options
  if (typeof length === 'number') return length
  if (length !== undefined) {
    const count = countAt(bytes, offset + length.at, length.format)
    if (count === undefined) return UNDECIDED
    const whole = count + length.plus
    const countEnd = length.at + countBytes(length.format)
    return whole < Math.max(start.length, countEnd) + end.length || whole > lengthMax ? NO_FRAME : whole
  }
  const window = Buffer.from(bytes.buffer, bytes.byteOffset + offset, bytes.length - offset)
  const found = window.subarray(0, lengthMax).indexOf(Buffer.from(end), start.length)
  if (found !== -1) return found + end.length
  return window.length < lengthMax ? UNDECIDED : NO_FRAME
}

export function countBytes(format: CountFormat): number {
  return format === 'uint8' ? 1 : 2
}

/** Undefined: it has not come yet. */
function countAt(bytes: Uint8Array, at: number, format: CountFormat): number | undefined {
  const first = bytes[at]
  if (first === undefined || format === 'uint8') return first
  const second = bytes[at + 1]
  if (second === undefined) return undefined
  return format === 'uint16be' ? first * 256 + second : second * 256 + first
}

function holds(bytes: Uint8Array, offset: number, wanted: readonly number[]): boolean {
  return wanted.every((byte, index) => bytes[offset + index] === byte)
}
