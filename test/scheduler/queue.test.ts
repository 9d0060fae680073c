import fc from 'fast-check'
import { expect, test } from 'vitest'
import { claimsOf } from '../../src/scheduler/claims.ts'
import type { Rank } from '../../src/scheduler/declaration.ts'
import { Queue, type Row } from '../../src/scheduler/queue.ts'
import { onPort } from './recorder.ts'

function row(order: number, rank: Rank = 'interactive', mode: 'shared' | 'exclusive' = 'exclusive'): Row {
  return {
    order,
    device: undefined,
    claims: claimsOf([{ resource: 'a', mode }]),
    queuedAtMs: 0,
    rank,
    isReady: true,
  }
}

const orders = (rows: readonly Row[] | undefined) => rows?.map(({ order }) => order)

test('rows of a resource stand by rank, and by acceptance within a rank, whenever they came', () => {
  const queue = new Queue<Row>()
  const rows = [row(5, 'poll'), row(4), row(1, 'automation'), row(3), row(2, 'stop'), row(6, 'automation')]
  for (const each of rows) queue.insert(each)
  expect(orders(queue.line('a')?.waitingExclusive)).toEqual([2, 3, 4, 1, 6, 5])
})

test('a row that is raised stands where its new rank puts it', () => {
  const queue = new Queue<Row>()
  const poll = row(1, 'poll')
  for (const each of [poll, row(2, 'automation'), row(3, 'interactive')]) queue.insert(each)
  queue.raise(poll, 'automation')
  expect(orders(queue.line('a')?.waitingExclusive)).toEqual([3, 1, 2])
})

test('a running row holds its claims until it ends, and an idle resource is forgotten', () => {
  const queue = new Queue<Row>()
  const one = row(1, 'interactive', 'shared')
  const other = row(2, 'interactive', 'shared')
  queue.insert(one)
  queue.insert(other)
  expect(queue.isWaiting(one)).toBe(true)
  queue.start(one)
  queue.start(other)
  expect(queue.isWaiting(one)).toBe(false)
  expect(queue.line('a')).toEqual({
    waitingExclusive: [],
    waitingShared: new Set(),
    running: { exclusive: 0, shared: 2 },
  })
  queue.end(one)
  queue.end(other)
  expect(queue.line('a')).toBeUndefined()
  expect(queue.line('gateway')).toBeUndefined()
})

test('to start a row where a claim of it is taken is a fault of the program', () => {
  const queue = new Queue<Row>()
  const [holder, exclusive, shared] = [row(1), row(2), row(3, 'interactive', 'shared')]
  for (const each of [holder, exclusive, shared]) queue.insert(each)
  queue.start(holder)
  expect(() => queue.start(exclusive)).toThrow('claims are free')
  expect(() => queue.start(shared)).toThrow('claims are free')
})

test('the waiting rows of a device that are not ready are known, in order', () => {
  const queue = new Queue<Row>()
  const rows = [3, 1, 2].map((order) => ({ ...row(order), device: 'meter', isReady: order === 2 }))
  for (const each of rows) queue.insert(each)
  expect(orders(queue.unready('meter'))).toEqual([1, 3])
  const [third, first, second] = rows
  if (!(first && second && third)) throw new Error('three rows')
  queue.setReady(first, true)
  queue.setReady(second, false)
  expect(orders(queue.unready('meter'))).toEqual([2, 3])
  queue.raise(third, 'stop')
  expect(orders(queue.unready('meter'))).toEqual([3, 2])
  queue.remove(third)
  queue.remove(second)
  expect(queue.unready('meter')).toEqual([])
  expect(() => queue.setReady(second, true)).toThrow('waiting')
})

test('the waiting rows of several claims are known', () => {
  const queue = new Queue<Row>()
  const several = { ...row(1), claims: claimsOf([onPort('bus1'), onPort('bus2')]) }
  queue.insert(several)
  queue.insert(row(2))
  expect([...queue.several]).toEqual([several])
  queue.start(several)
  expect(queue.several.size).toBe(0)
})

test('a row is in the table once, and only a waiting row can be taken out', () => {
  const queue = new Queue<Row>()
  const only = row(1)
  queue.insert(only)
  expect(() => queue.insert(only)).toThrow('once')
  queue.remove(only)
  expect(() => queue.remove(only)).toThrow('waiting')
})

test('whatever comes and goes, the rows stay sorted', () => {
  const ranks = fc.constantFrom<Rank>('stop', 'interactive', 'automation', 'poll')
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(1_000)),
      fc.infiniteStream(ranks),
      fc.func(fc.nat(2)),
      (all, some, fate) => {
        const queue = new Queue<Row>()
        const rows = all.map((order) => row(order, some.next().value))
        for (const each of rows) queue.insert(each)
        const kept = rows.filter((each) => {
          const [stays, goes] = [fate(each.order) === 0, fate(each.order) === 1]
          if (goes) queue.remove(each)
          else if (!stays) queue.raise(each, 'interactive')
          return !goes
        })
        const rankOrder = ['stop', 'interactive', 'automation', 'poll']
        const expected = kept.sort(
          (one, other) =>
            rankOrder.indexOf(one.rank) - rankOrder.indexOf(other.rank) || one.order - other.order,
        )
        expect(orders(queue.line('a')?.waitingExclusive) ?? []).toEqual(orders(expected))
      },
    ),
  )
})
