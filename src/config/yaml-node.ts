/** The nodes of a YAML document as plain data with places: equal keys, aliases and odd values are found here. */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { JSON_DEPTH_MAX } from '../limits.ts'
import { quoted } from './fault.ts'
import { childPointer } from './pointer.ts'
import type { Located, LocatedEntry } from './position.ts'

export interface TextFault {
  readonly offset: number
  readonly pointer: string
  readonly message: string
  readonly hint?: string
  /** No value could be made of what stands there, so nothing more is to be said about it. */
  readonly withoutValue?: true
}

/** Values that aliases may add. Some shared blocks are well below it, an alias bomb is far above. */
const ALIASED_VALUES_MAX = 200_000

export function convertNode(node: Node): { root: LocatedEntry; faults: readonly TextFault[] } {
  const conversion = new Conversion()
  const root = conversion.entry(node, '', 0)
  return { root, faults: conversion.faults }
}

const NO_ENTRIES: ReadonlyMap<string, LocatedEntry> = new Map()
const NOTHING: Located = { data: null, entries: NO_ENTRIES, size: 1, height: 0 }

/** One walk over one document. The document is at most JSON_DEPTH_MAX deep, so the walk may recurse. */
class Conversion {
  readonly faults: TextFault[] = []
  readonly #anchors = new Map<string, Located | 'open'>()
  #aliasedValues = 0

  entry(node: unknown, pointer: string, depth: number, keyOffset?: number): LocatedEntry {
    const parsed = isNode(node) ? node : undefined
    const located = parsed ? this.#locate(parsed, pointer, depth) : NOTHING
    const empty = !parsed || (isScalar(parsed) && parsed.value === null && !parsed.source)
    const offset = parsed?.range?.[0] ?? keyOffset ?? 0
    return keyOffset === undefined ? { located, offset, empty } : { located, offset, empty, keyOffset }
  }

  #locate(node: Node, pointer: string, depth: number): Located {
    if (isAlias(node)) return this.#alias(node, pointer, depth)
    const { anchor } = node as { anchor?: string }
    if (anchor) this.#anchors.set(anchor, 'open')
    const located = isMap(node)
      ? this.#map(node, pointer, depth)
      : isSeq(node)
        ? this.#list(node, pointer, depth)
        : this.#scalar(node as Scalar, pointer)
    if (anchor) this.#anchors.set(anchor, located)
    return located
  }

  #map(map: YAMLMap, pointer: string, depth: number): Located {
    const data: Record<string, unknown> = {}
    const entries = new Map<string, LocatedEntry>()
    for (const { key, value } of map.items) {
      // Any other key has been refused: the library was told that keys are strings.
      if (!isScalar(key) || typeof key.value !== 'string') continue
      const name = key.value
      const keyOffset = key.range?.[0] ?? 0
      if (key.anchor) this.#anchors.set(key.anchor, { ...NOTHING, data: name })
      const child = childPointer(pointer, name)
      const refusal = entries.has(name)
        ? `the key ${quoted(name)} is given twice`
        : name === '__proto__'
          ? 'the key "__proto__" is not allowed'
          : undefined
      if (refusal !== undefined) {
        this.faults.push({ offset: keyOffset, pointer: child, message: refusal })
        continue
      }
      const entry = this.entry(value, child, depth + 1, keyOffset)
      entries.set(name, entry)
      data[name] = entry.located.data
    }
    return { data, entries, ...measure(entries) }
  }

  #list(list: YAMLSeq, pointer: string, depth: number): Located {
    const entries = new Map<string, LocatedEntry>()
    for (const [index, item] of list.items.entries()) {
      entries.set(String(index), this.entry(item, childPointer(pointer, index), depth + 1))
    }
    return { data: [...entries.values()].map(({ located }) => located.data), entries, ...measure(entries) }
  }

  #scalar({ value, range }: Scalar, pointer: string): Located {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return this.#withoutValue(range?.[0] ?? 0, pointer, `${value} is not a number that can be used here`)
    }
    return { ...NOTHING, data: value }
  }

  /** What it stands for is shared, not copied, so that an alias costs nothing before it is known to be in bounds. */
  #alias({ source, range }: Alias, pointer: string, depth: number): Located {
    const refuse = (message: string) => this.#withoutValue(range?.[0] ?? 0, pointer, message)
    const name = quoted(`*${source}`)
    const located = this.#anchors.get(source)
    if (located === undefined) return refuse(`nothing above is marked as ${quoted(`&${source}`)}`)
    if (located === 'open') return refuse(`${name} stands inside what it stands for`)
    this.#aliasedValues += located.size
    if (this.#aliasedValues > ALIASED_VALUES_MAX) {
      return refuse(`with ${name} the aliases stand for more than ${ALIASED_VALUES_MAX} values`)
    }
    if (depth + located.height > JSON_DEPTH_MAX) {
      return refuse(`with ${name} the nesting is more than ${JSON_DEPTH_MAX} levels deep`)
    }
    return located
  }

  #withoutValue(offset: number, pointer: string, message: string): Located {
    this.faults.push({ offset, pointer, message, withoutValue: true })
    return NOTHING
  }
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isAlias(value) || isMap(value) || isSeq(value)
}

function measure(entries: ReadonlyMap<string, LocatedEntry>): { size: number; height: number } {
  let size = 1
  let height = 0
  for (const { located } of entries.values()) {
    size += located.size
    height = Math.max(height, located.height + 1)
  }
  return { size, height }
}
