import { describe, expect, test } from 'vitest'
import { type ErrorCode, GatewayError } from '../../src/errors.ts'
import {
  acceptCall,
  type CallEvent,
  type CallState,
  type Ending,
  resultOf,
  type SettledCall,
  stepCall,
} from '../../src/scheduler/call.ts'

const fault = (code: ErrorCode, provenNotDone = false) => new GatewayError(code, 'no', { provenNotDone })
const OK: Ending = { value: { value: 1 } }

const place: CallEvent = { kind: 'place' }
const queue: CallEvent = { kind: 'queue' }
const start = (atMs: number): CallEvent => ({ kind: 'start', atMs })
const end = (atMs: number, ending: Ending = OK): CallEvent => ({ kind: 'end', atMs, ending })
const withdraw = (atMs: number, code: ErrorCode): CallEvent => ({
  kind: 'withdraw',
  atMs,
  error: fault(code),
})

function live(events: readonly CallEvent[], deadlineAtMs?: number): CallState {
  return events.reduce(stepCall, acceptCall(0, deadlineAtMs))
}

function settled(state: CallState): SettledCall {
  if (state.phase !== 'settled') throw new Error(`the call is ${state.phase}`)
  return state
}

const codeOf = (state: CallState) => {
  const { ending } = settled(state)
  return 'error' in ending ? ending.error.code : 'ok'
}

test('a call is accepted, waits, is queued, runs and settles', () => {
  const events = [place, queue, start(3), end(8)]
  const phases = events.map((_, index) => live(events.slice(0, index + 1)).phase)
  expect([live([]).phase, ...phases]).toEqual(['accepted', 'waiting', 'queued', 'running', 'settled'])
})

test.each<[string, readonly CallEvent[]]>([
  ['accepted', []],
  ['waiting', [place]],
  ['queued', [place, queue]],
])('a call that is %s can be withdrawn', (_phase, events) => {
  const state = live([...events, withdraw(2, 'cancelled')])
  expect(codeOf(state)).toBe('cancelled')
  expect(settled(state).startedAtMs).toBeUndefined()
})

test('a run that has begun is not withdrawn', () => {
  const running = live([place, queue, start(1)])
  expect(stepCall(running, withdraw(2, 'cancelled'))).toBe(running)
})

test('the first ending stands, and later ones are counted', () => {
  const state = live([
    place,
    queue,
    start(1),
    end(2),
    end(3, { error: fault('timeout') }),
    withdraw(4, 'stopped'),
  ])
  expect(codeOf(state)).toBe('ok')
  expect(settled(state)).toMatchObject({ settledAtMs: 2, lateEndings: 2 })
})

test.each<[string, readonly CallEvent[]]>([
  ['place a queued call', [place, queue, place]],
  ['queue a call without a place', [queue]],
  ['start a call that waits for its lane', [place, start(1)]],
  ['end a call that does not run', [place, queue, end(1)]],
])('to %s is a fault of the program', (_name, events) => {
  expect(() => live(events)).toThrow('only')
})

test('a deadline decides only whether the run starts', () => {
  expect(codeOf(live([place, queue, start(100)], 100))).toBe('deadline_exceeded')
  expect(codeOf(live([place, queue, start(99), end(5_000)], 100))).toBe('ok')
  expect(settled(live([place, queue, start(100)], 100)).startedAtMs).toBeUndefined()
})

describe('the result', () => {
  const task = { id: 'c1', effect: 'set' as const }
  const run = (ending: Ending) => settled(live([place, queue, start(12.34), end(20.56, ending)]))

  test('of a run says what was measured, in tenths of a millisecond', () => {
    expect(resultOf(task, run(OK), { sent: true, wireMs: 7.777 })).toEqual({
      id: 'c1',
      outcome: 'executed',
      ok: { value: 1 },
      started: true,
      sent: true,
      attempts: 1,
      timing: { queuedMs: 12.3, runMs: 8.2, wireMs: 7.8 },
    })
  })

  test('of a call that never ran says how long it waited', () => {
    const state = settled(live([place, withdraw(50, 'deadline_exceeded')]))
    expect(resultOf(task, state, { sent: false, wireMs: 0 })).toMatchObject({
      outcome: 'not_executed',
      error: { code: 'deadline_exceeded' },
      started: false,
      attempts: 0,
      timing: { queuedMs: 50, runMs: 0, wireMs: 0 },
    })
  })

  test('of a tool without an acknowledgement is ok and unknown', () => {
    const { ok, error, outcome } = resultOf(task, run({ value: { value: null, unacknowledged: true } }), {
      sent: true,
      wireMs: 1,
    })
    expect({ ok: ok?.unacknowledged, error, outcome }).toEqual({
      ok: true,
      error: undefined,
      outcome: 'unknown',
    })
  })

  test('counts the attempts that the run reports', () => {
    const state = run({ value: { value: 1, attempts: 2 } })
    expect(resultOf(task, state, { sent: true, wireMs: 1 }).attempts).toBe(2)
  })

  test.each<[ErrorCode, 'read' | 'set', boolean, boolean, string]>([
    ['timeout', 'read', true, false, 'unknown'],
    ['port_lost', 'set', false, false, 'not_executed'],
    ['port_lost', 'set', true, false, 'unknown'],
    ['device_error', 'set', true, true, 'not_executed'],
    ['device_error', 'set', true, false, 'unknown'],
    ['tool_failed', 'read', false, false, 'not_executed'],
    ['tool_failed', 'set', false, false, 'unknown'],
  ])('of a run that fails with %s (%s, sent %s, proven %s) is %s', (code, effect, sent, proven, outcome) => {
    const state = run({ error: fault(code, proven) })
    expect(resultOf({ id: 'c1', effect }, state, { sent, wireMs: 0 })).toMatchObject({
      outcome,
      attempts: 1,
      sent,
    })
  })

  test('of a call that never ran is not_executed whatever its code', () => {
    const state = settled(live([withdraw(0, 'unconfirmed')]))
    expect(resultOf(task, state, { sent: false, wireMs: 0 }).outcome).toBe('not_executed')
  })
})
