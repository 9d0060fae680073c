/**
 * Keys that the contract has and this version does nothing with yet. They are checked like all others, so that a
 * file need not change later, and a warning says plainly that they have no effect. Whoever makes one work takes it
 * out of this list; nothing else is to be done here.
 */
import { type Finding, warningAt } from './fault.ts'
import { pointerSegments, pointersLike } from './pointer.ts'

export const DEFERRED_KEYS = [
  '/ports/*/dtr',
  '/ports/*/rts',
  '/ports/*/echo',
  '/devices/*/port/dtr',
  '/devices/*/port/rts',
  '/devices/*/port/echo',
  '/devices/*/retries',
  '/devices/*/boot',
  '/devices/*/identity',
  '/mqtt',
  '/history',
  '/mcp',
] as const

export function deferredKeyWarnings(data: unknown): Finding[] {
  return DEFERRED_KEYS.flatMap((pattern) => pointersLike(data, pattern)).map((pointer) => {
    const key = pointerSegments(pointer).at(-1)
    return warningAt(pointer, `"${key}" has no effect in this version yet`, { at: 'key' })
  })
}
