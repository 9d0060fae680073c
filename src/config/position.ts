/** Where in its text a piece of data stands: a JSON pointer becomes an offset. */
import { pointerSegments } from './pointer.ts'

/** A value and what is inside it. Several entries share one located value where the text uses an alias. */
export interface Located {
  readonly data: unknown
  /** Keys or items by name. */
  readonly entries: ReadonlyMap<string, LocatedEntry>
  /** Values in it and below it, itself included, every use of an alias counted. */
  readonly size: number
  /** Levels below it. */
  readonly height: number
}

export interface LocatedEntry {
  readonly located: Located
  /** Of the value, or of the alias that stands for it. */
  readonly offset: number
  /** Absent for an item of a list, and for the whole. */
  readonly keyOffset?: number
  /** Nothing stands there, so that only the key can be shown. */
  readonly empty: boolean
}

/** The offset of a pointer's key or value, or of the innermost mapping or list that the text has of it. */
export function offsetOf(root: LocatedEntry, pointer: string, at: 'key' | 'value'): number {
  let entry = root
  let found = true
  for (const segment of pointerSegments(pointer)) {
    const next = entry.located.entries.get(segment)
    found = next !== undefined
    if (!next) break
    entry = next
  }
  const byKey = entry.keyOffset !== undefined && (!found || entry.empty || at === 'key')
  return byKey ? (entry.keyOffset ?? entry.offset) : entry.offset
}
