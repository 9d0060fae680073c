// The worked examples of the written rules and its rules one by one, held against the admission model.
import { describe, expect, it } from 'vitest'
import { type Call, type Claim, type Lane, mayStart, type Table, waitsFor } from './admission-model.ts'

const ageMs = { automation: 30_000, poll: 10_000 }
const port = (name: string): Claim => ({ resource: `port:${name}`, mode: 'exclusive' })
const safe = { parallelSafe: true, serial: false }
const serial = { parallelSafe: false, serial: true }

type Sketch = Partial<Call> & { readonly id: string }

/** An undeclared interactive read of no port, unless the sketch says otherwise. */
const call = (order: number, sketch: Sketch): Call => ({
  state: 'waiting',
  index: order,
  effect: 'read',
  parallelSafe: false,
  serial: false,
  claims: [],
  rank: 'interactive',
  order,
  enqueuedAt: 0,
  ...sketch,
})

const table = (sketches: readonly Sketch[], rest: Partial<Table> = {}): Table => ({
  now: 0,
  ageMs,
  calls: sketches.map((sketch, order) => call(order, sketch)),
  ...rest,
})

const laneOf = (policy: Lane['policy'], stage: Lane['stage'] = 'whole'): Lane => ({
  id: 'turn',
  policy,
  stage,
})
const inLane = (lane: Lane, sketches: readonly Sketch[]): Table =>
  table(sketches.map((sketch) => ({ ...sketch, lane })))

const inState = (before: Table, ids: readonly string[], state: Call['state']): Table => ({
  ...before,
  calls: before.calls.map((one) => (ids.includes(one.id) ? { ...one, state } : one)),
})

/** What starts together when everything that started finishes at the same time, wave by wave. */
function waves(start: Table): string[][] {
  const found: string[][] = []
  for (let now = start, ids = mayStart(now); ids.length > 0; ids = mayStart(now)) {
    found.push(ids)
    now = inState(now, ids, 'finished')
  }
  return found
}

describe('partition', () => {
  const example = inLane(laneOf('partition'), [
    { id: 'read_log', ...safe },
    { id: 'read_metric', ...safe },
    { id: 'edit_config', effect: 'set' },
    { id: 'read_log again', ...safe },
    { id: 'restart_service', effect: 'act' },
  ])

  it('runs the worked example in four partitions and five runs', () => {
    const found = waves(example)
    expect(found).toEqual([
      ['read_log', 'read_metric'],
      ['edit_config'],
      ['read_log again'],
      ['restart_service'],
    ])
    expect(found.flat()).toHaveLength(5)
  })

  it('starts a partition only when all of the one before it has finished', () => {
    const half = inState(inState(example, ['read_log'], 'finished'), ['read_metric'], 'running')
    expect(mayStart(half)).toEqual([])
    expect(waitsFor(half, 'edit_config')).toEqual([{ reason: 'lane', id: 'read_metric' }])
  })

  it('keeps its partitions apart when the call between them was cancelled', () => {
    const cancelled = inState(
      inState(example, ['read_log', 'edit_config'], 'finished'),
      ['read_metric'],
      'running',
    )
    expect(waitsFor(cancelled, 'read_log again')).toEqual([{ reason: 'lane', id: 'read_metric' }])
  })

  it('lets two reads of one partition take turns on one port', () => {
    const reads = ['first', 'second'].map((id) => ({ id, ...safe, claims: [port('bus1')] }))
    expect(waves(inLane(laneOf('partition'), reads))).toEqual([['first'], ['second']])
  })

  it('runs the two reads of the context example together', () => {
    const reads = ['nginx', 'redis'].map((id) => ({ id, ...safe }))
    expect(waves(inLane(laneOf('partition'), reads))).toEqual([['nginx', 'redis']])
  })
})

describe('batch', () => {
  it.each([
    ['[a(safe), b(safe)]', safe, [['a', 'b']]],
    ['[a(safe), b(default)]', {}, [['a'], ['b']]],
    ['[a(safe), b(safe, serial)]', { parallelSafe: true, serial: true }, [['a'], ['b']]],
  ])('%s', (_name, b, expected) => {
    const calls = [
      { id: 'a', ...safe },
      { id: 'b', ...b },
    ]
    expect(waves(inLane(laneOf('batch'), calls))).toEqual(expected)
  })

  it('stays one at a time after the unsafe call has finished', () => {
    const calls = [{ id: 'a' }, { id: 'b', ...safe }, { id: 'c', ...safe }]
    expect(waves(inLane(laneOf('batch'), calls))).toEqual([['a'], ['b'], ['c']])
  })

  it('means one at a time in a lane that stays open', () => {
    const calls = ['a', 'b'].map((id) => ({ id, ...safe }))
    expect(waves(inLane(laneOf('batch', 'open'), calls))).toEqual([['a'], ['b']])
  })

  it('starts nothing before the end of a stream', () => {
    const calls = [{ id: 'a', ...safe, sealed: true }]
    expect(mayStart(inLane(laneOf('batch', 'streaming'), calls))).toEqual([])
  })
})

describe('resource', () => {
  const resource = laneOf('resource')

  it('[A(bus1), B(bus1), C(bus2)]: A and C start together, B follows A', () => {
    const start = inLane(resource, [
      { id: 'A', ...serial, claims: [port('bus1')] },
      { id: 'B', ...serial, claims: [port('bus1')] },
      { id: 'C', ...serial, claims: [port('bus2')] },
    ])
    expect(mayStart(start)).toEqual(['A', 'C'])
    expect(waitsFor(start, 'B')).toContainEqual({ reason: 'lane', id: 'A' })
    expect(mayStart(inState(inState(start, ['A'], 'finished'), ['C'], 'running'))).toEqual(['B'])
  })

  it.each([
    ['an undeclared tool', { claims: [port('bus2')] }],
    ['a serial tool without claims', serial],
    ['an unknown tool', {}],
  ])('%s is a barrier', (_name, barrier) => {
    const calls = [
      { id: 'before', ...safe, claims: [port('bus1')] },
      { id: 'barrier', ...barrier },
      { id: 'after', ...safe, claims: [port('bus3')] },
    ]
    expect(waves(inLane(resource, calls))).toEqual([['before'], ['barrier'], ['after']])
  })

  it('keeps conflicting calls of a lane in order although the first has several claims', () => {
    const calls = [
      { id: 'both', ...serial, claims: [port('bus1'), port('bus2')] },
      { id: 'one', ...serial, claims: [port('bus1')] },
    ]
    const start = inLane(resource, calls)
    const busy = {
      ...start,
      calls: [...start.calls, call(9, { id: 'other', state: 'running', claims: [port('bus2')] })],
    }
    expect(mayStart(busy)).toEqual([])
  })
})

describe('a lane of which a call was cancelled', () => {
  it('lets nobody past those that the cancelled one waited for', () => {
    const start = inLane(laneOf('resource'), [
      { id: 'first', ...serial, claims: [port('bus1')], state: 'running' },
      { id: 'both', ...serial, claims: [port('bus1'), port('bus2')], state: 'finished' },
      { id: 'last', ...serial, claims: [port('bus2')] },
    ])
    expect(waitsFor(start, 'last')).toEqual([{ reason: 'lane', id: 'first' }])
    expect(mayStart(inState(start, ['first'], 'finished'))).toEqual(['last'])
  })
})

describe('claims', () => {
  it('lets shared claims overlap, but a port is always exclusive', () => {
    const both = (resource: string) =>
      ['a', 'b'].map((id) => ({ id, claims: [{ resource, mode: 'shared' as const }] }))
    expect(mayStart(table(both('valve')))).toEqual(['a', 'b'])
    expect(mayStart(table(both('port:bus1')))).toEqual(['a'])
  })

  it('lets a call that claims gateway exclusively overlap nothing at all', () => {
    const alone: Sketch = { id: 'alone', claims: [{ resource: 'gateway', mode: 'exclusive' }] }
    expect(waves(table([{ id: 'a' }, alone, { id: 'b', claims: [port('bus1')] }]))).toEqual([
      ['a'],
      ['alone'],
      ['b'],
    ])
  })
})

describe('admission across lanes', () => {
  const bus1 = { claims: [port('bus1')] }
  const bus2 = { claims: [port('bus2')] }

  it('serves first come first within a rank and the higher rank first', () => {
    const calls: Sketch[] = [
      { id: 'poll', ...bus1, rank: 'poll' },
      { id: 'rule', ...bus1, rank: 'automation' },
      { id: 'person', ...bus1 },
      { id: 'second person', ...bus1 },
      { id: 'stop', ...bus1, rank: 'stop' },
    ]
    expect(waves(table(calls))).toEqual([['stop'], ['person'], ['second person'], ['rule'], ['poll']])
  })

  it('goes by acceptance order, not by the order of the table', () => {
    const start = table(['first', 'second', 'third'].map((id) => ({ id, ...bus1 })))
    expect(waves({ ...start, calls: start.calls.toReversed() })).toEqual([['first'], ['second'], ['third']])
  })

  it('names what a waiting call waits for: the run that has its claims and the waiter ahead', () => {
    const start = table([
      { id: 'run', ...bus1, state: 'running', rank: 'poll' },
      { id: 'ahead', ...bus1 },
      { id: 'late', ...bus1 },
      { id: 'elsewhere', ...bus2 },
    ])
    expect(mayStart(start)).toEqual(['elsewhere'])
    const expected = [
      { reason: 'claims', id: 'run' },
      { reason: 'ahead', id: 'ahead' },
    ]
    expect(waitsFor(start, 'late')).toEqual(expected)
    expect(waitsFor(start, 'elsewhere')).toEqual([])
  })

  it('lets age lift a poll to automation at most, and automation to interactive at most', () => {
    const calls: Sketch[] = [
      { id: 'poll', ...bus1, rank: 'poll' },
      { id: 'rule', ...bus1, rank: 'automation', enqueuedAt: 1 },
      { id: 'person', ...bus1, enqueuedAt: 2 },
      { id: 'stop', ...bus1, rank: 'stop', enqueuedAt: 3 },
    ]
    expect(waves(table(calls, { now: 9_999 }))).toEqual([['stop'], ['person'], ['rule'], ['poll']])
    expect(waves(table(calls, { now: 10_000 }))).toEqual([['stop'], ['person'], ['poll'], ['rule']])
    expect(waves(table(calls, { now: 90_000 }))).toEqual([['stop'], ['rule'], ['person'], ['poll']])
  })

  it('lets a call of several claims hold back later ones only after two seconds', () => {
    const calls: Sketch[] = [
      { id: 'run', ...bus2, state: 'running' },
      { id: 'both', claims: [port('bus1'), port('bus2')] },
      { id: 'late', ...bus1 },
    ]
    expect(mayStart(table(calls, { now: 1_999 }))).toEqual(['late'])
    expect(mayStart(table(calls, { now: 2_000 }))).toEqual([])
    expect(waitsFor(table(calls, { now: 2_000 }), 'late')).toEqual([{ reason: 'ahead', id: 'both' }])
  })

  it('lets a call that may not start yet hold back only its own device and later ones of its lane', () => {
    const lane = laneOf('resource')
    const start = table([
      { id: 'settling', ...bus1, ...serial, device: 'pump', notYet: 'settling', lane },
      { id: 'same device', ...bus1, device: 'pump' },
      { id: 'same lane', ...bus1, ...serial, device: 'fan', lane },
      { id: 'same port', ...bus1, device: 'fan' },
    ])
    expect(mayStart(start)).toEqual(['same port'])
    expect(waitsFor(start, 'settling')).toContainEqual({ reason: 'settling' })
    expect(waitsFor(start, 'same device')).toContainEqual({ reason: 'ahead', id: 'settling' })
  })

  it('keeps two reads of one partition and one port in order although the first is settling', () => {
    const lane = laneOf('partition')
    const start = table([
      { id: 'settling', ...bus1, ...safe, device: 'pump', notYet: 'settling', lane },
      { id: 'sibling', ...bus1, ...safe, device: 'fan', lane },
      { id: 'elsewhere', ...bus2, ...safe, device: 'lamp', lane },
    ])
    expect(mayStart(start)).toEqual(['elsewhere'])
    expect(waitsFor(start, 'sibling')).toContainEqual({ reason: 'lane', id: 'settling' })
  })

  it('lets a call whose lane has it take turns on a port hold back nobody', () => {
    const lane = laneOf('partition')
    const start = table([
      { id: 'settling', ...bus1, ...safe, device: 'pump', notYet: 'settling', lane },
      { id: 'sibling', ...bus1, ...safe, device: 'fan', lane },
      { id: 'other', ...bus1, device: 'fan' },
    ])
    expect(mayStart(start)).toEqual(['other'])
  })

  it('lets a call whose turn in its lane has not come hold back nobody', () => {
    const lane = laneOf('partition')
    const start = table([
      { id: 'first', ...bus1, lane, state: 'running' },
      { id: 'second', ...bus2, lane },
      { id: 'other', ...bus2 },
    ])
    expect(mayStart(start)).toEqual(['other'])
  })

  it('lets a ready call behind an unready one to its device hold back only that device', () => {
    const start = table([
      { id: 'settling', ...bus1, device: 'pump', notYet: 'settling' },
      { id: 'behind', claims: [port('bus1'), port('bus2')], device: 'pump', enqueuedAt: -2_000 },
      { id: 'same bus', ...bus1, device: 'fan' },
      { id: 'same device', ...bus2, device: 'pump' },
    ])
    expect(mayStart(start)).toEqual(['same bus'])
  })

  it('lets nobody slip past a stop command of several claims', () => {
    const start = table([
      { id: 'run', ...bus2, state: 'running' },
      { id: 'stop', claims: [port('bus1'), port('bus2')], rank: 'stop' },
      { id: 'late', ...bus1 },
    ])
    expect(mayStart(start)).toEqual([])
  })

  it('starts nothing whose deadline has passed, and lets nobody wait for it', () => {
    const lane = laneOf('partition')
    const start = table([
      { id: 'late', ...bus1, lane, deadlineAt: 5 },
      { id: 'next', ...bus1, lane },
    ])
    expect(mayStart({ ...start, now: 5 })).toEqual(['next'])
    expect(waitsFor({ ...start, now: 5 }, 'late')).toEqual([{ reason: 'deadline' }])
  })

  it('sends stop commands on a suspect line and stops every set and act while latched', () => {
    const calls: Sketch[] = [
      { id: 'read', ...bus1 },
      { id: 'set', ...bus2, effect: 'set' },
      { id: 'off', ...bus1, effect: 'act', rank: 'stop', notYet: 'settling' },
    ]
    const start = table(calls, { stopLatched: true })
    expect(waves(start)).toEqual([['off'], ['read']])
    expect(waitsFor(start, 'set')).toEqual([{ reason: 'stopped' }])
  })

  it('starts nothing of a batch before its confirmations are settled', () => {
    const start = inLane(laneOf('partition', 'confirming'), [{ id: 'a', ...safe }])
    expect(waitsFor(start, 'a')).toEqual([{ reason: 'confirmation' }])
  })
})

describe('streams', () => {
  it('starts early only a sealed, parallel-safe read that the policy lets start now', () => {
    const calls: Sketch[] = [
      { id: 'sealed', ...safe, sealed: true },
      { id: 'growing', ...safe },
      { id: 'set', ...safe, effect: 'set', sealed: true },
      { id: 'undeclared', sealed: true },
      { id: 'behind', ...safe, sealed: true },
    ]
    expect(mayStart(inLane(laneOf('partition', 'streaming'), calls))).toEqual(['sealed'])
    expect(mayStart(inLane(laneOf('partition', 'whole'), calls))).toEqual(['sealed', 'growing', 'set'])
  })
})

describe('figures', () => {
  const reads = (portOf: (index: number) => string): Sketch[] =>
    Array.from({ length: 32 }, (_, index) => ({
      id: `read ${index}`,
      ...safe,
      claims: [port(portOf(index))],
    }))

  it('runs N calls on N ports together', () => {
    expect(
      waves(
        inLane(
          laneOf('batch'),
          reads((index) => `bus${index}`),
        ),
      ),
    ).toHaveLength(1)
  })

  it('runs the same calls on one line one at a time', () => {
    expect(
      waves(
        inLane(
          laneOf('partition'),
          reads(() => 'bus0'),
        ),
      ),
    ).toHaveLength(32)
  })

  it('runs the same batch with one undeclared call under batch one at a time', () => {
    const calls = reads((index) => `bus${index}`).map((one, index) =>
      index === 31 ? { ...one, parallelSafe: false } : one,
    )
    expect(waves(inLane(laneOf('batch'), calls))).toHaveLength(32)
  })
})
