import { Type } from 'typebox'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { closed, defineTool, type ToolDefinition, toolOf } from '../../src/tool/define-tool.ts'
import { VirtualClock } from '../virtual-clock.ts'

type Definition = Partial<ToolDefinition> & { readonly run: ToolDefinition['run'] }

function bench(definition: Definition) {
  const clock = new VirtualClock()
  const abort = new AbortController()
  const progress = { sent: false, wireMs: 0 }
  const context = Object.freeze({ service: 'nginx' })
  const tool = toolOf(defineTool({ name: 'tool', effect: 'set', ...definition }), clock)
  const run = (args = {}) => tool.prepare(args).run({ signal: abort.signal, context, progress })
  return { clock, abort, progress, context, tool, run }
}

describe('a definition', () => {
  it('has a name that every model provider takes, an effect and something to run', () => {
    const run = () => 1
    for (const name of ['', 'read log', 'x'.repeat(65)]) {
      expect(() => defineTool({ name, effect: 'read', run }), name).toThrow('1 to 64')
    }
    expect(() => defineTool({ name: 'a', effect: 'write' as 'read', run })).toThrow(
      'effect is read, set or act',
    )
    expect(() => defineTool({ name: 'a', effect: 'read', run: 1 as never })).toThrow('run is a function')
  })

  it('gives `run` the type of its parameters', () => {
    defineTool({
      name: 'typed',
      effect: 'set',
      parameters: Type.Object({ level: Type.Integer(), mode: Type.Optional(Type.String()) }),
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ level: number; mode?: string }>()
      },
    })
  })

  it('becomes a tool that runs alone unless it says otherwise', () => {
    const { tool } = bench({ run: () => 1 })
    expect(tool).toMatchObject({
      name: 'tool',
      title: 'tool',
      description: '',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'set',
      dangerous: false,
      claims: [],
      ports: [],
      serial: false,
      parallelSafe: false,
      declared: 'undeclared',
    })
    expect(bench({ run: () => 1, parallelSafe: true }).tool.declared).toBe('parallelSafe')
    expect(bench({ run: () => 1, parallelSafe: () => true }).tool.declared).toBe('conditional')
    expect(bench({ run: () => 1, parallelSafe: true, serial: true, because: 'x' }).tool).toMatchObject({
      declared: 'serial',
      because: 'x',
    })
  })

  it('takes no parameters beyond its own, unless its schema says so itself', () => {
    expect(closed({ type: 'object' })).toEqual({ type: 'object', additionalProperties: false })
    expect(closed({ type: 'object', additionalProperties: true })).toEqual({
      type: 'object',
      additionalProperties: true,
    })
    expect(closed(undefined)).toBeUndefined()
  })
})

describe('a run', () => {
  it('is given its arguments, the signal and the context of its lane', async () => {
    const seen: unknown[] = []
    const { run, abort, context } = bench({ run: (args, given) => seen.push(args, given) })
    await run({ level: 3 })
    expect(seen).toEqual([{ level: 3 }, { signal: abort.signal, context }])
  })

  it('returns a value, and nothing is null', async () => {
    expect(await bench({ run: () => ({ level: 3 }) }).run()).toEqual({ value: { level: 3 } })
    expect(await bench({ run: async () => 0 }).run()).toEqual({ value: 0 })
    expect(await bench({ run: () => undefined }).run()).toEqual({ value: null })
  })

  it('may return exactly a value and changes of the context', async () => {
    const context = { service: 'redis' }
    expect(await bench({ run: () => ({ value: 7, context }) }).run()).toEqual({ value: 7, context })
    expect(await bench({ run: () => ({ value: undefined, context }) }).run()).toEqual({
      value: null,
      context,
    })
    for (const whole of [{ value: 7 }, { context }, { value: 7, context, more: 1 }, [7, context]]) {
      expect(await bench({ run: () => whole }).run()).toEqual({ value: whole })
    }
  })

  it('may have its changes of the context follow from the value', async () => {
    const { run } = bench({ run: () => 7, context: (value, args) => ({ last: value, args }) })
    expect(await run({ a: 1 })).toEqual({ value: 7, context: { last: 7, args: { a: 1 } } })
  })

  it('that throws is a failure of the tool, at once or later', async () => {
    const mistake = new TypeError('a mistake')
    const failing: Definition['run'][] = [
      () => {
        throw mistake
      },
      () => Promise.reject(mistake),
    ]
    for (const run of failing) {
      await expect(bench({ run }).run()).rejects.toMatchObject({ code: 'tool_failed', cause: mistake })
    }
    await expect(bench({ run: () => Promise.reject('a text') }).run()).rejects.toMatchObject({
      message: 'a text',
    })
  })

  it('keeps an error that already says what it means', async () => {
    const refusal = new GatewayError('device_busy', 'warming up')
    await expect(bench({ run: () => Promise.reject(refusal) }).run()).rejects.toBe(refusal)
  })

  it('whose value is no JSON data has failed: it would spoil the answer to its whole batch', async () => {
    const round: Record<string, unknown> = {}
    round.self = round
    for (const value of [round, 5n, { deep: [5n] }, () => 1, Symbol('x')]) {
      await expect(bench({ run: () => value }).run()).rejects.toMatchObject({ code: 'tool_failed' })
    }
  })

  it('may have done something from its beginning on, unless it only reads', async () => {
    for (const [effect, sent] of [
      ['read', false],
      ['set', true],
      ['act', true],
    ] as const) {
      const seen: boolean[] = []
      const made = bench({ effect, run: () => seen.push(made.progress.sent) })
      expect(made.progress.sent).toBe(false)
      await made.run()
      expect(seen).toEqual([sent])
    }
  })
})

describe('a stop', () => {
  it('before the run begins leaves everything undone', async () => {
    let runs = 0
    const { run, abort, progress } = bench({ run: () => ++runs })
    abort.abort()
    await expect(run()).rejects.toMatchObject({ code: 'stopped' })
    expect({ runs, progress }).toEqual({ runs: 0, progress: { sent: false, wireMs: 0 } })
  })

  it('lets a tool that heeds its signal end in its own way', async () => {
    const { run, abort, clock } = bench({
      run: (_args, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped at 40 %'))),
    })
    const running = run()
    await clock.advance(100)
    abort.abort()
    expect(await running).toEqual({ value: 'stopped at 40 %' })
    expect(clock.pending).toBe(0)
  })

  it('does not wait for a tool that does not, and does not mind what it does later', async () => {
    const { run, abort, clock } = bench({
      run: () => new Promise((_resolve, reject) => clock.after(10_000, () => reject(new Error('too late')))),
    })
    let endedAt: number | undefined
    const running = run().catch((error: GatewayError) => {
      endedAt = clock.now()
      return error.code
    })
    await clock.advance(100)
    abort.abort()
    await clock.advance(249)
    expect(endedAt).toBeUndefined()
    await clock.advance(1)
    expect(await running).toBe('stopped')
    await clock.advance(10_000)
    expect(clock.pending).toBe(0)
  })
})
