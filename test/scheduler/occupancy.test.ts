import { expect, test } from 'vitest'
import { CALLS_MAX } from '../../src/limits.ts'
import { claimsOf } from '../../src/scheduler/claims.ts'
import type { Rank } from '../../src/scheduler/declaration.ts'
import { Occupancy, type Occupant } from '../../src/scheduler/occupancy.ts'
import { Recorder } from './recorder.ts'

const recorder = new Recorder()

function occupant(ports: readonly string[], rank: Rank = 'interactive'): Occupant {
  const task = recorder.task('c', { ports })
  return { task, rank, claims: claimsOf(task.claims) }
}

function refusedAs(occupancy: Occupancy<Occupant>, { task, rank }: Occupant): string | undefined {
  return occupancy.refusal(task, rank)?.code
}

test('a call waits from its acceptance to its admission, and runs until it is over', () => {
  const occupancy = new Occupancy<Occupant>(8)
  const call = occupant(['bus1', 'bus2'])
  occupancy.accept(call)
  expect(occupancy.ofPort('bus1')).toEqual({ waiting: 1, running: 0 })
  occupancy.start(call)
  expect(occupancy.ofPort('bus2')).toEqual({ waiting: 0, running: 1 })
  expect(occupancy.isAnyRunning).toBe(true)
  occupancy.leave(call)
  expect(occupancy.ofPort('bus1')).toEqual({ waiting: 0, running: 0 })
  expect(occupancy.isAnyRunning).toBe(false)
})

test('a port takes as many waiting calls as its queue is long, and running ones do not count', () => {
  const occupancy = new Occupancy<Occupant>(2)
  const [first, second, third] = [occupant(['bus1']), occupant(['bus1']), occupant(['bus1'])]
  occupancy.accept(first)
  occupancy.accept(second)
  expect(refusedAs(occupancy, third)).toBe('queue_full')
  expect(refusedAs(occupancy, occupant(['bus2', 'bus1']))).toBe('queue_full')
  expect(refusedAs(occupancy, occupant(['bus2']))).toBeUndefined()
  occupancy.start(first)
  expect(refusedAs(occupancy, third)).toBeUndefined()
})

test('polls are shown in the queue and do not count against it', () => {
  const occupancy = new Occupancy<Occupant>(1)
  for (let index = 0; index < 3; index += 1) occupancy.accept(occupant(['bus1'], 'poll'))
  expect(occupancy.ofPort('bus1')).toEqual({ waiting: 3, running: 0 })
  expect(refusedAs(occupancy, occupant(['bus1']))).toBeUndefined()
  occupancy.accept(occupant(['bus1']))
  expect(refusedAs(occupancy, occupant(['bus1']))).toBe('queue_full')
  expect(refusedAs(occupancy, occupant(['bus1'], 'poll'))).toBeUndefined()
})

test('the process takes a bounded number of calls, and a stop command beyond it', () => {
  const occupancy = new Occupancy<Occupant>(1)
  const calls = Array.from({ length: CALLS_MAX }, () => occupant([]))
  for (const call of calls) occupancy.accept(call)
  for (const call of calls.slice(0, 10)) occupancy.start(call)
  expect(refusedAs(occupancy, occupant([]))).toBe('queue_full')
  expect(refusedAs(occupancy, occupant([], 'poll'))).toBe('queue_full')
  expect(refusedAs(occupancy, occupant(['bus1'], 'stop'))).toBeUndefined()
  for (const call of calls.slice(0, 20)) occupancy.leave(call)
  expect(refusedAs(occupancy, occupant([]))).toBeUndefined()
})

test('those who wait for a resource are found by it until they start', () => {
  const occupancy = new Occupancy<Occupant>(8)
  const [one, other] = [occupant(['bus1']), occupant(['bus2'])]
  occupancy.accept(one)
  occupancy.accept(other)
  expect(occupancy.waitingFor('port:bus1')).toEqual([one])
  expect(occupancy.waitingFor(undefined)).toEqual([one, other])
  occupancy.start(one)
  expect(occupancy.waitingFor('port:bus1')).toEqual([])
  expect(occupancy.waitingFor('port:none')).toEqual([])
})

test('to leave without having been accepted changes nothing', () => {
  const occupancy = new Occupancy<Occupant>(8)
  occupancy.leave(occupant(['bus1']))
  expect(occupancy.ofPort('bus1')).toEqual({ waiting: 0, running: 0 })
})
