/**
 * The replies that may still come although nobody waits for them any more. It is the whole mechanism by which a
 * late reply never becomes somebody else's value: while an entry could be taken for the reply of a new request,
 * that request does not go out; every other request does.
 */
import { LATE_REPLIES_MAX } from '../limits.ts'
import { ANY_SHAPE, anyOverlap, type ReplyMatcher, type ReplyShape } from './reply.ts'

/**
 * Silence that must follow a late reply before its entry is gone. A device that fell behind, or an adapter that
 * stutters, may send it more than once; each copy starts the silence anew, and a second one restores the window.
 */
export const LATE_QUIET_MS = 120

interface Entry {
  readonly matcher: ReplyMatcher<unknown>
  /** When the device can no longer answer: the last request byte plus `replyLatencyMaxMs`. */
  windowEndsAt: number
  copies: number
  lastCopyAt: number
}

export class LateReplies {
  readonly #entries: Entry[] = []

  /** Expects a reply until `windowEndsAt` on the clock. Beyond the bound the newest entry stands for any frame. */
  add(matcher: ReplyMatcher<unknown>, windowEndsAt: number): void {
    if (this.#entries.length < LATE_REPLIES_MAX) {
      this.#entries.push({ matcher, windowEndsAt, copies: 0, lastCopyAt: 0 })
      return
    }
    const last = this.#entries.pop()
    this.#entries.push({
      matcher: { shapes: [ANY_SHAPE], match: () => undefined },
      windowEndsAt: Math.max(windowEndsAt, last?.windowEndsAt ?? 0),
      copies: 0,
      lastCopyAt: 0,
    })
  }

  /** Nothing ends before that time: bytes that came before may not have been read yet. */
  holdUntil(time: number): void {
    for (const entry of this.#entries) {
      entry.windowEndsAt = Math.max(entry.windowEndsAt, time)
      if (entry.copies === 1) entry.lastCopyAt = Math.max(entry.lastCopyAt, time - LATE_QUIET_MS)
    }
  }

  /** Takes over what another line still expects. */
  inherit(other: LateReplies): void {
    for (const { matcher, windowEndsAt } of other.#entries) this.add(matcher, windowEndsAt)
  }

  /** True if the frame is one of the replies that were still to come. */
  recognise(frame: Uint8Array, now: number): boolean {
    this.expire(now)
    const entry = this.#entries.find(({ matcher }) => matcher.match(frame) !== undefined)
    if (!entry) return false
    entry.copies += 1
    entry.lastCopyAt = now
    return true
  }

  /** Clock time before which a request of these shapes may not go out; 0: now. */
  blockedUntil(shapes: readonly ReplyShape[], now: number): number {
    this.expire(now)
    let until = 0
    for (const entry of this.#entries) {
      if (anyOverlap(entry.matcher.shapes, shapes)) until = Math.max(until, endOf(entry))
    }
    return until
  }

  /** Drops what can no longer come. */
  expire(now: number): void {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index]
      if (entry && endOf(entry) <= now) this.#entries.splice(index, 1)
    }
  }

  /** When the next entry ends if nothing comes; undefined: the list is empty. */
  nextEnd(): number | undefined {
    return this.#entries.length === 0 ? undefined : Math.min(...this.#entries.map(endOf))
  }

  get size(): number {
    return this.#entries.length
  }
}

function endOf(entry: Entry): number {
  return entry.copies === 1
    ? Math.min(entry.windowEndsAt, entry.lastCopyAt + LATE_QUIET_MS)
    : entry.windowEndsAt
}
