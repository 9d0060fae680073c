import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { type Context, freezeContext, mergeContext, SharedContext } from '../../src/scheduler/context.ts'
import type { Reducer } from '../../src/scheduler/task.ts'

const frozen = (context: Context) => freezeContext(context, 'tool_failed')
const changes = (...all: Context[]) =>
  all.map((each, index) => ({ call: `c${index + 1}`, changes: frozen(each) }))

describe('a snapshot', () => {
  test('is a deep copy that nobody can change', () => {
    const original = { list: [{ a: 1 }], nested: { b: 2 } }
    const snapshot = frozen(original)
    original.list.push({ a: 2 })
    original.nested.b = 3
    expect(snapshot).toEqual({ list: [{ a: 1 }], nested: { b: 2 } })
    for (const object of [snapshot, snapshot.list, (snapshot.list as object[])[0], snapshot.nested]) {
      expect(Object.isFrozen(object)).toBe(true)
    }
    expect(Object.isFrozen(original)).toBe(false)
  })

  test('holds what JSON holds: no undefined, one zero', () => {
    const snapshot = frozen({ gone: undefined, zero: -0, holes: [undefined, 1] })
    expect(Object.keys(snapshot)).toEqual(['zero', 'holes'])
    expect(Object.is(snapshot.zero, 0)).toBe(true)
    expect(snapshot.holes).toEqual([null, 1])
  })

  test('takes a key __proto__ as a key', () => {
    const snapshot = frozen(JSON.parse('{"__proto__": {"admin": true}, "deep": {"__proto__": 1}}'))
    expect(Object.keys(snapshot)).toEqual(['__proto__', 'deep'])
    expect((snapshot as { admin?: boolean }).admin).toBeUndefined()
    expect(Object.getPrototypeOf(snapshot)).toBe(Object.prototype)
    expect(Object.keys(snapshot.deep as object)).toEqual(['__proto__'])
  })

  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const deepArray = JSON.parse(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`)
  test.each<[string, unknown]>([
    ['a function', { f: () => 1 }],
    ['a class instance', { at: new Date(0) }],
    ['a big integer', { n: 1n }],
    ['a cycle', cycle],
    ['40 levels', deepArray],
    ['an array in place of an object', [1]],
  ])('cannot be made of %s', (_name, context) => {
    const act = () => freezeContext(context as Context, 'tool_failed')
    expect(act).toThrow(GatewayError)
    expect(act).toThrow(expect.objectContaining({ code: 'tool_failed' }))
  })

  test('of nothing is empty', () => {
    expect(freezeContext(undefined, 'invalid_arguments')).toEqual({})
  })
})

describe('a merge', () => {
  test('applies changes of different keys', () => {
    const { context, conflicts } = mergeContext(frozen({ a: 1, b: 1 }), changes({ a: 2 }, { c: 3 }))
    expect(context).toEqual({ a: 2, b: 1, c: 3 })
    expect(Object.isFrozen(context)).toBe(true)
    expect(conflicts).toEqual([])
  })

  test('keeps the old value where two calls want different ones, and reports all who wanted', () => {
    const { context, conflicts } = mergeContext(frozen({ a: 0 }), changes({ a: 1 }, { a: 1 }, { a: 2, b: 2 }))
    expect(context).toEqual({ a: 0, b: 2 })
    expect(conflicts).toEqual([
      {
        key: 'a',
        kept: 0,
        wanted: [
          { call: 'c1', value: 1 },
          { call: 'c2', value: 1 },
          { call: 'c3', value: 2 },
        ],
      },
    ])
  })

  test('leaves an absent key absent where two calls disagree', () => {
    const { context, conflicts } = mergeContext(frozen({}), changes({ a: 1 }, { a: 2 }))
    expect(Object.hasOwn(context, 'a')).toBe(false)
    expect(conflicts[0]?.kept).toBeUndefined()
  })

  test('sees no conflict in equal values, whatever the order of their keys', () => {
    const { context, conflicts } = mergeContext(
      frozen({}),
      changes({ a: { x: 1, y: [2] } }, { a: { y: [2], x: 1 } }),
    )
    expect(context).toEqual({ a: { x: 1, y: [2] } })
    expect(conflicts).toEqual([])
  })

  test('takes a key __proto__ as a key', () => {
    const change = JSON.parse('{"__proto__": {"admin": true}}')
    const { context, conflicts } = mergeContext(frozen({ a: 1 }), changes(change, change))
    expect(Object.keys(context)).toEqual(['a', '__proto__'])
    expect((context as { admin?: boolean }).admin).toBeUndefined()
    expect(conflicts).toEqual([])
  })

  test('does not take an inherited name for a reducer', () => {
    const { conflicts } = mergeContext(frozen({}), changes({ toString: 1 }, { toString: 2 }), {})
    expect(conflicts).toHaveLength(1)
  })

  test.each<[Reducer, unknown, readonly unknown[], unknown]>([
    ['append', ['a'], ['b', ['c', 'd']], ['a', 'b', 'c', 'd']],
    ['append', undefined, ['b', [['c']]], ['b', ['c']]],
    ['append', 'a', ['b'], ['a', 'b']],
    ['sum', 10, [1, 2.5], 13.5],
    ['sum', undefined, [1, 2], 3],
    ['max', 5, [3, 4], 5],
    ['max', undefined, [3, 4], 4],
    ['min', 5, [3, 4], 3],
    ['last', 'a', ['b', 'c'], 'c'],
  ])('resolves by %s: %j and %j give %j', (reducer, old, wanted, result) => {
    const all = changes(...wanted.map((value) => ({ key: value })))
    const { context, conflicts } = mergeContext(frozen({ key: old }), all, { key: reducer })
    expect(context).toEqual({ key: result })
    expect(conflicts).toEqual([])
  })

  test.each<[Reducer, unknown, unknown]>([
    ['sum', 1, 'two'],
    ['max', 'one', 2],
    ['min', 1, null],
  ])('reports a value that %s cannot take, and keeps the old one', (reducer, old, value) => {
    const { context, conflicts } = mergeContext(frozen({ key: old }), changes({ key: value }), {
      key: reducer,
    })
    expect(context).toEqual({ key: old })
    expect(conflicts).toEqual([{ key: 'key', kept: old, wanted: [{ call: 'c1', value }] }])
  })
})

test('a context ends the same in whatever order its changes come in', () => {
  const value = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constant({ x: 1 }), fc.constant([1]))
  const change = fc.dictionary(fc.constantFrom('plain', 'list', 'sum', 'last'), value)
  const shuffledChanges = fc
    .array(change, { maxLength: 8 })
    .chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all.keys()], { minLength: all.length })),
    )
  const reducers = { list: 'append', sum: 'sum', last: 'last' } as const
  const end = (all: readonly Context[], order: readonly number[]) => {
    const shared = new SharedContext(frozen({ plain: 1, sum: 1 }), reducers)
    for (const index of order) shared.keep(index, `c${index}`, frozen(all[index] ?? {}))
    shared.merge()
    return { context: shared.snapshot, conflicts: shared.conflicts }
  }
  fc.assert(
    fc.property(shuffledChanges, ([all, order]) => {
      expect(end(all, order)).toEqual(end(all, [...all.keys()]))
    }),
  )
})
