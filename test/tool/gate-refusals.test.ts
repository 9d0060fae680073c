/** Why a call does not run: what is refused, in which words, and that nothing of it has happened. */
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { type DefinedTool, defineTool, toolOf } from '../../src/tool/define-tool.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import { gatewayBench } from '../gateway-fixture.ts'
import { CONTROLLER, gateBench, READER, settled } from './gate-bench.ts'

const NOT_EXECUTED = { status: 'error', outcome: 'not_executed', attempts: 0 } as const

/** Tools that remember which of them has run. */
function counting(...definitions: (Partial<Parameters<typeof defineTool>[0]> & { name: string })[]) {
  const ran: string[] = []
  const tools: DefinedTool[] = definitions.map((definition) =>
    defineTool({ effect: 'set', ...definition, run: () => ran.push(definition.name) }),
  )
  return { ran, tools }
}

const codes = (results: readonly CallResult[]) => results.map(({ error }) => error?.code)

describe('an unknown tool', () => {
  it('is refused with the names that may have been meant', async () => {
    const { tools } = counting(
      { name: 'boiler__read_zero' },
      { name: 'boiler__read_two' },
      { name: 'pump__start' },
    )
    const { results } = await gateBench(tools).batch([{ name: 'boiler_read_zero' }])
    expect(results[0]).toMatchObject({
      ...NOT_EXECUTED,
      name: 'boiler_read_zero',
      error: {
        code: 'unknown_tool',
        message: 'there is no tool "boiler_read_zero"',
        hint: 'did you mean boiler__read_zero?',
        retryable: false,
      },
    })
  })

  it('is told where all names are, if none is near', async () => {
    const { results } = await gateBench([]).batch([{ name: 'toString' }])
    expect(results[0]?.error).toMatchObject({ code: 'unknown_tool', hint: 'GET /v1/tools lists the tools' })
  })

  it('does not stop the calls around it', async () => {
    const { ran, tools } = counting({ name: 'one' }, { name: 'two' })
    const { results } = await gateBench(tools).batch([{ name: 'one' }, { name: 'three' }, { name: 'two' }])
    expect(codes(results)).toEqual([undefined, 'unknown_tool', undefined])
    expect(ran).toEqual(['one', 'two'])
  })
})

describe('a token that may only read', () => {
  it('runs what reads, and nothing that changes something', async () => {
    const { ran, tools } = counting(
      { name: 'look', effect: 'read' },
      { name: 'set_it' },
      { name: 'do_it', effect: 'act' },
    )
    const calls = [{ name: 'set_it' }, { name: 'look' }, { name: 'do_it' }]
    const { results } = await gateBench(tools).batch(calls, {}, READER)
    expect(results).toMatchObject([
      {
        ...NOT_EXECUTED,
        error: { code: 'forbidden', hint: 'use a token with the role control', retryable: false },
      },
      { status: 'ok', outcome: 'executed' },
      { ...NOT_EXECUTED, error: { code: 'forbidden' } },
    ])
    expect(ran).toEqual(['look'])
  })

  it('learns nothing else of a call that it may not make', async () => {
    const parameters = Type.Object({ level: Type.Integer() })
    const { tools } = counting({ name: 'set_it', parameters, dangerous: true })
    const never = [{ tool: 'set_it' }]
    const { results } = await gateBench(tools, { never }).batch([{ name: 'set_it' }], {}, READER)
    expect(results[0]?.error?.code).toBe('forbidden')
  })
})

describe('arguments that do not fit', () => {
  it('are refused with every fault and its JSON pointer, before anything runs', async () => {
    const parameters = Type.Object({ level: Type.Integer({ maximum: 10 }), mode: Type.Enum(['on', 'off']) })
    const { ran, tools } = counting({ name: 'set_it', parameters })
    const call = { name: 'set_it', arguments: { level: 11, mod: 'on', 'a/b': 1 } }
    const { results } = await gateBench(tools).batch([call])
    const [result] = results
    expect(result).toMatchObject({
      ...NOT_EXECUTED,
      error: { code: 'invalid_arguments', field: '/mode', retryable: false },
    })
    expect(result?.error?.details).toEqual(
      expect.arrayContaining([
        { field: '/level', message: '"level" must be <= 10' },
        { field: '/mode', message: '"mode" is missing' },
        { field: '/mod', message: '"mod" is not a parameter', hint: 'did you mean mode?' },
        { field: '/a~1b', message: '"a/b" is not a parameter' },
      ]),
    )
    expect(result?.error?.details).toHaveLength(4)
    expect(result?.error?.message).toContain('(and 3 more)')
    expect(ran).toEqual([])
  })
})

describe('an interlock', () => {
  it('without a gap forbids its tools, whatever the caller may do or has confirmed', async () => {
    const { ran, tools } = counting({ name: 'pump__start' }, { name: 'pump__stop' }, { name: 'valve__open' })
    const bench = gateBench(tools, { never: [{ tool: 'pump__*' }] })
    const calls = ['pump__start', 'valve__open', 'pump__stop'].map((name) => ({ name, confirmation: 'x' }))
    const { results } = await bench.batch(calls)
    expect(results).toMatchObject([
      {
        ...NOT_EXECUTED,
        error: {
          code: 'interlocked',
          message: 'the rule "never pump__*" forbids pump__start',
          retryable: false,
        },
      },
      { outcome: 'executed' },
      { ...NOT_EXECUTED, error: { code: 'interlocked' } },
    ])
    expect(ran).toEqual(['valve__open'])
  })

  it('with a gap lets the first call of a batch run and not the second one', async () => {
    const { ran, tools } = counting({ name: 'pump__start' }, { name: 'pump__stop' })
    const bench = gateBench(tools, { never: [{ tool: 'pump__*', minimumGapMs: 60_000 }] })
    const { results, executed } = await bench.batch([{ name: 'pump__start' }, { name: 'pump__stop' }])
    expect(results).toMatchObject([
      { outcome: 'executed' },
      {
        outcome: 'not_executed',
        error: {
          code: 'interlocked',
          message: 'the rule "never pump__*" wants 60000 ms between two runs',
          details: { retryAfterMs: 60_000 },
          retryable: false,
        },
      },
    ])
    expect({ executed, ran }).toEqual({ executed: 1, ran: ['pump__start'] })
    await bench.clock.advance(59_999)
    expect((await bench.call({ name: 'pump__stop' })).error?.details).toEqual({ retryAfterMs: 1 })
    await bench.clock.advance(1)
    expect(await bench.call({ name: 'pump__stop' })).toMatchObject({ outcome: 'executed' })
  })

  it('counts its gap from a run that failed and may have done something', async () => {
    const fail = defineTool({ name: 'pump', effect: 'act', run: () => Promise.reject(new Error('no')) })
    const bench = gateBench([fail], { never: [{ tool: 'pump', minimumGapMs: 1_000 }] })
    expect(await bench.call({ name: 'pump' })).toMatchObject({
      outcome: 'unknown',
      error: { code: 'tool_failed' },
    })
    expect(await bench.call({ name: 'pump' })).toMatchObject({ error: { code: 'interlocked' } })
  })

  it('gives the time back where nothing was sent', async () => {
    const { gateway, clock, wire, device } = await gatewayBench({
      ports: { bus1: { path: '/dev/bus1', baudRate: 9600 } },
      devices: [
        {
          id: 'pump',
          type: 'modbus',
          port: 'bus1',
          address: 1,
          coils: [{ name: 'motor', coil: 0, writable: true }],
        },
      ],
      never: [{ tool: 'pump__*', minimumGapMs: 60_000 }],
    })
    const COIL_ON = '01 05 00 00 ff 00 8c 3a'
    device('/dev/bus1').answer(COIL_ON, { hex: COIL_ON, afterMs: 5 })
    const start = { name: 'pump__set_motor', arguments: { value: true } }
    // The port goes away while the run waits for the line to be silent.
    device('/dev/bus1').send('00')
    await clock.advance(2)
    const unsent = gateway.call(start)
    await clock.advance(2)
    wire('/dev/bus1').unplug()
    expect(await settled(clock, unsent)).toMatchObject({
      outcome: 'not_executed',
      error: { code: 'port_lost' },
    })
    wire('/dev/bus1').replug()
    await clock.advance(1_000)
    expect(await settled(clock, gateway.call(start))).toMatchObject({ outcome: 'executed' })
    expect(await settled(clock, gateway.call(start))).toMatchObject({ error: { code: 'interlocked' } })
    expect(device('/dev/bus1').heard).toHaveLength(1)
    await gateway.close()
  })
})

describe('a dangerous tool', () => {
  it('needs a confirmation, and nothing that a caller says is one', async () => {
    const { ran, tools } = counting({ name: 'reset', effect: 'act', dangerous: true })
    const { results } = await gateBench(tools).batch([
      { name: 'reset' },
      { name: 'reset', confirmation: 'yes' },
    ])
    for (const result of results) {
      expect(result).toMatchObject({
        ...NOT_EXECUTED,
        error: { code: 'confirmation_required', retryable: true },
      })
    }
    expect(ran).toEqual([])
  })
})

describe('a batch that is to be aborted', () => {
  it('does not even begin where one of its calls is known to fail', async () => {
    const { ran, tools } = counting({ name: 'one' }, { name: 'two' }, { name: 'reset', dangerous: true })
    for (const bad of ['no_such_tool', 'reset']) {
      const calls = [
        { id: 'a', name: 'one' },
        { id: 'bad', name: bad },
        { id: 'b', name: 'two' },
      ]
      const { results } = await gateBench(tools).batch(calls, { onError: 'abort' })
      expect(codes(results)).toEqual([
        'aborted',
        bad === 'reset' ? 'confirmation_required' : 'unknown_tool',
        'aborted',
      ])
      expect(results.every(({ outcome }) => outcome === 'not_executed')).toBe(true)
      expect(results[0]?.error?.message).toContain('bad')
    }
    expect(ran).toEqual([])
  })

  it('lets nothing start behind a call that failed, and what was before it stands', async () => {
    const { ran, tools } = counting({ name: 'one' }, { name: 'two' })
    const fail = defineTool({ name: 'fail', effect: 'act', run: () => Promise.reject(new Error('no')) })
    const calls = ['one', 'fail', 'two', 'two'].map((name) => ({ name }))
    const { results } = await gateBench([...tools, fail]).batch(calls, { onError: 'abort' })
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'executed',
      'unknown',
      'not_executed',
      'not_executed',
    ])
    expect(codes(results)).toEqual([undefined, 'tool_failed', 'aborted', 'aborted'])
    expect(ran).toEqual(['one'])
  })
})

describe('a deadline', () => {
  const slow = (clock: { after(delayMs: number, callback: () => void): unknown }, takesMs: number) =>
    defineTool({
      name: 'slow',
      effect: 'set',
      run: () => new Promise<void>((end) => clock.after(takesMs, end)),
    })

  it('decides only whether a call starts', async () => {
    const bench = gateBench([])
    bench.registry.add(toolOf(slow(bench.clock, 400), bench.clock))
    const { results } = await bench.batch([{ name: 'slow' }, { name: 'slow' }], { deadlineMs: 300 })
    expect(results).toMatchObject([
      { outcome: 'executed', timing: { queuedMs: 0, runMs: 400 } },
      {
        ...NOT_EXECUTED,
        error: { code: 'deadline_exceeded', retryable: true },
        timing: { queuedMs: 300, runMs: 0 },
      },
    ])
  })

  it('is half a minute where none is said', async () => {
    const bench = gateBench([])
    bench.registry.add(toolOf(slow(bench.clock, 29_000), bench.clock))
    const calls = [{ name: 'slow' }, { name: 'slow' }, { name: 'slow' }]
    const { results } = await bench.batch(calls)
    expect(codes(results)).toEqual([undefined, undefined, 'deadline_exceeded'])
    expect(results[2]?.timing.queuedMs).toBe(30_000)
  })

  it('that has passed already starts nothing', async () => {
    const { ran, tools } = counting({ name: 'one' })
    expect(await gateBench(tools).call({ name: 'one', deadlineMs: 0 })).toMatchObject({
      ...NOT_EXECUTED,
      error: { code: 'deadline_exceeded' },
    })
    expect(ran).toEqual([])
  })
})

describe('a context that is no data', () => {
  it('is a fault of the whole request', async () => {
    const { ran, tools } = counting({ name: 'one' })
    const bench = gateBench(tools)
    const context = { callback: () => {} }
    await expect(bench.gate.batch({ calls: [{ name: 'one' }], context }, CONTROLLER)).rejects.toMatchObject({
      code: 'invalid_arguments',
    })
    expect(ran).toEqual([])
  })
})
