/** Frames that all have one length and one start, most of them with a checksum. */
import { assert } from '../../errors.ts'
import { startsWith } from '../reply.ts'
import type { Checksum } from './checksum.ts'
import { frameSearch, NO_FRAME } from './frame-search.ts'
import type { TraitedFraming } from './traits.ts'

export interface FixedLength {
  /** Bytes that every frame starts with. */
  readonly start: readonly number[]
  /** Of the whole frame, start and checksum included. */
  readonly length: number
  readonly checksum?: Checksum
}

export function fixedLength(options: FixedLength): TraitedFraming {
  const { start, length, checksum } = options
  const [first] = start
  assert(first !== undefined, 'fixedLength: a frame needs a start byte to be found by')
  assert(length > start.length, `fixedLength: ${length} bytes do not hold more than the start`)
  const hex = start.map((byte) => byte.toString(16).padStart(2, '0')).join('')

  /** A start that has come in part is a candidate too: the rest may be in the next chunk. */
  const lengthAt = (bytes: Uint8Array, offset: number): number => {
    const known = Math.min(start.length, bytes.length - offset)
    for (let index = 0; index < known; index += 1) {
      if (bytes[offset + index] !== start[index]) return NO_FRAME
    }
    return length
  }

  const rule = {
    lengthAt,
    valid: (frame: Uint8Array) => checksum?.matches(frame) ?? true,
    nextStart(bytes: Uint8Array, from: number) {
      const found = bytes.indexOf(first, from)
      return found === -1 ? bytes.length : found
    },
  }

  return {
    key: `fixed-length:${hex}:${length}:${checksum?.key ?? 'unchecked'}`,
    frameLengthMax: length,
    silenceEndsFrame: true,
    shape: startsWith(start, length),
    checked: checksum !== undefined,
    create: (sink) => frameSearch(rule, sink),
  }
}
