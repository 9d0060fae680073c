import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type ErrorCode, GatewayError } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { Rank } from '../../src/scheduler/declaration.ts'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { Task, TaskResult } from '../../src/scheduler/task.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { codes, Recorder, SERIAL } from './recorder.ts'

/** Each call in a lane of its own, as single calls come. */
function single(recorder: Recorder, task: Task, rank: Rank = 'interactive', deadlineAt?: number) {
  return recorder.batch([task], { rank, ...(deadlineAt !== undefined && { deadlineAt }) })
}

const on = (port: string, durationMs = 10) => ({ declaration: SERIAL, ports: [port], durationMs })

async function settledCodes(...batches: { results: Promise<readonly TaskResult[]> }[]) {
  return codes((await Promise.all(batches.map(({ results }) => results))).flat())
}

describe('across lanes', () => {
  test('calls of one port run one after the other, first come, first served', async () => {
    const recorder = new Recorder()
    for (const id of ['a', 'b', 'c']) single(recorder, recorder.task(id, on('bus1')))
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
      ['a', 0],
      ['b', 10],
      ['c', 20],
    ])
  })

  test('calls of different ports do not wait for each other', async () => {
    const recorder = new Recorder()
    for (const id of ['a', 'b', 'c']) single(recorder, recorder.task(id, on(id)))
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ startMs }) => startMs)).toEqual([0, 0, 0])
  })

  test('a higher rank goes first, and a run is never pre-empted', async () => {
    const recorder = new Recorder()
    single(recorder, recorder.task('first', on('bus1')), 'poll')
    for (const rank of ['poll', 'automation', 'interactive', 'stop'] as const) {
      single(recorder, recorder.task(rank, on('bus1')), rank)
    }
    await recorder.clock.advance(100)
    expect(recorder.started()).toEqual(['first', 'stop', 'interactive', 'automation', 'poll'])
    expect(recorder.run('stop').startMs).toBe(10)
  })

  test('a call keeps the place of its acceptance while it waits for its lane', async () => {
    const recorder = new Recorder()
    recorder.batch([recorder.task('a1', on('bus1')), recorder.task('a2', on('bus1'))])
    single(recorder, recorder.task('b', on('bus1')))
    await recorder.clock.advance(100)
    expect(recorder.started()).toEqual(['a1', 'a2', 'b'])
  })

  test('a call that waits for its lane holds back nobody', async () => {
    const recorder = new Recorder()
    recorder.batch([recorder.task('a1', on('bus1', 50)), recorder.task('a2', on('bus2'))])
    single(recorder, recorder.task('b', on('bus2')))
    await recorder.clock.advance(100)
    expect(recorder.run('b').startMs).toBe(0)
  })

  test('an automation gains the rank of people after 10 s, however many of them keep calling', async () => {
    const recorder = new Recorder()
    // A person's call is always waiting; each takes a second.
    let calls = 0
    const keepCalling = () => {
      calls += 1
      single(recorder, recorder.task(`person${calls}`, { ...on('bus1', 1_000), ends: () => again() }))
    }
    const again = () => {
      keepCalling()
      return { value: null }
    }
    keepCalling()
    keepCalling()
    await recorder.clock.advance(500)
    single(recorder, recorder.task('automation', on('bus1')), 'automation')
    single(recorder, recorder.task('poll', on('bus1')), 'poll')
    await recorder.clock.advance(30_000)
    // 10 s in the queue, then the calls accepted before it: the run that is on the line, and one more.
    expect(recorder.run('automation').startMs).toBeGreaterThanOrEqual(10_500)
    expect(recorder.run('automation').startMs).toBeLessThanOrEqual(12_000)
    // People go before polls for ever.
    expect(recorder.started()).not.toContain('poll')
  })

  test('a poll gains the rank of automations after 10 s', async () => {
    const recorder = new Recorder()
    let calls = 0
    const keepCalling = () => {
      calls += 1
      const task = recorder.task(`automation${calls}`, {
        ...on('bus1', 1_000),
        ends: () => {
          keepCalling()
          return { value: null }
        },
      })
      single(recorder, task, 'automation')
    }
    keepCalling()
    keepCalling()
    single(recorder, recorder.task('poll', on('bus1')), 'poll')
    await recorder.clock.advance(30_000)
    expect(recorder.run('poll').startMs).toBeGreaterThanOrEqual(10_000)
    expect(recorder.run('poll').startMs).toBeLessThanOrEqual(12_000)
  })

  test('a call that gains a rank starts then, if only waiting calls of that rank held it back', async () => {
    const recorder = new Recorder()
    const device = 'meter'
    single(recorder, recorder.task('aging', { ...on('bus1'), device, notBefore: () => 5_000 }), 'automation')
    const settling = { ...on('bus1'), device, notBefore: () => 60_000 }
    single(recorder, recorder.task('settling', settling))
    await recorder.clock.advance(20_000)
    expect(recorder.started()).toEqual(['aging'])
    expect(recorder.run('aging').startMs).toBe(10_000)
  })

  test('a call gains its rank at its time, whatever fraction of a millisecond it came at', async () => {
    // Of these sums the difference is less than 10,000: an alarm that asks for it again would never end.
    const fractions = Array.from({ length: 2_000 }, (_, index) => 7_000 + index / 997)
    const arrivals = fractions.filter((at) => at + 10_000 - at < 10_000).slice(0, 3)
    expect(arrivals).toHaveLength(3)
    for (const at of arrivals) {
      const recorder = new Recorder()
      await recorder.clock.advance(at)
      const device = 'meter'
      single(
        recorder,
        recorder.task('aging', { ...on('bus1'), device, notBefore: () => at + 20 }),
        'automation',
      )
      single(recorder, recorder.task('settling', { ...on('bus1'), device, notBefore: () => 60_000 }))
      await recorder.clock.advance(20_000)
      expect(recorder.run('aging').startMs).toBe(at + 10_000)
    }
  })
})

describe('a call that may not start yet', () => {
  test('starts at its time, and others of its port pass it meanwhile', async () => {
    const recorder = new Recorder()
    single(recorder, recorder.task('late', { ...on('bus1'), device: 'relay', notBefore: () => 40 }))
    single(recorder, recorder.task('same', { ...on('bus1'), device: 'relay' }))
    single(recorder, recorder.task('other', { ...on('bus1'), device: 'meter' }))
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
      ['other', 0],
      ['late', 40],
      ['same', 50],
    ])
    expect(recorder.clock.pending).toBe(0)
  })

  test('is known as such while it waits for something else, and holds back nobody else then', async () => {
    const recorder = new Recorder()
    single(recorder, recorder.task('holder', on('bus1', 5_000)))
    single(
      recorder,
      recorder.task('both', {
        declaration: SERIAL,
        ports: ['bus1', 'bus2'],
        device: 'relay',
        notBefore: () => 60_000,
      }),
    )
    await recorder.clock.advance(3_000)
    single(recorder, recorder.task('other', { ...on('bus2'), device: 'meter' }))
    await recorder.clock.advance(10)
    expect(recorder.started()).toEqual(['holder', 'other'])
  })

  test('starts sooner when a recheck says so', async () => {
    const recorder = new Recorder()
    let notBefore = Number.POSITIVE_INFINITY
    single(recorder, recorder.task('late', { ...on('bus1'), notBefore: () => notBefore }))
    await recorder.clock.advance(100)
    expect(recorder.runs).toEqual([])
    notBefore = 0
    recorder.scheduler.recheck('port:bus2')
    await recorder.clock.advance(5)
    expect(recorder.runs).toEqual([])
    recorder.scheduler.recheck('port:bus1')
    await recorder.clock.advance(5)
    expect(recorder.run('late').startMs).toBe(105)
  })

  test('lets others go when a recheck finds that its time has moved on', async () => {
    const recorder = new Recorder()
    let notBefore = 0
    single(recorder, recorder.task('holder', on('bus1')))
    single(recorder, recorder.task('late', { ...on('bus1'), device: 'relay', notBefore: () => notBefore }))
    single(recorder, recorder.task('other', { ...on('bus1'), device: 'meter' }))
    notBefore = 80
    await recorder.clock.advance(100)
    expect(recorder.runs.map(({ id, startMs }) => [id, startMs])).toEqual([
      ['holder', 0],
      ['other', 10],
      ['late', 80],
    ])
  })

  test('is asked again at its time, and waits on if that has moved', async () => {
    const recorder = new Recorder()
    let notBefore = 20
    single(recorder, recorder.task('late', { ...on('bus1'), notBefore: () => notBefore }))
    await recorder.clock.advance(10)
    notBefore = 70
    await recorder.clock.advance(100)
    expect(recorder.run('late').startMs).toBe(70)
  })
})

describe('a deadline', () => {
  test('that passes in the queue settles the call at that moment', async () => {
    const recorder = new Recorder()
    single(recorder, recorder.task('a', on('bus1', 50)))
    const late = single(recorder, recorder.task('b', on('bus1')), 'interactive', 30)
    await recorder.clock.advance(30)
    const [result] = await late.results
    expect(result).toMatchObject({
      outcome: 'not_executed',
      error: { code: 'deadline_exceeded' },
      started: false,
      timing: { queuedMs: 30 },
    })
    await recorder.clock.advance(100)
    expect(recorder.started()).toEqual(['a'])
  })

  test('does not end a run that has begun', async () => {
    const recorder = new Recorder()
    const batch = single(recorder, recorder.task('a', on('bus1', 50)), 'interactive', 30)
    await recorder.clock.advance(100)
    expect(await settledCodes(batch)).toEqual({ a: 'ok' })
  })

  test('that has passed at acceptance refuses the call at once', async () => {
    const recorder = new Recorder()
    single(recorder, recorder.task('a', on('bus1', 50)))
    await recorder.clock.advance(10)
    const batch = single(recorder, recorder.task('b', on('bus1')), 'interactive', 10)
    expect(recorder.scheduler.waiting('bus1')).toEqual({ waiting: 0, running: 1 })
    expect(await settledCodes(batch)).toEqual({ b: 'deadline_exceeded' })
  })

  test('ends all calls of a batch that have not started, whichever they wait for', async () => {
    const recorder = new Recorder()
    const batch = recorder.batch(
      ['a', 'b', 'c'].map((id) => recorder.task(id, on('bus1', 20))),
      { deadlineAt: 30, onError: 'abort' },
    )
    await recorder.clock.advance(100)
    expect(await settledCodes(batch)).toEqual({ a: 'ok', b: 'ok', c: 'deadline_exceeded' })
  })

  test('is held even if its timer is late', async () => {
    const clock = new VirtualClock()
    // A host so busy that no timer of it comes in time.
    const late: Clock = {
      now: () => clock.now(),
      wall: () => clock.wall(),
      random: () => clock.random(),
      randomBytes: (length) => clock.randomBytes(length),
      after: (delayMs, callback) => clock.after(delayMs + 1_000, callback),
    }
    const scheduler = new Scheduler({ clock: late, queueLength: 8 })
    const recorder = new Recorder()
    const lane = (deadlineAt: number) =>
      scheduler.openLane({ policy: 'partition', rank: 'interactive', onError: 'continue', deadlineAt })
    let finish = () => {}
    const holder: Task = {
      ...recorder.task('a', on('bus1')),
      run: () =>
        new Promise((resolve) => {
          finish = () => resolve({ value: null })
        }),
    }
    lane(1_000).add([holder])
    const results = lane(30).add([recorder.task('b', on('bus1')), recorder.task('c', on('bus1'))])
    await clock.advance(50)
    finish()
    await clock.advance(0)
    expect(codes(await Promise.all(results))).toEqual({ b: 'deadline_exceeded', c: 'deadline_exceeded' })
    expect(recorder.runs).toEqual([])
  })
})

describe('a refusal', () => {
  const unavailable = new GatewayError('device_unavailable', 'the port is not open')

  test('at acceptance is the result at once', async () => {
    const recorder = new Recorder()
    const batch = single(recorder, recorder.task('a', { refusal: () => unavailable }))
    expect(await settledCodes(batch)).toEqual({ a: 'device_unavailable' })
    expect(recorder.runs).toEqual([])
  })

  test('at a recheck ends the calls of that port that have not started, at once', async () => {
    const recorder = new Recorder()
    let refusal: GatewayError | undefined
    const task = (id: string, port: string) => recorder.task(id, { ...on(port, 50), refusal: () => refusal })
    const batches = [
      recorder.batch([task('a', 'bus1'), task('b', 'bus1')]),
      recorder.batch([task('c', 'bus1')]),
      recorder.batch([task('d', 'bus2'), task('e', 'bus2')]),
    ]
    await recorder.clock.advance(10)
    refusal = unavailable
    recorder.scheduler.recheck('port:bus1')
    expect(recorder.scheduler.waiting('bus1')).toEqual({ waiting: 0, running: 1 })
    await recorder.clock.advance(100)
    expect(await settledCodes(...batches)).toEqual({
      a: 'ok',
      b: 'device_unavailable',
      c: 'device_unavailable',
      d: 'ok',
      e: 'ok',
    })
  })

  test('at a recheck of everything reaches every port', async () => {
    const recorder = new Recorder()
    let refusal: GatewayError | undefined
    const batches = ['bus1', 'bus2'].map((port) =>
      recorder.batch([
        recorder.task(`${port}a`, on(port)),
        recorder.task(`${port}b`, { ...on(port), refusal: () => refusal }),
      ]),
    )
    refusal = unavailable
    recorder.scheduler.recheck()
    await recorder.clock.advance(100)
    expect(await settledCodes(...batches)).toEqual({
      bus1a: 'ok',
      bus1b: 'device_unavailable',
      bus2a: 'ok',
      bus2b: 'device_unavailable',
    })
  })

  test('of one call at a recheck admits none whose own refusal has not been asked', async () => {
    const recorder = new Recorder()
    let refusal: GatewayError | undefined
    // Not ready, so that it holds back the other one until it is refused.
    const first = { ...on('bus1'), device: 'relay', notBefore: () => 500, refusal: () => refusal }
    const batches = [
      single(recorder, recorder.task('a', first)),
      single(recorder, recorder.task('b', { ...on('bus1'), device: 'relay', refusal: () => refusal })),
    ]
    await recorder.clock.advance(10)
    refusal = unavailable
    recorder.scheduler.recheck('port:bus1')
    await recorder.clock.advance(100)
    expect(await settledCodes(...batches)).toEqual({ a: 'device_unavailable', b: 'device_unavailable' })
    expect(recorder.runs).toEqual([])
  })
})

describe('the bounds', () => {
  test('let one call of an idle port run and as many wait as the queue is long', async () => {
    const recorder = new Recorder({ queueLength: 2 })
    const batch = recorder.batch(['a', 'b', 'c', 'd'].map((id) => recorder.task(id, on('bus1'))))
    expect(recorder.scheduler.waiting('bus1')).toEqual({ waiting: 2, running: 1 })
    await recorder.clock.advance(100)
    expect(await settledCodes(batch)).toEqual({ a: 'ok', b: 'ok', c: 'ok', d: 'queue_full' })
    expect(recorder.scheduler.waiting('bus1')).toEqual({ waiting: 0, running: 0 })
  })

  test('refuse a call at once, not when its turn comes', async () => {
    const recorder = new Recorder({ queueLength: 1 })
    for (const id of ['a', 'b']) single(recorder, recorder.task(id, on('bus1')))
    const refused = single(recorder, recorder.task('c', on('bus1')))
    expect((await refused.results)[0]).toMatchObject({
      error: { code: 'queue_full' },
      timing: { queuedMs: 0 },
    })
    expect(recorder.clock.now()).toBe(0)
  })

  test('do not count polls', async () => {
    const recorder = new Recorder({ queueLength: 1 })
    const polls = ['p1', 'p2', 'p3'].map((id) => single(recorder, recorder.task(id, on('bus1')), 'poll'))
    const call = single(recorder, recorder.task('a', on('bus1')))
    await recorder.clock.advance(100)
    expect(await settledCodes(...polls, call)).toEqual({ p1: 'ok', p2: 'ok', p3: 'ok', a: 'ok' })
  })
})

describe('a run', () => {
  test('begins in a microtask of its admission', async () => {
    const recorder = new Recorder()
    single(recorder, recorder.task('a'))
    expect(recorder.runs).toEqual([])
    await Promise.resolve()
    expect(recorder.started()).toEqual(['a'])
  })

  const thrown: readonly [string, () => unknown, ErrorCode][] = [
    ['a GatewayError', () => new GatewayError('bad_reply', 'no'), 'bad_reply'],
    ['an error of another kind', () => new RangeError('oops'), 'internal'],
    ['something that is no error', () => 'oops', 'internal'],
  ]
  test.each(thrown)('that throws %s ends with its code', async (_name, make, code) => {
    const lines: object[] = []
    const log: Log = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (fields) => lines.push(fields),
      child: () => log,
    }
    const clock = new VirtualClock()
    const scheduler = new Scheduler({ clock, queueLength: 8, log })
    const run = {
      rejects: () => Promise.reject(make()),
      throws: () => {
        throw make()
      },
    }
    for (const [id, how] of Object.entries(run)) {
      const lane = scheduler.openLane({ policy: 'partition', rank: 'interactive', onError: 'continue' })
      const task = { ...new Recorder().task(id, on('bus1')), run: how }
      const [result] = await Promise.all(lane.add([task]))
      expect(result).toMatchObject({ started: true, error: { code }, attempts: 1 })
    }
    expect(scheduler.waiting('bus1')).toEqual({ waiting: 0, running: 0 })
    if (code === 'internal') expect(lines[0]).toMatchObject({ call: 'rejects', tool: 'rejects' })
    else expect(lines).toEqual([])
    if (make() instanceof RangeError)
      expect(lines[0]).toMatchObject({ stack: expect.stringContaining('RangeError') })
  })

  test('has the outcome that follows from what it sent', async () => {
    const recorder = new Recorder()
    const fault = (sent: boolean) => ({
      ...on('bus1'),
      ends: (run: { progress: { sent: boolean; wireMs: number } }) => {
        run.progress.sent = sent
        run.progress.wireMs = 3.21
        throw new GatewayError('port_lost', 'gone')
      },
    })
    const batch = recorder.batch([recorder.task('a', fault(true)), recorder.task('b', fault(false))])
    await recorder.clock.advance(100)
    expect(await batch.results).toMatchObject([
      { id: 'a', outcome: 'unknown', sent: true, timing: { queuedMs: 0, runMs: 10, wireMs: 3.2 } },
      { id: 'b', outcome: 'not_executed', sent: false, timing: { queuedMs: 10, runMs: 10, wireMs: 3.2 } },
    ])
  })

  test('of a tool that declares no effect is judged as one that must not be repeated', async () => {
    const recorder = new Recorder()
    const ends = () => {
      throw new GatewayError('tool_failed', 'no')
    }
    const batch = recorder.batch([recorder.task('a', { declaration: {}, ends })])
    await recorder.clock.advance(100)
    expect((await batch.results)[0]?.outcome).toBe('unknown')
  })

  test('may hand over calls itself', async () => {
    const recorder = new Recorder()
    const outer = recorder.task('outer', {
      ends: async () => {
        const inner = recorder.batch([recorder.task('inner', on('bus1'))])
        return { value: codes(await inner.results) }
      },
    })
    const batch = recorder.batch([outer])
    await recorder.clock.advance(100)
    expect((await batch.results)[0]?.ok?.value).toEqual({ inner: 'ok' })
  })
})

test('a fault in what is asked of a task ends that call only', async () => {
  const recorder = new Recorder()
  const fault = () => {
    throw new Error('oops')
  }
  const batch = recorder.batch([
    recorder.task('a', { refusal: fault }),
    recorder.task('b', { notBefore: fault }),
    recorder.task('c'),
  ])
  await recorder.clock.advance(100)
  expect(await settledCodes(batch)).toEqual({ a: 'internal', b: 'internal', c: 'ok' })
})

test('a fault in what is asked of every call of a long lane ends them all', async () => {
  const recorder = new Recorder({ queueLength: 1_000 })
  const notBefore = () => {
    throw new Error('oops')
  }
  const tasks = Array.from({ length: 1_000 }, (_, index) =>
    recorder.task(`c${index}`, { declaration: SERIAL, notBefore }),
  )
  const batch = recorder.batch([recorder.task('first', { declaration: SERIAL }), ...tasks])
  await recorder.clock.advance(100)
  const all = Object.values(await settledCodes(batch))
  expect(all.filter((code) => code === 'internal')).toHaveLength(1_000)
})

describe('a shutdown', () => {
  test('answers what waits with stopped, lets runs finish, and refuses what comes', async () => {
    const recorder = new Recorder()
    const batch = recorder.batch(
      ['a', 'b', 'c'].map((id) => recorder.task(id, on('bus1', 50))),
      { onError: 'abort' },
    )
    await recorder.clock.advance(10)
    let doneAtMs: number | undefined
    recorder.scheduler.shutdown().then(() => {
      doneAtMs = recorder.clock.now()
    })
    const late = single(recorder, recorder.task('d'))
    expect(await settledCodes(late)).toEqual({ d: 'stopped' })
    await recorder.clock.advance(100)
    expect(await settledCodes(batch)).toEqual({ a: 'ok', b: 'stopped', c: 'stopped' })
    expect(doneAtMs).toBe(50)
  })

  test('of an idle scheduler is over at once', async () => {
    await new Recorder().scheduler.shutdown()
  })

  test('that aborts what runs still gives each its one result', async () => {
    const recorder = new Recorder()
    const ends = (run: { signal: AbortSignal; progress: { sent: boolean } }) => {
      run.progress.sent = true
      if (run.signal.aborted) throw run.signal.reason
      return { value: null }
    }
    const batch = recorder.batch([recorder.task('a', { ...on('bus1', 50), ends })])
    await recorder.clock.advance(10)
    const done = recorder.scheduler.shutdown()
    recorder.scheduler.abortRunning()
    await done
    expect(recorder.clock.now()).toBe(10)
    expect((await batch.results)[0]).toMatchObject({ error: { code: 'stopped' }, outcome: 'unknown' })
  })
})

test('calls that leave at once let go whoever any of them held back', async () => {
  const recorder = new Recorder()
  const reads = (id: string, durationMs: number) =>
    recorder.task(id, { claims: [{ resource: 'db', mode: 'shared' }], durationMs })
  recorder.batch([reads('holder', 1_000)])
  const writer = recorder.task('writer', { claims: [{ resource: 'db', mode: 'exclusive' }] })
  const { lane } = recorder.batch([writer, reads('reader', 10)])
  recorder.batch([reads('other', 10)])
  await recorder.clock.advance(10)
  expect(recorder.started()).toEqual(['holder'])
  lane.cancel()
  await recorder.clock.advance(10)
  expect(recorder.started()).toEqual(['holder', 'other'])
})

test('a call that leaves before its time has come leaves no timer', async () => {
  const recorder = new Recorder()
  const { lane } = single(recorder, recorder.task('a', { ...on('bus1'), notBefore: () => 90_000 }))
  expect(recorder.clock.pending).toBe(1)
  lane.cancel()
  expect(recorder.clock.pending).toBe(0)
})

test('an idle scheduler has no timer set', async () => {
  const recorder = new Recorder()
  const ranks: Rank[] = ['stop', 'interactive', 'automation', 'poll']
  for (const rank of ranks) {
    single(recorder, recorder.task(`${rank}1`, { ...on('bus1'), notBefore: () => 5 }), rank, 60_000)
    const { lane } = single(
      recorder,
      recorder.task(`${rank}2`, { ...on('bus1'), notBefore: () => 90_000 }),
      rank,
      60_000,
    )
    lane.cancel()
  }
  await recorder.clock.advance(200)
  expect(recorder.runs).toHaveLength(4)
  expect(recorder.clock.pending).toBe(0)
})
