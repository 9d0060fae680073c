/** The silences of a line: between frames, before requests, and after what will become no frame any more. */
import type { Framing } from './framing.ts'
import type { ReplyMatcher, ReplyShape } from './reply.ts'
import { characterMs, type LineSettings } from './request.ts'

/** Silence before a request whose reply could be any frame, at all times. */
const UNCORRELATED_SILENCE_MS = 120
/**
 * An adapter may hold bytes back for 16 ms, or until it has a packet of 64; only twice the one, and a little more than
 * the other, without a byte is silence.
 */
const SILENCE_MS_MIN = 35
const SILENCE_CHARACTERS = 68
/** The least gap between two frames that only silence separates (Modbus over Serial Line, 2.5.1.1). */
const FRAME_GAP_CHARACTERS = 3.5

export interface Pace {
  readonly characterMs: number
  /** After it nothing more comes of a frame that was begun. */
  readonly silenceMs: number
  /** Before every request. */
  readonly gapMsMin: number
}

export function paceOf(settings: LineSettings, framing: Framing): Pace {
  const character = characterMs(settings)
  return {
    characterMs: character,
    silenceMs: Math.max(SILENCE_MS_MIN, SILENCE_CHARACTERS * character, framing.idleMs ?? 0),
    gapMsMin: framing.silenceEndsFrame ? FRAME_GAP_CHARACTERS * character : 0,
  }
}

/** What a request with replies of these shapes needs before it, besides the gap. */
export function silenceBefore(shapes: readonly ReplyShape[]): number {
  const isAnyFrame = shapes.some((shape) => shape.bytes.length === 0 && shape.length === undefined)
  return isAnyFrame ? UNCORRELATED_SILENCE_MS : 0
}

/** The length of the longest reply; undefined: it is not known. */
export function longestReply(reply: ReplyMatcher<unknown> | null): number | undefined {
  if (!reply) return undefined
  let length = 0
  for (const shape of reply.shapes) {
    if (shape.length === undefined) return undefined
    length = Math.max(length, shape.length)
  }
  return length
}
