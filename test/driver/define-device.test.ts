import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Command,
  command,
  defineDevice,
  exchangeOf,
  fixedLength,
  lines,
  nullable,
  type PushedSpec,
  refused,
  startsWith,
  Type,
  twosComplement8,
  value,
} from '../../src/driver/device.ts'
import type { ToolSpec, Verdict } from '../../src/driver/device-type.ts'
import { ANY_SHAPE } from '../../src/port/reply.ts'

const framing = fixedLength({ start: [0xff], length: 9, checksum: twosComplement8({ from: 1, to: 8 }) })

const readLevel = command({
  description: 'The level of the tank.',
  returns: Type.Object({ level: Type.Integer() }),
  request: () => [0xff, 1, 0x86, 0, 0, 0, 0, 0, 0x79],
  reply: { startsWith: [0xff, 0x86], decode: (frame) => ({ level: frame.readUInt16BE(2) }) },
  effect: 'read',
  parallelSafe: true,
})

function device(
  tools: Readonly<Record<string, Command>>,
  more: { readonly serial?: boolean; readonly pushed?: PushedSpec } = {},
) {
  return defineDevice({
    type: 'tank',
    title: 'A tank',
    uart: { baudRate: 9600 },
    serial: true,
    framing,
    line: { timeoutMs: 100 },
    readings: { level: { unit: 'mm', min: 0, max: 5000 } },
    tools,
    ...more,
  })
}

function toolOf(tools: Readonly<Record<string, Command>>, name: string): ToolSpec {
  const tool = device(tools).describe({}).tools[name]
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}

function verdictOf(tool: ToolSpec, frame: readonly number[], args = {}): Verdict<unknown> | undefined {
  return tool.exchange?.(args).reply?.match(Uint8Array.from(frame))
}

const REPLY = [0xff, 0x86, 0x01, 0xf4, 0, 0, 0, 0, 0x85]

describe('a tool of one request and one reply', () => {
  test('becomes an exchange', () => {
    const exchange = toolOf({ read_level: readLevel }, 'read_level').exchange?.({})
    expect(Array.from(exchange?.request ?? [])).toEqual([0xff, 1, 0x86, 0, 0, 0, 0, 0, 0x79])
    expect(exchange?.reply?.match(Uint8Array.from(REPLY))).toEqual({ kind: 'value', value: { level: 500 } })
  })

  test('takes no frame of another command or another length', () => {
    const tool = toolOf({ read_level: readLevel }, 'read_level')
    expect(verdictOf(tool, [0xff, 0x87, 1, 0xf4, 0, 0, 0, 0, 0x84])).toBeUndefined()
    expect(verdictOf(tool, [...REPLY, 0])).toBeUndefined()
    expect(verdictOf(tool, [])).toBeUndefined()
  })

  test('has a shape of the fixed length and the fixed start', () => {
    const exchange = toolOf({ read_level: readLevel }, 'read_level').exchange?.({})
    expect(exchange?.reply?.shapes).toEqual([startsWith([0xff, 0x86], 9)])
  })

  test('with a mere decoder has the shape of the framing, and correlates with nothing', () => {
    const tool = toolOf(
      {
        read_level: {
          description: 'The level of the tank.',
          request: () => [1],
          reply: (frame) => frame[1] === 0x86 && { level: frame[3] },
          effect: 'read',
          parallelSafe: true,
        },
      },
      'read_level',
    )
    expect(tool.correlates).toBe('none')
    expect(tool.exchange?.({}).reply?.shapes).toEqual([ANY_SHAPE])
    expect(verdictOf(tool, REPLY)).toEqual({ kind: 'value', value: { level: 0xf4 } })
    expect(verdictOf(tool, [0xff, 0x87, 0, 0, 0, 0, 0, 0, 0])).toBeUndefined()
  })

  test('with correlates: none has any shape, whatever its reply starts with', () => {
    const tool = toolOf({ read_level: { ...readLevel, correlates: 'none' } }, 'read_level')
    expect(tool.exchange?.({}).reply?.shapes).toEqual([ANY_SHAPE])
    expect(verdictOf(tool, [0xff, 0x87, 0, 0, 0, 0, 0, 0, 0])).toBeUndefined()
  })

  test('adds the shape of its refusal', () => {
    const tool = toolOf(
      {
        set_level: command({
          description: 'Sets the level.',
          parameters: Type.Object({ level: Type.Integer() }),
          returns: Type.Object({}),
          request: ({ level }) => [0xff, level],
          reply: { startsWith: [0xff, 0x79], decode: () => ({}) },
          refusal: { startsWith: [0xff, 0xee], verdict: (frame) => refused(frame.readUInt8(2), 'no') },
          effect: 'set',
        }),
      },
      'set_level',
    )
    expect(tool.exchange?.({ level: 7 }).reply?.shapes).toEqual([
      startsWith([0xff, 0xee], 9),
      startsWith([0xff, 0x79], 9),
    ])
    expect(verdictOf(tool, [0xff, 0xee, 4, 0, 0, 0, 0, 0, 0], { level: 7 })).toEqual({
      kind: 'refused',
      deviceCode: 4,
      message: 'no',
      provenNotDone: false,
    })
  })

  test('says busy before it decodes', () => {
    const tool = toolOf(
      {
        read_level: command({
          description: 'The level of the tank.',
          returns: Type.Object({ level: Type.Integer() }),
          request: () => [1],
          reply: {
            startsWith: [0xff],
            decode: () => ({ level: 1 }),
            busy: (frame) => (frame[2] === 0 ? 'filling' : undefined),
          },
          effect: 'read',
          parallelSafe: true,
        }),
      },
      'read_level',
    )
    expect(verdictOf(tool, [0xff, 0, 0, 0, 0, 0, 0, 0, 0])).toEqual({ kind: 'busy', message: 'filling' })
    expect(verdictOf(tool, REPLY)).toEqual({ kind: 'value', value: { level: 1 } })
  })

  test('without acknowledgement has no matcher', () => {
    const tool = toolOf(
      { beep: { description: 'Beeps once.', request: () => [7], reply: 'none', effect: 'act' } },
      'beep',
    )
    expect(tool.exchange?.({}).reply).toBeNull()
  })
})

describe('concurrency', () => {
  const setLevel: Command = {
    description: 'Sets the level.',
    request: () => [1],
    reply: 'none',
    effect: 'set',
  }

  test('of what changes something is given by a serial type', () => {
    const tools = device({ read_level: readLevel, set_level: setLevel }).describe({}).tools
    expect(tools.set_level?.serial).toBe(true)
    expect(tools.read_level?.serial).toBeUndefined()
    expect(tools.read_level?.parallelSafe).toBe(true)
  })

  test('must be said by the tool itself in a type that is not serial', () => {
    expect(() => device({ set_level: setLevel }, { serial: false })).toThrow('set_level')
    expect(() => device({ set_level: { ...setLevel, serial: true } }, { serial: false })).not.toThrow()
  })
})

describe('a mistake in a device file is named when the file is loaded', () => {
  test('a read without a declaration', () => {
    const { parallelSafe, ...undeclared } = readLevel
    expect(parallelSafe).toBe(true)
    expect(() => device({ read_level: undeclared as Command })).toThrow(/tank.*read_level.*parallelSafe/)
  })

  test('a name that is none', () => {
    for (const name of ['readLevel', 'read-level', '_level', 'level__a', '1level', '']) {
      expect(() => device({ [name]: readLevel }), name).toThrow(/tank/)
    }
  })

  test('something that changes the device and is said to be parallel-safe', () => {
    expect(() => device({ set_level: { ...readLevel, effect: 'set' } })).toThrow(/set_level.*parallel-safe/)
  })

  test('an answer from what nobody pushes, or one that changes something', () => {
    const getLevel = command({
      description: 'The last level of the tank.',
      returns: Type.Object({ level: Type.Integer() }),
      get: () => ({ level: 1 }),
      effect: 'read',
      parallelSafe: true,
    })
    const pushed = { fields: () => undefined, silenceMs: 1000 }
    expect(() => device({ get_level: getLevel })).toThrow(/tank.*pushed/)
    expect(() => device({ get_level: getLevel }, { pushed })).not.toThrow()
    const { parallelSafe, ...plain } = getLevel
    expect(() => device({ set_level: { ...plain, effect: 'set' } as Command }, { pushed })).toThrow(
      /set_level.*is a read/,
    )
  })

  test('a poll of a tool that is not there, or that changes something', () => {
    const set: Command = { description: 'Sets it.', request: () => [1], reply: 'none', effect: 'set' }
    const type = { type: 'tank', title: 'A tank', uart: {}, serial: true, framing, line: { timeoutMs: 1 } }
    const poll = { every: '1s', tool: 'set_level' }
    expect(() => defineDevice({ ...type, readings: {}, tools: {}, poll })).toThrow('set_level')
    expect(() => defineDevice({ ...type, readings: {}, tools: { set_level: set }, poll })).toThrow(
      'only read',
    )
  })

  test('a reply that the framing cannot have', () => {
    const reply = (startsWith: number[], length?: number): Command =>
      command({
        description: 'The level of the tank.',
        returns: Type.Object({}),
        request: () => [1],
        reply: { startsWith, ...(length === undefined ? {} : { length }), decode: () => ({}) },
        effect: 'read',
        parallelSafe: true,
      })
    expect(() => device({ read_level: reply([0xfe]) })).toThrow(/read_level.*start/)
    expect(() => device({ read_level: reply([0xff], 8) })).toThrow(/read_level.*8 bytes/)
  })
})

describe('a key that is missing is named, with the type', () => {
  const command = {
    description: 'Reads it.',
    request: () => [1],
    reply: 'none',
    effect: 'read',
    serial: true,
  }
  const shared = { type: 'pzem-004t', title: 'A meter', uart: {}, serial: true }
  const description = { framing, line: { timeoutMs: 1 }, readings: {}, tools: { read_it: command } }
  const plain = { ...shared, ...description }
  const configurable = {
    ...shared,
    options: Type.Object({ address: Type.Integer() }),
    sample: { address: 1 },
    describe: () => description,
  }
  /** As a file in JavaScript calls it. */
  const define = defineDevice as unknown as (spec: object) => unknown
  const without = (spec: object, key: string) =>
    Object.fromEntries(Object.entries(spec).filter(([name]) => name !== key))

  test('and nothing is missing from these two', () => {
    expect(() => define(plain)).not.toThrow()
    expect(() => define(configurable)).not.toThrow()
  })

  test.each(['title', 'uart', 'serial', 'framing', 'line', 'readings', 'tools'])('%s', (key) => {
    expect(() => define(without(plain, key))).toThrow(`device type pzem-004t: ${key} is missing`)
    expect(() => define({ ...plain, [key]: undefined })).toThrow(`pzem-004t: ${key} is missing`)
  })

  test.each(['title', 'uart', 'serial', 'options', 'sample', 'describe'])('%s, beside describe', (key) => {
    expect(() => define(without(configurable, key))).toThrow(`device type pzem-004t: ${key} is missing`)
  })

  test.each(['framing', 'line', 'readings', 'tools'])('%s, in describe', (key) => {
    const described = { ...configurable, describe: () => without(description, key) }
    expect(() => define(described)).toThrow(`pzem-004t: ${key} is missing in what describe returns`)
  })

  test('several of them', () => {
    expect(() => define({ type: 'pzem-004t' })).toThrow('pzem-004t: title, uart, serial are missing')
    expect(() => define({})).toThrow('device type: type is missing')
  })

  test('one that stands beside describe instead of in it', () => {
    const misplaced = { ...configurable, framing, describe: () => without(description, 'framing') }
    expect(() => define(misplaced)).toThrow('pzem-004t: describe must return framing, not stand beside it')
    expect(() => define({ ...configurable, describe: () => undefined })).toThrow('describe returns no object')
  })

  test('the address of a type that is addressed', () => {
    const options = Type.Object({ unit: Type.Integer() })
    const addressed = { ...configurable, addressed: true }
    expect(() => define(addressed)).not.toThrow()
    expect(() => define({ ...addressed, options, sample: { unit: 1 } })).toThrow(
      'its options have no address',
    )
  })

  test('timeoutMs', () => {
    expect(() => define({ ...plain, line: { gapMs: 1 } })).toThrow('pzem-004t: timeoutMs is missing in line')
  })

  test.each<[message: string, tool: object]>([
    ['description is missing', without(command, 'description')],
    ['effect is missing', without(command, 'effect')],
    ['reply is missing', without(command, 'reply')],
    ['request, exchange, run or get is missing', without(without(command, 'request'), 'reply')],
    ['request and run exclude each other', { ...command, run: () => undefined }],
    ['decode is missing in reply', { ...command, reply: { startsWith: [] } }],
    ['startsWith is missing in reply', { ...command, reply: { decode: () => ({}) } }],
    ['verdict is missing in refusal', { ...command, refusal: { startsWith: [0xff] } }],
  ])('%s, in a tool', (message, tool) => {
    expect(() => define({ ...plain, tools: { read_it: tool } })).toThrow(
      `device type pzem-004t, tool read_it: ${message}`,
    )
  })
})

describe('a type whose devices differ', () => {
  const type = defineDevice({
    type: 'many',
    title: 'Many of them',
    uart: { baudRate: 9600 },
    serial: true,
    addressed: true,
    options: Type.Object({ address: Type.Integer(), names: Type.Array(Type.String()) }),
    sample: { address: 1, names: ['a'] },
    faults: ({ address }) => (address > 9 ? [{ field: '/address', message: 'too large' }] : []),
    describe: ({ address, names }) => ({
      framing: lines({ terminator: 'auto' }),
      line: { timeoutMs: 100 },
      readings: {},
      tools: Object.fromEntries(
        names.map((name) => [
          `read_${name}`,
          command({
            description: 'The value of it.',
            returns: Type.Object({ raw: Type.Integer() }),
            exchange: () =>
              exchangeOf([address], [{ shape: ANY_SHAPE, verdict: (frame) => value({ raw: frame.length }) }]),
            effect: 'read',
            parallelSafe: true,
          }),
        ]),
      ),
    }),
  })

  test('describes each by its options', () => {
    const { tools } = type.describe({ address: 5, names: ['x', 'y'] })
    expect(Object.keys(tools)).toEqual(['read_x', 'read_y'])
    expect(Array.from(tools.read_x?.exchange?.({}).request ?? [])).toEqual([5])
  })

  test('passes on its faults', () => {
    expect(type.faults?.({ address: 10, names: [] })).toEqual([{ field: '/address', message: 'too large' }])
    expect(type.faults?.({ address: 1, names: [] })).toEqual([])
  })
})

test('arguments and results have the types of their schemas', () => {
  command({
    description: 'Types only.',
    parameters: Type.Object({ on: Type.Boolean(), level: Type.Optional(Type.Integer()) }),
    returns: Type.Object({ done: Type.Boolean() }),
    request(args) {
      expectTypeOf(args).toEqualTypeOf<{ on: boolean; level?: number }>()
      return [1]
    },
    reply: {
      startsWith: [1],
      decode(_frame, args) {
        expectTypeOf(args.on).toEqualTypeOf<boolean>()
        return { done: args.on }
      },
    },
    parallelSafe(args) {
      expectTypeOf(args.level).toEqualTypeOf<number | undefined>()
      return args.on
    },
    effect: 'read',
  })
})

test('nullable is a schema in the plain form', () => {
  expect(JSON.parse(JSON.stringify(nullable(Type.Integer({ minimum: 1 }))))).toEqual({
    type: ['integer', 'null'],
    minimum: 1,
  })
})
