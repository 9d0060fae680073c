/** Each rule of the history check against a run of a few calls that breaks just that one. */
import { describe, expect, it } from 'vitest'
import { findings } from './check.ts'
import type { ClientCall, DeviceEntry } from './history.ts'

const call = (
  wanted: ClientCall['wanted'],
  [invokedAt, returnedAt]: readonly [number, number],
  outcome: ClientCall['outcome'],
  shown?: number,
): ClientCall => ({
  client: 0,
  resource: wanted.kind === 'add' ? 'board.total' : 'board.a',
  wanted,
  invokedAt,
  returnedAt,
  outcome,
  code: outcome,
  shown,
})
const set = (value: number) => ({ kind: 'set', value }) as const
const add = (amount: number, nonce: string) => ({ kind: 'add', amount, nonce }) as const
const read = { kind: 'read' } as const

type Done = Pick<DeviceEntry, 'at' | 'kind' | 'value' | 'amount' | 'nonce'>
const log = (...done: Done[]): DeviceEntry[] =>
  done.map((entry, seq) => ({
    resource: entry.kind === 'add' ? 'board.total' : 'board.a',
    boot: 1,
    ...entry,
    seq,
  }))

const rulesOf = (calls: ClientCall[], ...done: Done[]) => [
  ...new Set(findings(calls, [log(...done)]).map(({ rule }) => rule)),
]

describe('a run', () => {
  it('without a fault has no findings, whatever became of the unknown calls', () => {
    const calls = [
      call(set(1), [0, 10], 'ok'),
      call(read, [5, 15], 'ok', 0),
      call(set(2), [20, 30], 'unknown'),
      call(set(3), [20, 30], 'unknown'),
      call(set(4), [20, 30], 'not_executed'),
      call(read, [40, 50], 'ok', 2),
      call(add(5, 'n1'), [0, 10], 'ok', 5),
      call(add(6, 'n2'), [20, 30], 'unknown'),
      call(add(7, 'n3'), [40, 50], 'ok', 18),
    ]
    const done: Done[] = [
      { at: 6, kind: 'read', value: 0 },
      { at: 7, kind: 'set', value: 1 },
      { at: 8, kind: 'add', amount: 5, nonce: 'n1' },
      { at: 35, kind: 'set', value: 2 },
      { at: 38, kind: 'add', amount: 6, nonce: 'n2' },
      { at: 41, kind: 'read', value: 2 },
      { at: 42, kind: 'add', amount: 7, nonce: 'n3' },
    ]
    expect(rulesOf(calls, ...done)).toEqual([])
  })

  it('is at fault for an ok call that the device did not do, or not in its time', () => {
    expect(rulesOf([call(set(1), [0, 10], 'ok')])).toEqual(['ok_is_executed_once'])
    const late: Done = { at: 12, kind: 'set', value: 1 }
    expect(rulesOf([call(set(1), [0, 10], 'ok')], late)).toEqual(['ok_is_executed_once'])
  })

  it('is at fault for a not_executed call that the device did', () => {
    const calls = [call(add(5, 'n1'), [0, 10], 'not_executed')]
    const done: Done = { at: 5, kind: 'add', amount: 5, nonce: 'n1' }
    expect(rulesOf(calls, done)).toEqual(['not_executed_is_never_executed'])
  })

  it('is at fault for an unknown act that the device did twice', () => {
    const once: Done = { at: 5, kind: 'add', amount: 5, nonce: 'n1' }
    const calls = [call(add(5, 'n1'), [0, 10], 'unknown')]
    expect(rulesOf(calls, once)).toEqual([])
    expect(rulesOf(calls, once, { ...once, at: 90 })).toEqual(['at_most_once'])
  })

  it('is at fault for a change that nobody asked for, or not yet', () => {
    expect(rulesOf([], { at: 5, kind: 'set', value: 9 })).toEqual(['nothing_unasked'])
    const early: Done = { at: 5, kind: 'set', value: 1 }
    expect(rulesOf([call(set(1), [8, 10], 'unknown')], early)).toEqual(['nothing_unasked'])
  })

  it('is at fault for a read whose value was given out before it was asked for', () => {
    const early: Done = { at: 5, kind: 'read', value: 0 }
    expect(rulesOf([call(read, [8, 10], 'ok', 0)], early)).toEqual(['reads_are_given_out_in_time'])
  })

  it('is at fault for two reads that got one answer', () => {
    const calls = [call(read, [0, 10], 'ok', 0), call(read, [0, 20], 'ok', 0)]
    const one: Done = { at: 5, kind: 'read', value: 0 }
    expect(rulesOf(calls, one)).toEqual(['reads_are_given_out_in_time'])
    expect(rulesOf(calls, one, { ...one, at: 15 })).toEqual([])
    expect(rulesOf(calls, one, { ...one, at: 25 })).toEqual(['reads_are_given_out_in_time'])
  })

  it('is at fault for answers that no order explains, though each was given out', () => {
    const calls = [call(set(1), [0, 10], 'ok'), call(set(2), [20, 30], 'ok'), call(read, [40, 50], 'ok', 1)]
    const done: Done[] = [
      { at: 5, kind: 'set', value: 1 },
      { at: 25, kind: 'set', value: 2 },
      { at: 45, kind: 'read', value: 1 },
    ]
    expect(rulesOf(calls, ...done)).toEqual(['linearizable'])
  })

  it('is at fault for a total that the adds do not make', () => {
    const done: Done[] = [
      { at: 5, kind: 'add', amount: 5, nonce: 'n1' },
      { at: 25, kind: 'add', amount: 6, nonce: 'n2' },
    ]
    const calls = (total: number) => [
      call(add(5, 'n1'), [0, 10], 'unknown'),
      call(add(6, 'n2'), [20, 30], 'ok', total),
    ]
    expect(rulesOf(calls(11), ...done)).toEqual([])
    expect(rulesOf(calls(6), ...done)).toEqual(['linearizable'])
  })

  it('does not trust a log with a gap', () => {
    const entries = log({ at: 5, kind: 'read', value: 0 }, { at: 6, kind: 'read', value: 0 })
    expect(findings([], [entries.slice(1)])).toMatchObject([{ rule: 'log_is_whole' }])
  })
})
