/**
 * Which frames may be the reply to a request. The port asks two questions of a matcher: is this frame mine, and
 * could a frame of that other request ever be taken for mine. The second one is answered without the frame, from
 * the shapes, and it is what keeps a late reply from becoming somebody else's value (serial line, rule 2.5).
 */

/** What is fixed in every frame of one kind. Offsets count from the start of the frame. */
export interface ReplyShape {
  /** The length of the frame, if it is always the same. */
  readonly length?: number
  /** Bytes that are always the same. */
  readonly bytes: readonly (readonly [offset: number, value: number])[]
}

/** A shape that any frame has. */
export const ANY_SHAPE: ReplyShape = { bytes: [] }

export interface ReplyMatcher<T> {
  /** One for each kind of frame that `match` can take (the reply, the refusal …): never narrower than `match`. */
  readonly shapes: readonly ReplyShape[]
  /** What the frame says, or undefined for a frame that cannot belong to this request. Never throws. */
  match(frame: Uint8Array): T | undefined
}

/** A shape of frames that start with these bytes. */
export function startsWith(bytes: ArrayLike<number>, length?: number): ReplyShape {
  const fixed = Array.from(bytes, (value, offset) => [offset, value] as const)
  return length === undefined ? { bytes: fixed } : { length, bytes: fixed }
}

/** Whether some frame could have both shapes. */
export function shapesOverlap(one: ReplyShape, other: ReplyShape): boolean {
  if (one.length !== undefined && other.length !== undefined && one.length !== other.length) return false
  const length = one.length ?? other.length ?? Number.POSITIVE_INFINITY
  if ([...one.bytes, ...other.bytes].some(([offset]) => offset >= length)) return false
  for (const [offset, value] of one.bytes) {
    for (const [otherOffset, otherValue] of other.bytes) {
      if (offset === otherOffset && value !== otherValue) return false
    }
  }
  return true
}

export function anyOverlap(some: readonly ReplyShape[], others: readonly ReplyShape[]): boolean {
  return some.some((one) => others.some((other) => shapesOverlap(one, other)))
}
