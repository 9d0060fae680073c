/**
 * The search for checked frames in a stream of bytes. A candidate that fails is given up one byte at a time, so
 * that a start byte inside data, a lost byte or noise before a frame never costs the frame behind it. The cost is
 * at most one check of a frame per byte, and what is held is never longer than one frame.
 */
import type { Framer, FrameSink } from '../framing.ts'

/** No frame starts here. */
export const NO_FRAME = 0
/** The bytes so far may be the start of a frame; more are needed to tell its length. */
export const UNDECIDED = -1

export interface FrameRule {
  /** The length of the frame that would start at `offset`, NO_FRAME or UNDECIDED. Reads no further than it must. */
  lengthAt(bytes: Uint8Array, offset: number): number
  /** Whether these bytes, whose length was right, are a frame. */
  valid(frame: Uint8Array): boolean
  /** The first offset from `from` on at which a frame may start, or the end: a shortcut through noise. */
  nextStart?(bytes: Uint8Array, from: number): number
}

const EMPTY = new Uint8Array(0)

export function frameSearch(rule: FrameRule, sink: FrameSink): Framer {
  let held: Uint8Array = EMPTY
  return {
    push(chunk) {
      held = search(rule, sink, held.length === 0 ? chunk : Buffer.concat([held, chunk]), true)
    },
    idle() {
      const bytes = held
      held = EMPTY
      search(rule, sink, bytes, false)
    },
    reset() {
      held = EMPTY
    },
    get held() {
      return held.length
    },
  }
}

/**
 * Gives the frames of `bytes` to the sink, and returns the bytes that are still wanted. In bytes that are not
 * `continued` every candidate that fails is the rest of something cut off: junk, not a damaged frame.
 */
function search(rule: FrameRule, sink: FrameSink, bytes: Uint8Array, continued: boolean): Uint8Array {
  let junk = 0
  let offset = 0
  const giveUpJunk = () => {
    if (junk > 0) sink.error('junk', junk)
    junk = 0
  }
  while (offset < bytes.length) {
    const start = candidateFrom(rule, bytes, offset)
    junk += start - offset
    offset = start
    if (offset === bytes.length) break
    const length = rule.lengthAt(bytes, offset)
    const isWhole = length !== UNDECIDED && offset + length <= bytes.length
    if (!isWhole && continued) break
    const frame = bytes.subarray(offset, offset + length)
    if (isWhole && rule.valid(frame)) {
      giveUpJunk()
      sink.frame(new Uint8Array(frame))
      offset += length
    } else if (continued) {
      giveUpJunk()
      const next = candidateFrom(rule, bytes, offset + 1)
      sink.error('checksum', next - offset)
      offset = next
    } else {
      junk += 1
      offset += 1
    }
  }
  giveUpJunk()
  return offset === bytes.length ? EMPTY : new Uint8Array(bytes.subarray(offset))
}

/** The first offset from `from` on where a frame starts or might. */
function candidateFrom(rule: FrameRule, bytes: Uint8Array, from: number): number {
  let offset = from
  while (offset < bytes.length) {
    offset = rule.nextStart?.(bytes, offset) ?? offset
    if (offset < bytes.length && rule.lengthAt(bytes, offset) !== NO_FRAME) return offset
    offset += 1
  }
  return bytes.length
}
