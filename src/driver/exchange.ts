/**
 * Exchanges put together from kinds of frames. A kind's shape is checked before its decoder is asked, so that the
 * shapes of a matcher cannot be narrower than what it takes.
 */
import { ANY_SHAPE, type ReplyMatcher, type ReplyShape } from '../port/reply.ts'
import type { Exchange, Verdict } from './device-type.ts'

/** One kind of frame that may answer a request. */
export interface FrameKind<V> {
  readonly shape: ReplyShape
  /** Asked only for frames of the shape; undefined: not an answer to this request. Never throws. */
  verdict(frame: Buffer): Verdict<V> | undefined
}

/** The kinds are asked in their order; the first that takes the frame decides. */
export function exchangeOf<V>(request: ArrayLike<number>, kinds: readonly FrameKind<V>[]): Exchange<V> {
  return { request: Uint8Array.from(request), reply: matcherOf(kinds) }
}

/** A request that the device by design does not acknowledge. */
export function unanswered(request: ArrayLike<number>): Exchange<never> {
  return { request: Uint8Array.from(request), reply: null }
}

export function matcherOf<V>(kinds: readonly FrameKind<V>[]): ReplyMatcher<Verdict<V>> {
  return {
    shapes: kinds.map((kind) => kind.shape),
    match(frame) {
      const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)
      for (const kind of kinds) {
        const verdict = hasShape(frame, kind.shape) ? kind.verdict(bytes) : undefined
        if (verdict !== undefined) return verdict
      }
      return undefined
    },
  }
}

/** The same matcher, but one that may be confused with anything. */
export function uncorrelated<V>(matcher: ReplyMatcher<V>): ReplyMatcher<V> {
  return { shapes: [ANY_SHAPE], match: (frame) => matcher.match(frame) }
}

export function hasShape(frame: Uint8Array, shape: ReplyShape): boolean {
  if (shape.length !== undefined && frame.length !== shape.length) return false
  return shape.bytes.every(([offset, byte]) => frame[offset] === byte)
}

export function value<V>(decoded: V): Verdict<V> {
  return { kind: 'value', value: decoded }
}

export function busy(message: string, retryAfterMs?: number): Verdict<never> {
  return retryAfterMs === undefined ? { kind: 'busy', message } : { kind: 'busy', message, retryAfterMs }
}

/** `provenNotDone`: the refusal proves that nothing was done; false where the protocol leaves that open. */
export function refused(deviceCode: string | number, message: string, provenNotDone = false): Verdict<never> {
  return { kind: 'refused', deviceCode, message, provenNotDone }
}

/** The same exchange with another value. */
export function mapped<V, W>(exchange: Exchange<V>, change: (decoded: V) => W): Exchange<W> {
  const { request, reply } = exchange
  if (reply === null) return { request, reply }
  return {
    request,
    reply: {
      shapes: reply.shapes,
      match(frame) {
        const verdict = reply.match(frame)
        return verdict?.kind === 'value' ? value(change(verdict.value)) : verdict
      },
    },
  }
}
