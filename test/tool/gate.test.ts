/** What becomes of the calls that are let through: their ids, their order, their results. */
import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import type { Policy } from '../../src/scheduler/declaration.ts'
import { defineTool, toolOf } from '../../src/tool/define-tool.ts'
import { POLLER } from '../../src/tool/gate.ts'
import type { CallRequest } from '../../src/tool/shapes.ts'
import { gatewayBench } from '../gateway-fixture.ts'
import { CONTROLLER, gateBench, READER, settled } from './gate-bench.ts'

const answer = defineTool({ name: 'answer', effect: 'read', parallelSafe: true, run: () => 42 })
const change = defineTool({ name: 'change', effect: 'set', run: () => ({ changed: true }) })
const fail = defineTool({
  name: 'fail',
  effect: 'act',
  run: () => {
    throw new TypeError('a mistake of the author')
  },
})
const failToRead = defineTool({
  name: 'fail_to_read',
  effect: 'read',
  run: () => Promise.reject(new Error('not today')),
})
const echo = defineTool({
  name: 'echo',
  effect: 'read',
  parameters: Type.Object({ on: Type.Optional(Type.Boolean()), text: Type.Optional(Type.String()) }),
  run: (args) => args,
})
const ALL = [answer, change, fail, failToRead, echo]
const MINTED = /^c_[0-9a-z]{16}$/

describe('the id of a call', () => {
  it('is the one that was sent, and a new one where none was', async () => {
    const { results } = await gateBench(ALL).batch([{ id: 'one', name: 'answer' }, { name: 'answer' }])
    expect(results[0]?.id).toBe('one')
    expect(results[1]?.id).toMatch(MINTED)
    expect(results.some((result) => 'requestedId' in result)).toBe(false)
  })

  it('is a new one where it was sent twice, and what was sent is kept', async () => {
    const calls = ['a', 'b', 'a', 'a'].map((id) => ({ id, name: 'answer' }))
    const { results, partitions } = await gateBench(ALL).batch(calls)
    const ids = results.map(({ id }) => id)
    expect(ids.slice(0, 2)).toEqual(['a', 'b'])
    expect(ids.slice(2)).toEqual([expect.stringMatching(MINTED), expect.stringMatching(MINTED)])
    expect(new Set(ids).size).toBe(4)
    expect(results.map(({ requestedId }) => requestedId)).toEqual([undefined, undefined, 'a', 'a'])
    expect(partitions).toEqual([ids])
  })

  it('may be any text, that of a property of every object among them', async () => {
    const calls = ['__proto__', 'constructor', '', '__proto__'].map((id) => ({ id, name: 'answer' }))
    const { results } = await gateBench(ALL).batch(calls)
    expect(results.map(({ id }) => id).slice(0, 3)).toEqual(['__proto__', 'constructor', ''])
    expect(results[3]).toMatchObject({ id: expect.stringMatching(MINTED), requestedId: '__proto__' })
  })
})

describe('the results of a batch', () => {
  it('are one for each call, in the order of the calls, whatever becomes of them', async () => {
    const calls = ['fail', 'answer', 'no_such_tool', 'change', 'answer', 'fail_to_read'].map((name) => ({
      name,
    }))
    const response = await gateBench(ALL).batch(calls)
    expect(response.results.map(({ name }) => name)).toEqual(calls.map(({ name }) => name))
    expect(response.results.map(({ status, outcome }) => [status, outcome])).toEqual([
      ['error', 'unknown'],
      ['ok', 'executed'],
      ['error', 'not_executed'],
      ['ok', 'executed'],
      ['ok', 'executed'],
      ['error', 'not_executed'],
    ])
    expect(response).toMatchObject({
      policy: 'partition',
      executed: 3,
      shared: 0,
      context: {},
      conflicts: [],
    })
    expect(response.id).toMatch(/^b_[0-9a-z]{16}$/)
  })

  it('have the form of the contract, and nothing in it that does not apply', async () => {
    const { results } = await gateBench(ALL).batch([
      { id: 'ok', name: 'answer' },
      { id: 'failed', name: 'fail' },
    ])
    const timing = { queuedMs: 0, runMs: 0, wireMs: 0 }
    expect(results).toEqual([
      {
        id: 'ok',
        name: 'answer',
        status: 'ok',
        outcome: 'executed',
        value: 42,
        shared: false,
        attempts: 1,
        timing,
      },
      {
        id: 'failed',
        name: 'fail',
        status: 'error',
        outcome: 'unknown',
        error: { code: 'tool_failed', message: 'a mistake of the author', retryable: false },
        shared: false,
        attempts: 1,
        timing,
      },
    ])
  })

  it('say how long a call has waited and run', async () => {
    const bench = gateBench([])
    const slow = defineTool({
      name: 'slow',
      effect: 'set',
      run: () => new Promise((resolve) => bench.clock.after(30, () => resolve(1))),
    })
    bench.registry.add(toolOf(slow, bench.clock))
    const { results } = await bench.batch([{ name: 'slow' }, { name: 'slow' }])
    expect(results.map(({ timing }) => timing)).toEqual([
      { queuedMs: 0, runMs: 30, wireMs: 0 },
      { queuedMs: 30, runMs: 30, wireMs: 0 },
    ])
  })

  it('of no calls are none', async () => {
    expect(await gateBench(ALL).batch([])).toMatchObject({ results: [], partitions: [], executed: 0 })
  })

  it('carry the context of the lane, and the changes that contradict each other', async () => {
    const set = (name: string, service: string) =>
      defineTool({
        name,
        effect: 'read',
        parallelSafe: true,
        run: () => ({ value: service, context: { last_read_service: service } }),
      })
    const bench = gateBench([set('read_nginx', 'nginx'), set('read_redis', 'redis')])
    const calls = [
      { id: '1', name: 'read_nginx' },
      { id: '2', name: 'read_redis' },
    ]
    const { context, conflicts } = await bench.batch(calls, { context: { last_read_service: 'mysql' } })
    expect(context).toEqual({ last_read_service: 'mysql' })
    expect(conflicts).toEqual([
      {
        key: 'last_read_service',
        kept: 'mysql',
        wanted: [
          { call: '1', value: 'nginx' },
          { call: '2', value: 'redis' },
        ],
      },
    ])
  })
})

describe('a tool that throws', () => {
  it('has failed: unknown where it changes something, not executed where it only reads', async () => {
    const { results } = await gateBench(ALL).batch([{ name: 'fail' }, { name: 'fail_to_read' }])
    expect(results).toMatchObject([
      {
        outcome: 'unknown',
        error: { code: 'tool_failed', message: 'a mistake of the author', retryable: false },
      },
      { outcome: 'not_executed', error: { code: 'tool_failed', message: 'not today', retryable: false } },
    ])
  })

  it('does so before anything starts where its own check of the arguments throws', async () => {
    const bench = gateBench([])
    bench.registry.add({
      ...toolOf(change, bench.clock),
      prepare: () => {
        throw new TypeError('a mistake of the author')
      },
    })
    const { results } = await bench.batch([{ name: 'change' }])
    expect(results[0]).toMatchObject({ outcome: 'not_executed', attempts: 0, error: { code: 'tool_failed' } })
  })
})

describe('the arguments of a call', () => {
  it('may give a boolean as the text that models send, and nothing else is changed', async () => {
    const { results } = await gateBench(ALL).batch([
      { name: 'echo', arguments: { on: 'true', text: 'true' } },
      { name: 'echo', arguments: { on: 'false' } },
      { name: 'echo', arguments: { on: true } },
      { name: 'echo' },
    ])
    expect(results.map(({ value }) => value)).toEqual([
      { on: true, text: 'true' },
      { on: false },
      { on: true },
      {},
    ])
    const { results: wrong } = await gateBench(ALL).batch(
      ['True', '1', 1, null, ''].map((on) => ({ name: 'echo', arguments: { on } })),
    )
    for (const result of wrong) {
      expect(result).toMatchObject({ error: { code: 'invalid_arguments', field: '/on' } })
    }
  })

  it('are never shared: two tools without any send each its own request', async () => {
    const register = (name: string, address: number) => ({
      name,
      register: address,
      kind: 'holding',
      format: 'uint16',
    })
    const { gateway, clock, device } = await gatewayBench({
      ports: { bus1: { path: '/dev/bus1' } },
      devices: [
        {
          id: 'boiler',
          type: 'modbus',
          port: 'bus1',
          address: 1,
          registers: [register('zero', 0), register('sixteen', 16)],
        },
      ],
    })
    // pymodbus issue 2636.
    device('/dev/bus1')
      .answer('01 03 00 00 00 01 84 0a', { hex: '01 03 02 00 11 78 48', afterMs: 5 })
      .answer('01 03 00 10 00 01 85 cf', { hex: '01 03 02 00 22 38 5d', afterMs: 5 })
    const names = ['boiler__read_zero', 'boiler__read_sixteen', 'boiler__read_zero']
    const { results } = await settled(clock, gateway.batch(names.map((name) => ({ name }))))
    expect(results.map(({ value }) => value)).toEqual([{ zero: 17 }, { sixteen: 34 }, { zero: 17 }])
    expect(device('/dev/bus1').heard.map(({ hex }) => hex)).toEqual([
      '010300000001840a',
      '01030010000185cf',
      '010300000001840a',
    ])
    await gateway.close()
  })
})

describe('a plan', () => {
  const names = ['answer', 'echo', 'change', 'fail', 'no_such_tool']
  const policies: readonly Policy[] = ['partition', 'batch', 'resource']

  it('is what a batch then does, for any calls under any policy', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { maxLength: 8 }),
        fc.constantFrom(...policies),
        async (chosen, policy) => {
          const calls: CallRequest[] = chosen.map((name, index) => ({ id: `c${index}`, name }))
          const bench = gateBench(ALL)
          const plan = bench.gate.plan({ calls, policy }, CONTROLLER)
          const done = await bench.batch(calls, { policy })
          expect(plan.policy).toBe(policy)
          expect(plan.partitions).toEqual(done.partitions)
          expect(plan.calls.map(({ id }) => id)).toEqual(done.results.map(({ id }) => id))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('runs nothing, and says of each call what stands in its way', () => {
    let runs = 0
    const count = defineTool({ name: 'count', effect: 'set', run: () => ++runs })
    const calibrate = defineTool({ name: 'calibrate', effect: 'act', dangerous: true, run: () => ++runs })
    const bench = gateBench([count, calibrate, answer])
    const calls = ['answer', 'count', 'calibrate', 'counts'].map((name, index) => ({ id: `c${index}`, name }))
    const plan = bench.gate.plan({ calls }, CONTROLLER)
    expect(runs).toBe(0)
    expect(plan.partitions).toEqual([['c0'], ['c1'], ['c2'], ['c3']])
    expect(plan.calls).toMatchObject([
      { id: 'c0', name: 'answer', partition: 0, waitsFor: [], confirmation: false, available: true },
      { partition: 1, waitsFor: [{ id: 'c0' }], confirmation: false, available: true },
      { partition: 2, confirmation: true, available: true },
      { partition: 3, confirmation: false, available: false },
    ])
    expect(plan.calls.map(({ earlyStart }) => earlyStart.yes)).toEqual([true, false, false, false])
  })

  it('takes the policy of the configuration where none is given', () => {
    expect(gateBench(ALL, { policy: 'batch' }).gate.plan({ calls: [] }, READER).policy).toBe('batch')
  })
})

describe('a lane that stays open', () => {
  it('runs what is added in order, and answers each call by itself', async () => {
    const bench = gateBench(ALL)
    const lane = bench.gate.openLane({}, CONTROLLER)
    const first = lane.add({ id: 'x', name: 'change' })
    const second = lane.add({ id: 'x', name: 'answer' })
    await bench.clock.advance(10)
    expect(await first).toMatchObject({ id: 'x', value: { changed: true } })
    expect(await second).toMatchObject({ requestedId: 'x', value: 42 })
    await bench.clock.advance(60_000)
    const third = lane.add({ name: 'answer' })
    await bench.clock.advance(10)
    expect(await third).toMatchObject({ status: 'ok' })
    const response = await settled(bench.clock, lane.end())
    expect(response.results.map(({ name }) => name)).toEqual(['change', 'answer', 'answer'])
    expect(response).toMatchObject({ executed: 3, policy: 'partition' })
  })

  it('takes no call after its end', async () => {
    const bench = gateBench(ALL)
    const lane = bench.gate.openLane({}, CONTROLLER)
    await settled(bench.clock, lane.end())
    await expect(lane.add({ name: 'answer' })).rejects.toThrow()
  })

  it('cancels what has not started: one call, or all of them', async () => {
    const bench = gateBench([])
    const slow = defineTool({
      name: 'slow',
      effect: 'set',
      run: () => new Promise((resolve) => bench.clock.after(1_000, () => resolve(1))),
    })
    bench.registry.add(toolOf(slow, bench.clock))
    const lane = bench.gate.openLane({}, CONTROLLER)
    const adding = ['a', 'b', 'c', 'd'].map((id) => lane.add({ id, name: 'slow' }))
    await bench.clock.advance(10)
    expect(lane.cancel('c')).toBe(true)
    expect(lane.cancel('c')).toBe(false)
    expect(await adding[2]).toMatchObject({ outcome: 'not_executed', error: { code: 'cancelled' } })
    expect(lane.cancel()).toBe(true)
    await bench.clock.advance(1_000)
    const results = await Promise.all(adding)
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'cancelled',
      'cancelled',
      'cancelled',
    ])
  })

  it('has the deadline that it is given, for all of its calls', async () => {
    const bench = gateBench(ALL)
    const lane = bench.gate.openLane({ deadlineMs: 500 }, CONTROLLER)
    await bench.clock.advance(500)
    expect(await lane.add({ name: 'answer' })).toMatchObject({ error: { code: 'deadline_exceeded' } })
    await settled(bench.clock, lane.end())
    expect(bench.clock.pending).toBe(0)
  })
})

describe('whose turn it is', () => {
  it('is that of people before automations and of those before polls', async () => {
    const bench = gateBench([])
    const order: string[] = []
    for (const name of ['holder', 'poll', 'automation', 'person']) {
      const tool = defineTool({
        name,
        effect: 'read',
        claims: [{ resource: 'pump', mode: 'exclusive' }],
        serial: true,
        run: () => {
          order.push(name)
          return new Promise((resolve) => bench.clock.after(100, () => resolve(1)))
        },
      })
      bench.registry.add(toolOf(tool, bench.clock))
    }
    const calls = [
      bench.gate.call({ name: 'holder' }, CONTROLLER),
      bench.gate.poll('poll'),
      bench.gate.call({ name: 'automation', priority: 'automation' }, CONTROLLER),
      bench.gate.call({ name: 'person' }, CONTROLLER),
    ]
    await bench.clock.advance(1_000)
    await Promise.all(calls)
    expect(order).toEqual(['holder', 'person', 'automation', 'poll'])
  })

  it('a poll may only read', async () => {
    expect(POLLER.role).toBe('read')
    const bench = gateBench(ALL)
    const poll = bench.gate.poll('change')
    await bench.clock.advance(1)
    expect(await poll).toMatchObject({ outcome: 'not_executed', error: { code: 'forbidden' } })
  })
})
