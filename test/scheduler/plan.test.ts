import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import type { Declaration } from '../../src/scheduler/declaration.ts'
import { type PlannableTask, planLane } from '../../src/scheduler/plan.ts'
import { onPort, SAFE, SERIAL, UNDECLARED } from './recorder.ts'

function task(
  id: string,
  declaration: Declaration | undefined,
  ports: readonly string[] = [],
): PlannableTask {
  return { id, declaration, arguments: {}, claims: ports.map(onPort) }
}

const waits = (plan: ReturnType<typeof planLane>) =>
  Object.fromEntries(
    plan.calls.map(({ id, waitsFor }) => [id, waitsFor.map((wait) => `${wait.id}: ${wait.reason}`)]),
  )

describe('a plan', () => {
  test('under partition says which partition comes first, and who takes turns on a port', () => {
    const plan = planLane(
      [
        task('a', SAFE, ['bus1']),
        task('b', SAFE, ['bus2']),
        task('c', SAFE, ['bus1']),
        task('d', SERIAL, ['bus1']),
        task('e', SAFE, ['bus1']),
      ],
      'partition',
    )
    expect(plan.partitions).toEqual([['a', 'b', 'c'], ['d'], ['e']])
    expect(waits(plan)).toEqual({
      a: [],
      b: [],
      c: ['a: same port port:bus1'],
      d: ['a: earlier partition', 'b: earlier partition', 'c: earlier partition'],
      e: ['d: earlier partition'],
    })
  })

  test('under batch says whether the calls run together or one at a time', () => {
    const together = planLane([task('a', SAFE, ['bus1']), task('b', SAFE, ['bus1'])], 'batch')
    expect(together.partitions).toEqual([['a', 'b']])
    expect(waits(together)).toEqual({ a: [], b: ['a: same port port:bus1'] })

    const serial = planLane([task('a', SAFE), task('b', SAFE), task('c', UNDECLARED)], 'batch')
    expect(serial.partitions).toEqual([['a'], ['b'], ['c']])
    expect(waits(serial)).toEqual({ a: [], b: ['a: one at a time'], c: ['b: one at a time'] })
  })

  test('under resource says which claim or barrier orders the calls, and marks each overlap', () => {
    const plan = planLane(
      [
        task('a', SERIAL, ['bus1']),
        task('b', SERIAL, ['bus1']),
        task('c', SERIAL, ['bus2']),
        task('d', SAFE, ['bus3']),
        task('e', UNDECLARED, ['bus3']),
        task('f', SAFE, ['bus1']),
        task('g', SAFE, ['bus2']),
      ],
      'resource',
    )
    expect(plan.partitions).toEqual([['a', 'c', 'd'], ['b'], ['e'], ['f', 'g']])
    const alone = 'one of the two overlaps with nothing'
    expect(waits(plan)).toEqual({
      a: [],
      b: ['a: same port port:bus1'],
      c: [],
      d: [],
      e: [`a: ${alone}`, `b: ${alone}`, `c: ${alone}`, 'd: same port port:bus3'],
      f: [`e: ${alone}`],
      g: [`e: ${alone}`],
    })
    expect(plan.calls.map(({ overlaps }) => overlaps)).toEqual([
      [],
      [],
      ['a', 'b'],
      ['a', 'b', 'c'],
      [],
      [],
      [],
    ])
  })

  test('under resource names a claim that is no port', () => {
    const writer = (id: string): PlannableTask => ({
      ...task(id, SERIAL),
      claims: [{ resource: 'sqlite', mode: 'exclusive' }],
    })
    expect(waits(planLane([writer('a'), writer('b')], 'resource'))).toEqual({
      a: [],
      b: ['a: same resource sqlite'],
    })
  })

  test('of nothing is empty', () => {
    expect(planLane([], 'partition')).toEqual({ partitions: [], calls: [] })
  })
})

describe('a call may start early', () => {
  const early = (tasks: readonly PlannableTask[], policy: 'partition' | 'batch' | 'resource') =>
    planLane(tasks, policy).calls.map(({ earlyStart }) => earlyStart.yes)

  test('if it is a parallel-safe read of the first partition', () => {
    expect(
      early([task('a', SAFE), task('b', SAFE), task('c', SERIAL), task('d', SAFE)], 'partition'),
    ).toEqual([true, true, false, false])
  })

  test('under resource if it waits for nothing', () => {
    expect(
      early([task('a', SERIAL, ['bus1']), task('b', SAFE, ['bus1']), task('c', SAFE)], 'resource'),
    ).toEqual([false, false, true])
  })

  test('never under batch', () => {
    expect(early([task('a', SAFE), task('b', SAFE)], 'batch')).toEqual([false, false])
  })

  const not: readonly [string, PlannableTask][] = [
    ['a set that is parallel-safe', task('a', { effect: 'set', parallelSafe: true })],
    ['a read that is not', task('a', { effect: 'read' })],
    ['a read that is serial', task('a', { effect: 'read', parallelSafe: true, serial: true })],
    ['an unknown tool', task('a', undefined)],
    ['a call that was rejected', { ...task('a', SAFE), rejected: new GatewayError('forbidden', 'no') }],
  ]
  test.each(not)('but not %s', (_name, call) => {
    expect(planLane([call], 'partition').calls[0]?.earlyStart.yes).toBe(false)
  })
})

test('the waits in a plan of a thousand calls are linear in the calls', () => {
  const tasks = Array.from({ length: 1_000 }, (_, index) => task(`c${index}`, SERIAL, [`bus${index % 32}`]))
  const plan = planLane(tasks, 'resource')
  expect(plan.partitions).toHaveLength(Math.ceil(1_000 / 32))
  expect(plan.calls.reduce((sum, { waitsFor }) => sum + waitsFor.length, 0)).toBe(1_000 - 32)
})
