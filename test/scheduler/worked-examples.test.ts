import { expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import type { Declaration, Policy } from '../../src/scheduler/declaration.ts'
import { partition } from '../../src/scheduler/policies.ts'
import { codes, onPort, Recorder } from './recorder.ts'

/** The tool registry of the nginx 502 example. */
const REGISTRY: Readonly<Record<string, Declaration>> = {
  read_log: { effect: 'read', parallelSafe: true },
  read_metric: { effect: 'read', parallelSafe: true },
  edit_config: { effect: 'set', parallelSafe: false },
  restart_service: { effect: 'act', parallelSafe: false },
}
const declarationOf = (name: string) => REGISTRY[name]

const NGINX_502 = ['read_log', 'read_metric', 'edit_config', 'read_log', 'restart_service']

test('the nginx 502 calls form four partitions', () => {
  const calls = NGINX_502.map((name) => ({ name }))
  const names = partition(calls, declarationOf, 'partition').map((group) => group.map((call) => call.name))
  expect(names).toEqual([['read_log', 'read_metric'], ['edit_config'], ['read_log'], ['restart_service']])
})

test('the nginx 502 calls run five times, the second read_log anew, partition after partition', async () => {
  const recorder = new Recorder()
  const tasks = NGINX_502.map((name, index) =>
    recorder.task(`c${index + 1}`, { name, declaration: declarationOf(name), durationMs: 10 + index }),
  )
  const { lane, results } = recorder.batch(tasks)
  await recorder.clock.advance(1_000)

  expect(recorder.runs.map(({ id, name, startMs, endMs }) => [id, name, startMs, endMs])).toEqual([
    ['c1', 'read_log', 0, 10],
    ['c2', 'read_metric', 0, 11],
    ['c3', 'edit_config', 11, 23],
    ['c4', 'read_log', 23, 36],
    ['c5', 'restart_service', 36, 50],
  ])
  expect(lane.partitions()).toEqual([['c1', 'c2'], ['c3'], ['c4'], ['c5']])
  expect((await results).map(({ id }) => id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  expect((await results).every(({ outcome, started }) => outcome === 'executed' && started)).toBe(true)
})

const BATCH_EXAMPLES: readonly [string, readonly Declaration[], boolean][] = [
  ['[a(safe), b(safe)]', [{ parallelSafe: true }, { parallelSafe: true }], true],
  ['[a(safe), b(default)]', [{ parallelSafe: true }, {}], false],
  ['[a(safe), b(safe, serial)]', [{ parallelSafe: true }, { parallelSafe: true, serial: true }], false],
]

test.each(BATCH_EXAMPLES)('%s under batch: together is %s', async (_name, declarations, isTogether) => {
  const recorder = new Recorder()
  const tasks = declarations.map((declaration, index) => recorder.task('ab'.charAt(index), { declaration }))
  const { lane } = recorder.batch(tasks, { policy: 'batch' })
  await recorder.clock.advance(100)
  expect(recorder.started()).toEqual(['a', 'b'])
  expect(recorder.overlap('a', 'b')).toBe(isTogether)
  expect(lane.partitions()).toEqual(isTogether ? [['a', 'b']] : [['a'], ['b']])
})

test('one undeclared call makes a whole batch serial, in declared order', async () => {
  const recorder = new Recorder()
  const tasks = ['a', 'b', 'c', 'd'].map((id) =>
    recorder.task(id, { declaration: id === 'c' ? {} : { parallelSafe: true } }),
  )
  recorder.batch(tasks, { policy: 'batch' })
  await recorder.clock.advance(100)
  expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
    ['a', 0],
    ['b', 10],
    ['c', 20],
    ['d', 30],
  ])
})

test.each<Policy>(['partition', 'batch', 'resource'])(
  'serial wins over parallelSafe under %s',
  async (policy) => {
    const recorder = new Recorder()
    const both: Declaration = { effect: 'read', parallelSafe: true, serial: true }
    const always: Declaration = { effect: 'read', parallelSafe: () => true, serial: true }
    recorder.batch([recorder.task('a', { declaration: both }), recorder.task('b', { declaration: always })], {
      policy,
    })
    await recorder.clock.advance(100)
    expect(recorder.overlap('a', 'b')).toBe(false)
    expect(recorder.run('b').startMs).toBe(recorder.run('a').endMs)
  },
)

test('two concurrent reads that set last_read_service to nginx and to redis change nothing and are reported', async () => {
  const recorder = new Recorder()
  const read = (id: string, service: string, durationMs: number) =>
    recorder.task(id, {
      name: 'read_log',
      arguments: { service },
      durationMs,
      value: { value: [], context: { last_read_service: service } },
    })
  // The second one ends first.
  const { lane } = recorder.batch([read('a', 'nginx', 20), read('b', 'redis', 10)], {
    context: { last_read_service: 'mysql' },
  })
  await recorder.clock.advance(100)
  expect(lane.context()).toEqual({ last_read_service: 'mysql' })
  expect(lane.conflicts()).toEqual([
    {
      key: 'last_read_service',
      kept: 'mysql',
      wanted: [
        { call: 'a', value: 'nginx' },
        { call: 'b', value: 'redis' },
      ],
    },
  ])
})

test('an unknown tool beside good ones gets its own result, and the good ones run', async () => {
  const recorder = new Recorder()
  const unknown = recorder.task('b', {
    name: 'read_lgo',
    declaration: undefined,
    rejected: new GatewayError('unknown_tool', 'there is no tool read_lgo'),
  })
  const { lane, results } = recorder.batch([
    recorder.task('a', { name: 'read_log' }),
    unknown,
    recorder.task('c', { name: 'read_metric' }),
  ])
  await recorder.clock.advance(100)
  expect(codes(await results)).toEqual({ a: 'ok', b: 'unknown_tool', c: 'ok' })
  expect(recorder.started()).toEqual(['a', 'c'])
  // It is never safe: it stands in a partition of its own and keeps the reads around it apart.
  expect(lane.partitions()).toEqual([['a'], ['b'], ['c']])
  expect(recorder.overlap('a', 'c')).toBe(false)
})

test('[A(bus1), B(bus1), C(bus2)], all serial, under resource: A and C start together and B follows A', async () => {
  const recorder = new Recorder()
  const declaration: Declaration = { effect: 'set', serial: true }
  const tasks = [
    recorder.task('A', { declaration, ports: ['bus1'], durationMs: 30 }),
    recorder.task('B', { declaration, ports: ['bus1'], durationMs: 30 }),
    recorder.task('C', { declaration, ports: ['bus2'], durationMs: 50 }),
  ]
  const { lane, results } = recorder.batch(tasks, { policy: 'resource' })
  await recorder.clock.advance(200)
  expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
    ['A', 0],
    ['C', 0],
    ['B', 30],
  ])
  expect((await results).map(({ id }) => id)).toEqual(['A', 'B', 'C'])
  expect(lane.partitions()).toEqual([['A', 'C'], ['B']])

  const declarations: Readonly<Record<string, Declaration>> = {
    A: { ...declaration, claims: [onPort('bus1')] },
    B: { ...declaration, claims: [onPort('bus1')] },
    C: { ...declaration, claims: [onPort('bus2')] },
  }
  const calls = [{ name: 'A' }, { name: 'B' }, { name: 'C' }]
  expect(partition(calls, (name) => declarations[name], 'resource')).toEqual([
    [{ name: 'A' }, { name: 'C' }],
    [{ name: 'B' }],
  ])
})
