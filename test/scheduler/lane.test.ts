import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { LANE_CALLS_MAX } from '../../src/limits.ts'
import { LANE_LIFE_CALLS_MAX } from '../../src/scheduler/lane.ts'
import type { TaskParts } from './recorder.ts'
import { codes, Recorder, SAFE, SERIAL, UNDECLARED } from './recorder.ts'

const fails = (code: 'timeout' | 'device_error' = 'timeout') => ({
  ends: () => {
    throw new GatewayError(code, 'no')
  },
})
const rejected = new GatewayError('invalid_arguments', 'no')
const changes = (context: Readonly<Record<string, unknown>>) => ({ value: { value: null, context } })

describe('the order of a lane', () => {
  test('under partition a call that was handed over later waits for the partition before', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane()
    lane.add([recorder.task('a'), recorder.task('b', { declaration: SERIAL })])
    await recorder.clock.advance(15)
    lane.add([recorder.task('c')])
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
      ['a', 0],
      ['b', 10],
      ['c', 20],
    ])
  })

  test('under partition a safe call joins the safe ones before it, however late it comes', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane()
    lane.add([recorder.task('a', { durationMs: 50 })])
    await recorder.clock.advance(20)
    lane.add([recorder.task('b')])
    await recorder.clock.advance(100)
    lane.add([recorder.task('c')])
    await recorder.clock.advance(100)
    expect(recorder.overlap('a', 'b')).toBe(true)
    expect(lane.partitions()).toEqual([['a', 'b', 'c']])
  })

  test('under batch a lane that stays open runs one call at a time', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane({ policy: 'batch' })
    lane.add([recorder.task('a'), recorder.task('b')])
    lane.add([recorder.task('c')])
    lane.end()
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ startMs }) => startMs)).toEqual([0, 10, 20])
    expect(lane.partitions()).toEqual([['a'], ['b'], ['c']])
  })

  test('under batch an end that comes after a run has ended changes nothing', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane({ policy: 'batch' })
    lane.add(['a', 'b', 'c'].map((id) => recorder.task(id)))
    await recorder.clock.advance(15)
    lane.end()
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ startMs }) => startMs)).toEqual([0, 10, 20])
    expect(lane.partitions()).toEqual([['a'], ['b'], ['c']])
  })

  test('under resource an undeclared call waits for everything before it, and everything after it waits', async () => {
    const recorder = new Recorder()
    const { lane } = recorder.batch(
      [
        recorder.task('a', { declaration: SERIAL, ports: ['bus1'], durationMs: 30 }),
        recorder.task('b', { declaration: UNDECLARED, ports: ['bus2'] }),
        recorder.task('c', { declaration: SAFE, ports: ['bus3'] }),
      ],
      { policy: 'resource' },
    )
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
      ['a', 0],
      ['b', 30],
      ['c', 40],
    ])
    expect(lane.partitions()).toEqual([['a'], ['b'], ['c']])
  })

  test('parallel-safe reads of one port take turns in declared order', async () => {
    const recorder = new Recorder()
    const { lane } = recorder.batch(['a', 'b', 'c'].map((id) => recorder.task(id, { ports: ['bus1'] })))
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
      ['a', 0],
      ['b', 10],
      ['c', 20],
    ])
    expect(lane.partitions()).toEqual([['a', 'b', 'c']])
  })

  test('a call that is cancelled in its place lets no later call overtake an earlier one', async () => {
    for (const policy of ['partition', 'batch', 'resource'] as const) {
      const recorder = new Recorder()
      const { lane, results } = recorder.batch(
        ['a', 'b', 'c'].map((id) => recorder.task(id, { declaration: SERIAL, ports: ['bus1'] })),
        { policy },
      )
      await recorder.clock.advance(5)
      expect(lane.cancel('b')).toBe(true)
      await recorder.clock.advance(100)
      expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
        ['a', 0],
        ['c', 10],
      ])
      expect(codes(await results)).toEqual({ a: 'ok', b: 'cancelled', c: 'ok' })
    }
  })

  test('a call that is rejected at once keeps its partition, and later calls wait for those before it', async () => {
    const recorder = new Recorder()
    const { lane } = recorder.batch([
      recorder.task('a'),
      recorder.task('b', { declaration: SERIAL, rejected }),
      recorder.task('c'),
    ])
    await recorder.clock.advance(100)
    expect(lane.partitions()).toEqual([['a'], ['b'], ['c']])
    expect(recorder.run('c').startMs).toBe(recorder.run('a').endMs)
  })
})

describe('a failed call', () => {
  const four = (recorder: Recorder, second: TaskParts) => [
    recorder.task('a', { durationMs: 30 }),
    recorder.task('b', second),
    recorder.task('c', { declaration: SERIAL }),
    recorder.task('d'),
  ]

  test('does not cancel its siblings, and calls after it go on', async () => {
    const recorder = new Recorder()
    const { results } = recorder.batch(four(recorder, fails()))
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'ok', b: 'timeout', c: 'ok', d: 'ok' })
  })

  test('under abort stops what has not started, and what has started finishes', async () => {
    const recorder = new Recorder()
    const { results } = recorder.batch(four(recorder, fails()), { onError: 'abort' })
    await recorder.clock.advance(10)
    await recorder.clock.advance(90)
    expect(codes(await results)).toEqual({ a: 'ok', b: 'timeout', c: 'aborted', d: 'aborted' })
    expect(recorder.started()).toEqual(['a', 'b'])
    expect(recorder.run('a').endMs).toBe(30)
  })

  test('under abort, if it was known to fail, nothing starts at all', async () => {
    const recorder = new Recorder()
    const { results } = recorder.batch(four(recorder, { rejected }), { onError: 'abort' })
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'aborted', b: 'invalid_arguments', c: 'aborted', d: 'aborted' })
    expect(recorder.runs).toEqual([])
  })

  test('under continue, if it was known to fail, is the only one that does not run', async () => {
    const recorder = new Recorder()
    const { results } = recorder.batch(four(recorder, { rejected }))
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'ok', b: 'invalid_arguments', c: 'ok', d: 'ok' })
  })

  test('under abort stops what is added later to a lane that stays open', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane({ onError: 'abort' })
    const first = lane.add([recorder.task('a', fails())])
    await recorder.clock.advance(20)
    const later = lane.add([recorder.task('b'), recorder.task('c', { rejected })])
    await recorder.clock.advance(20)
    expect(codes(await Promise.all([...first, ...later]))).toEqual({
      a: 'timeout',
      b: 'aborted',
      c: 'invalid_arguments',
    })
  })

  test('under abort stops a later call even where that would have been refused anyway', async () => {
    const recorder = new Recorder()
    const refusal = () => new GatewayError('device_unavailable', 'no')
    const { results } = recorder.batch([recorder.task('a', { rejected }), recorder.task('b', { refusal })], {
      onError: 'abort',
    })
    expect(codes(await results)).toEqual({ a: 'invalid_arguments', b: 'aborted' })
  })

  test('under abort an outcome that is unknown by design is no failure', async () => {
    const recorder = new Recorder()
    const { results } = recorder.batch(
      [
        recorder.task('a', { declaration: SERIAL, value: { value: null, unacknowledged: true } }),
        recorder.task('b', { declaration: SERIAL }),
      ],
      { onError: 'abort' },
    )
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'ok', b: 'ok' })
    expect((await results)[0]?.outcome).toBe('unknown')
  })
})

describe('a cancel', () => {
  test('ends all that has not started, and what runs finishes', async () => {
    const recorder = new Recorder()
    const { lane, results } = recorder.batch(
      ['a', 'b', 'c'].map((id) => recorder.task(id, { declaration: SERIAL })),
      { onError: 'abort' },
    )
    await recorder.clock.advance(5)
    expect(lane.cancel()).toBe(true)
    expect(lane.cancel()).toBe(false)
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'ok', b: 'cancelled', c: 'cancelled' })
  })

  test('of a call that runs, or of none, cancels nothing', async () => {
    const recorder = new Recorder()
    const { lane, results } = recorder.batch([recorder.task('a')])
    expect(lane.cancel('a')).toBe(false)
    expect(lane.cancel('z')).toBe(false)
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'ok' })
  })

  test('of a call that held back others lets them go', async () => {
    const recorder = new Recorder()
    recorder.batch([
      recorder.task('holder', { claims: [{ resource: 'db', mode: 'exclusive' }], durationMs: 5_000 }),
    ])
    const both = recorder.batch([
      recorder.task('both', { claims: [{ resource: 'db', mode: 'exclusive' }], ports: ['bus1'] }),
    ])
    await recorder.clock.advance(2_000)
    recorder.batch([recorder.task('next', { ports: ['bus1'] })])
    await recorder.clock.advance(10)
    expect(recorder.started()).toEqual(['holder'])
    expect(both.lane.cancel()).toBe(true)
    await recorder.clock.advance(10)
    expect(recorder.started()).toEqual(['holder', 'next'])
  })
})

describe('the context', () => {
  test('is one frozen snapshot for all calls of a partition, merged after it', async () => {
    const recorder = new Recorder()
    const seen: Record<string, unknown> = {}
    const see = (
      id: string,
      durationMs: number,
      context: Readonly<Record<string, unknown>> = {},
    ): TaskParts => ({
      durationMs,
      ends: (run) => {
        seen[id] = run.context
        return changes(context).value
      },
    })
    const { lane } = recorder.batch(
      [
        recorder.task('a', see('a', 20, { x: 1 })),
        recorder.task('b', see('b', 5, { y: 2 })),
        recorder.task('c', { declaration: SERIAL, ...see('c', 5, { x: 3 }) }),
        recorder.task('d', see('d', 5)),
      ],
      { context: { x: 0 } },
    )
    await recorder.clock.advance(10)
    expect(lane.context()).toEqual({ x: 0 })
    await recorder.clock.advance(100)
    expect(seen).toEqual({ a: { x: 0 }, b: { x: 0 }, c: { x: 1, y: 2 }, d: { x: 3, y: 2 } })
    expect(seen.a).toBe(seen.b)
    expect(Object.values(seen).every((each) => Object.isFrozen(each))).toBe(true)
    expect(lane.context()).toEqual({ x: 3, y: 2 })
    expect(lane.conflicts()).toEqual([])
  })

  test('does not change while a partition is still open for further calls', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane()
    lane.add([recorder.task('a', changes({ x: 1 }))])
    await recorder.clock.advance(50)
    expect(lane.context()).toEqual({})
    lane.add([recorder.task('b', changes({ x: 2 }))])
    await recorder.clock.advance(50)
    lane.end()
    expect(lane.context()).toEqual({})
    expect(lane.conflicts()).toHaveLength(1)
  })

  test('under resource is seen as it was at admission, and merged when the lane has drained', async () => {
    const recorder = new Recorder()
    const seen: unknown[] = []
    const set = (id: string, x: number) =>
      recorder.task(id, {
        declaration: SERIAL,
        ports: ['bus1'],
        ends: (run) => {
          seen.push(run.context)
          return changes({ [id]: x }).value
        },
      })
    const lane = recorder.lane({ policy: 'resource' })
    lane.add([set('a', 1), set('b', 2)])
    await recorder.clock.advance(15)
    expect(lane.context()).toEqual({})
    await recorder.clock.advance(15)
    expect(lane.context()).toEqual({ a: 1, b: 2 })
    lane.add([set('c', 3)])
    await recorder.clock.advance(50)
    expect(seen).toEqual([{}, {}, { a: 1, b: 2 }])
  })

  test('takes nothing from a call that failed', async () => {
    const recorder = new Recorder()
    const { lane } = recorder.batch([recorder.task('a', changes({ x: 1 })), recorder.task('b', fails())])
    await recorder.clock.advance(100)
    expect(lane.context()).toEqual({ x: 1 })
  })

  test('that cannot be kept is a failure of the tool', async () => {
    const recorder = new Recorder()
    const { lane, results } = recorder.batch([
      recorder.task('a', { declaration: SERIAL, ...changes({ f: () => 1 }) }),
      recorder.task('b', changes({ x: 1 })),
    ])
    await recorder.clock.advance(100)
    expect(codes(await results)).toEqual({ a: 'tool_failed', b: 'ok' })
    expect((await results)[0]?.outcome).toBe('unknown')
    expect(lane.context()).toEqual({ x: 1 })
  })

  test('that a lane is opened with must be data', () => {
    const open = () => new Recorder().lane({ context: { f: () => 1 } })
    expect(open).toThrow(expect.objectContaining({ code: 'invalid_arguments' }))
  })

  test('resolves a key by the reducer of the lane', async () => {
    const recorder = new Recorder()
    const { lane } = recorder.batch(
      [recorder.task('a', changes({ n: 1 })), recorder.task('b', changes({ n: 2 }))],
      { context: { n: 10 }, reducers: { n: 'sum' } },
    )
    await recorder.clock.advance(100)
    expect(lane.context()).toEqual({ n: 13 })
  })
})

describe('the end of a lane', () => {
  test('is drained when the last call is settled', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane()
    let drainedAtMs: number | undefined
    lane.drained.then(() => {
      drainedAtMs = recorder.clock.now()
    })
    lane.add([recorder.task('a'), recorder.task('b', { durationMs: 30 })])
    await recorder.clock.advance(50)
    expect(drainedAtMs).toBeUndefined()
    lane.add([recorder.task('c')])
    lane.end()
    lane.end()
    await recorder.clock.advance(50)
    expect(drainedAtMs).toBe(60)
  })

  test('of an empty lane is drained at once', async () => {
    const recorder = new Recorder()
    const { lane, results } = recorder.batch([])
    await lane.drained
    expect(await results).toEqual([])
    expect(lane.partitions()).toEqual([])
  })

  test('is final: to add a call after it is a fault of the program', () => {
    const recorder = new Recorder()
    const { lane } = recorder.batch([])
    expect(() => lane.add([recorder.task('a')])).toThrow('has ended')
  })
})

describe('the bounds of a lane', () => {
  test('let a lane have a bounded number of waiting calls', async () => {
    const recorder = new Recorder()
    const tasks = Array.from({ length: LANE_CALLS_MAX + 2 }, (_, index) =>
      recorder.task(`c${index}`, { declaration: SERIAL, durationMs: 0 }),
    )
    const { results } = recorder.batch(tasks)
    await recorder.clock.advance(0)
    for (let turn = 0; turn < 20; turn += 1) await recorder.clock.advance(1)
    const all = codes(await results)
    // The first one runs, and a lane's fill of others waits.
    expect(Object.values(all).filter((code) => code === 'ok')).toHaveLength(LANE_CALLS_MAX + 1)
    expect(all[`c${LANE_CALLS_MAX + 1}`]).toBe('queue_full')
  })

  test('let a lane have a bounded number of calls in its life', async () => {
    const recorder = new Recorder()
    const lane = recorder.lane()
    const filled = lane.add(
      Array.from({ length: LANE_LIFE_CALLS_MAX }, (_, index) => recorder.task(`c${index}`, { rejected })),
    )
    const over = lane.add([recorder.task('over'), recorder.task('wrong', { rejected })])
    lane.end()
    await Promise.all(filled)
    expect(codes(await Promise.all(over))).toEqual({ over: 'queue_full', wrong: 'invalid_arguments' })
    await lane.drained
    expect(lane.partitions()).toHaveLength(1)
  })
})
