/**
 * Where a frame begins and ends in the bytes of a line. A framer is total: any bytes, in any chunks, give the
 * same frames, no exception and bounded memory.
 */

/** Why bytes became no frame. `junk`: bytes before a start, a partial first frame among them. */
export type FrameErrorKind = 'checksum' | 'form' | 'overflow' | 'junk'

export interface FrameSink {
  /** One whole frame, its checksum right; the bytes are the receiver's to keep. */
  frame(frame: Uint8Array): void
  /** `length` bytes that were given up. */
  error(kind: FrameErrorKind, length: number): void
}

export interface Framer {
  push(chunk: Uint8Array): void
  /**
   * The line has been silent and what is held will not be continued: gives up the partial frame, and searches
   * the bytes behind its start for whole frames.
   */
  idle(): void
  /** Forgets everything, silently: after an open or a close. */
  reset(): void
  /** Bytes held, at most `frameLengthMax` of the framing. */
  readonly held: number
}

export interface Framing {
  /** Devices on one port must have equal keys. */
  readonly key: string
  readonly frameLengthMax: number
  /** At least this long a silence ends a frame; default: what the line takes for silence. */
  readonly idleMs?: number
  /**
   * Whether a device sends its frames in one go, so that silence in the middle of one means that it is no frame. Not
   * so for text: a program may think between two words.
   */
  readonly silenceEndsFrame: boolean
  create(sink: FrameSink): Framer
}
