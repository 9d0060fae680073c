/**
 * The shared context of a lane. A run sees a frozen snapshot and hands back changes; they are merged in declared order
 * when the calls that saw the same snapshot are all over, so that the order of completion never shows.
 */
import { isDeepStrictEqual } from 'node:util'
import { GatewayError, messageOf } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../limits.ts'
import type { ContextChanges, ContextConflict, Reducer } from './task.ts'

export type Context = Readonly<Record<string, unknown>>

/** What one call wants to change. */
export interface CallChanges {
  readonly call: string
  readonly changes: ContextChanges
}

export interface MergedContext {
  readonly context: Context
  readonly conflicts: readonly ContextConflict[]
}

const EMPTY: Context = Object.freeze({})

/**
 * A deeply frozen copy, so that neither side can change what the other sees. The context is data as JSON has it: a key
 * whose value is undefined is absent. Anything else (functions, class instances, cycles) throws a GatewayError.
 */
export function freezeContext(
  context: Context | undefined,
  code: 'tool_failed' | 'invalid_arguments',
): Context {
  if (context === undefined) return EMPTY
  try {
    if (!isPlainObject(context)) throw new TypeError('it is not an object')
    return freezeObject(context, 0)
  } catch (thrown) {
    throw new GatewayError(code, `the context cannot be kept: ${messageOf(thrown)}`, { cause: thrown })
  }
}

function freezeObject(object: object, depth: number): Context {
  if (depth > JSON_DEPTH_MAX) throw new TypeError(`it is nested more than ${JSON_DEPTH_MAX} deep`)
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  // fromEntries defines properties and does not assign them: a key `__proto__` stays a key.
  return Object.freeze(
    Object.fromEntries(entries.map(([key, value]) => [key, freezeValue(value, depth + 1)])),
  )
}

function freezeValue(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) {
    if (depth > JSON_DEPTH_MAX) throw new TypeError(`it is nested more than ${JSON_DEPTH_MAX} deep`)
    return Object.freeze(value.map((element) => freezeValue(element ?? null, depth + 1)))
  }
  // JSON knows one zero.
  if (typeof value === 'number') return value === 0 ? 0 : value
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'object' && isPlainObject(value)) return freezeObject(value, depth)
  throw new TypeError('only JSON data can be in it')
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Merges frozen changes, given in declared order. A key that several calls want to have different values, or whose
 * reducer cannot take a value, keeps its old one and is reported.
 */
export function mergeContext(
  old: Context,
  calls: readonly CallChanges[],
  reducers: Readonly<Record<string, Reducer>> = {},
): MergedContext {
  const wantedByKey = new Map<string, { call: string; value: unknown }[]>()
  for (const { call, changes } of calls) {
    for (const [key, value] of Object.entries(changes)) {
      const wanted = wantedByKey.get(key)
      if (wanted) wanted.push({ call, value })
      else wantedByKey.set(key, [{ call, value }])
    }
  }
  if (wantedByKey.size === 0) return { context: old, conflicts: [] }

  const merged = new Map(Object.entries(old))
  const conflicts: ContextConflict[] = []
  for (const [key, wanted] of wantedByKey) {
    const values = wanted.map(({ value }) => value)
    const reducer = Object.hasOwn(reducers, key) ? reducers[key] : undefined
    const resolved = reducer ? REDUCE[reducer](merged.get(key), values) : agreed(values)
    if (resolved === undefined) conflicts.push({ key, kept: merged.get(key), wanted })
    else merged.set(key, resolved)
  }
  return { context: Object.freeze(Object.fromEntries(merged)), conflicts }
}

/** A context and the changes that calls which saw it have asked for. */
export class SharedContext {
  readonly conflicts: ContextConflict[] = []
  readonly #reducers: Readonly<Record<string, Reducer>>
  #snapshot: Context
  #changes: (CallChanges & { readonly index: number })[] = []

  constructor(initial: Context, reducers: Readonly<Record<string, Reducer>> = {}) {
    this.#snapshot = initial
    this.#reducers = reducers
  }

  get snapshot(): Context {
    return this.#snapshot
  }

  /** Keeps the frozen changes of the call at this position of the lane until they are merged. */
  keep(index: number, call: string, changes: ContextChanges): void {
    this.#changes.push({ index, call, changes })
  }

  /** All calls that saw the snapshot are over. */
  merge(): void {
    if (this.#changes.length === 0) return
    const changes = this.#changes.sort((one, other) => one.index - other.index)
    this.#changes = []
    const { context, conflicts } = mergeContext(this.#snapshot, changes, this.#reducers)
    this.#snapshot = context
    this.conflicts.push(...conflicts)
  }
}

function agreed(values: readonly unknown[]): unknown {
  const first = values[0]
  return values.every((value) => isDeepStrictEqual(value, first)) ? first : undefined
}

/** Each gives undefined if it cannot take one of the values. */
const REDUCE: Readonly<Record<Reducer, (old: unknown, values: readonly unknown[]) => unknown>> = {
  /** An array adds its elements, anything else is added as one. */
  append: (old, values) => Object.freeze((old === undefined ? [] : [old]).concat(values).flat(1)),
  sum: (old, values) =>
    overNumbers(old, values, (numbers) => numbers.reduce((sum, number) => sum + number, 0)),
  max: (old, values) => overNumbers(old, values, (numbers) => Math.max(...numbers)),
  min: (old, values) => overNumbers(old, values, (numbers) => Math.min(...numbers)),
  last: (_old, values) => values.at(-1),
}

function overNumbers(
  old: unknown,
  values: readonly unknown[],
  reduce: (numbers: readonly number[]) => number,
): number | undefined {
  const all = old === undefined ? values : [old, ...values]
  return all.every((value) => typeof value === 'number') ? reduce(all) : undefined
}
