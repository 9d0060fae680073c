/**
 * Bytes in a row on a wire, and what becomes of them when two talk at once. The times of a burst are computed from
 * its start and the time of one character, so that nothing has to happen byte by byte.
 */

/** Bytes that came one straight after the other. Times are milliseconds of the wire's clock. */
export interface Burst {
  readonly bytes: Uint8Array
  /** When the start bit of the first byte began. */
  readonly startAt: number
  /** How long each of the bytes takes. */
  readonly characterMs: number
}

/** Two times closer than this are the same: sums of fractions are not exact. A byte at 4 Mbaud takes 25 times as long. */
export const SAME_TIME_MS = 1e-4

/** When the last bit of byte `index` was over. */
export function arrivedAt(burst: Burst, index: number): number {
  return burst.startAt + (index + 1) * burst.characterMs
}

export function endOf(burst: Burst): number {
  return arrivedAt(burst, burst.bytes.length - 1)
}

/** How many of its bytes are over at that time. */
export function arrivedBy(burst: Burst, at: number): number {
  return clamp(Math.floor((at + SAME_TIME_MS - burst.startAt) / burst.characterMs), burst)
}

/** How many of its bytes have begun before that time: they cannot be called back. */
export function begunBy(burst: Burst, at: number): number {
  return clamp(Math.ceil((at - SAME_TIME_MS - burst.startAt) / burst.characterMs), burst)
}

function clamp(count: number, burst: Burst): number {
  return Math.min(Math.max(count, 0), burst.bytes.length)
}

/** The bytes from index `from` up to `to`, at their own times. */
export function slice<B extends Burst>(burst: B, from: number, to: number): B {
  return {
    ...burst,
    bytes: burst.bytes.subarray(from, to),
    startAt: burst.startAt + from * burst.characterMs,
  }
}

function overlap(one: Burst, other: Burst): boolean {
  return one.startAt < endOf(other) - SAME_TIME_MS && other.startAt < endOf(one) - SAME_TIME_MS
}

/**
 * Lets `incoming` onto a line on which others are talking. Where two bytes meet, one wrong byte is heard instead of
 * both: the one on the line is spoiled in place, the incoming one is gone. Returns what is left of `incoming`, and
 * how many bytes met another.
 */
export function collide<B extends Burst>(
  others: readonly B[],
  incoming: B,
  random: () => number,
): { readonly left: readonly B[]; readonly met: number } {
  const inTheWay = others.filter((other) => overlap(other, incoming))
  if (inTheWay.length === 0) return { left: [incoming], met: 0 }
  for (const other of inTheWay) {
    spoil(other, incoming, random)
  }
  const left: B[] = []
  let from = 0
  let met = 0
  for (let index = 0; index <= incoming.bytes.length; index += 1) {
    const lost =
      index === incoming.bytes.length ||
      inTheWay.some((other) => overlap(other, slice(incoming, index, index + 1)))
    if (!lost) continue
    if (index > from) left.push(slice(incoming, from, index))
    if (index < incoming.bytes.length) met += 1
    from = index + 1
  }
  return { left, met }
}

function spoil(burst: Burst, by: Burst, random: () => number): void {
  for (let index = 0; index < burst.bytes.length; index += 1) {
    if (!overlap(slice(burst, index, index + 1), by)) continue
    burst.bytes[index] = otherByte(burst.bytes[index] ?? 0, random)
  }
}

/** Any byte but this one. */
function otherByte(value: number, random: () => number): number {
  return value ^ (1 + Math.floor(random() * 255))
}
