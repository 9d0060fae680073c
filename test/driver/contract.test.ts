/** Every device file is held to every rule, and every rule is shown to fail for a type that breaks it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import { contractFindings, gradeOf, obstaclesTo } from '../../src/driver/contract.ts'
import { bytesOf } from '../../src/driver/contract-vectors.ts'
import {
  command,
  defineDevice,
  fixedLength,
  lines,
  modbusRtu,
  modbusSimulator,
  readRegisters,
  Type,
  twosComplement8,
} from '../../src/driver/device.ts'
import type {
  DeviceDescription,
  DeviceType,
  Example,
  ToolSpec,
  Verdict,
} from '../../src/driver/device-type.ts'
import { hasShape } from '../../src/driver/exchange.ts'
import { ANY_SHAPE, type ReplyMatcher, type ReplyShape, startsWith } from '../../src/port/reply.ts'
import { framesIn } from '../port/framer/collected.ts'

const types = [...(await loadCatalogue()).values()]

describe.each(types.map((type) => [type.type, type] as const))('the device type %s', (_, type) => {
  const device = type.describe(type.sample)
  const examples = Object.entries(device.tools).flatMap(([name, tool]) => [
    ...(tool.examples ?? []),
    ...(type.sampleExamples?.[name] ?? []),
  ])
  const replies = examples.flatMap(({ reply }) => (reply === undefined ? [] : [bytesOf(reply)]))

  test('keeps every rule of bronze and silver', async () => {
    const broken = (await contractFindings(type)).filter(
      ({ grade, ok }) => !ok && (grade === 'bronze' || grade === 'silver'),
    )
    expect(broken).toEqual([])
  })

  test('decodes any bytes without an exception, and takes only what its shapes allow', () => {
    const matchers = matchersOf(device)
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(...replies, new Uint8Array(0)),
      damaged([...replies, new Uint8Array(1)]),
      shaped(matchers),
    )
    fc.assert(
      fc.property(frame, (bytes) => {
        for (const { shapes, match } of matchers) {
          if (match(bytes) !== undefined) expect(shapes.some((shape) => hasShape(bytes, shape))).toBe(true)
        }
        for (const event of device.events ?? []) event.match(bytes)
        device.pushed?.fields(bytes)
      }),
      { numRuns: 500 },
    )
  })

  test('finds the same frames in any chunks', () => {
    const part = fc.oneof(fc.uint8Array({ maxLength: 30 }), fc.constantFrom(...replies, Uint8Array.of(13)))
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), sizes, (parts, pieces) => {
        const stream = Buffer.concat(parts)
        expect(framesIn(device.framing, stream, pieces)).toEqual(
          framesIn(device.framing, stream, [stream.length + 1]),
        )
      }),
    )
  })
})

function matchersOf(device: DeviceDescription): ReplyMatcher<unknown>[] {
  const matchers: ReplyMatcher<unknown>[] = []
  for (const tool of Object.values(device.tools)) {
    const reply = tool.exchange?.(leastArguments(tool)).reply
    if (reply) matchers.push({ shapes: reply.shapes, match: (frame) => reply.match(frame) })
  }
  for (const { reply } of device.poll?.parts ?? []) if (reply) matchers.push(reply)
  return matchers
}

function leastArguments(tool: ToolSpec): Record<string, unknown> {
  const properties = Object.entries(tool.parameters?.properties ?? {})
  return Object.fromEntries(
    properties.map(([name, schema]) => {
      if ('enum' in schema && Array.isArray(schema.enum)) return [name, schema.enum[0]]
      if ('type' in schema && schema.type === 'boolean') return [name, true]
      return [name, 'minimum' in schema ? schema.minimum : 'A']
    }),
  )
}

function damaged(frames: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(fc.constantFrom(...frames), fc.nat(300), fc.nat(255))
    .map(([frame, place, byte]) => (frame.length === 0 ? frame : frame.with(place % frame.length, byte)))
}

/** Frames that reach the decoders. */
function shaped(matchers: readonly ReplyMatcher<unknown>[]): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(
      fc.constantFrom(ANY_SHAPE, ...matchers.flatMap(({ shapes }) => shapes)),
      fc.uint8Array({ minLength: 40, maxLength: 300 }),
    )
    .map(([shape, noise]) => {
      const frame = Uint8Array.from(noise.subarray(0, shape.length ?? noise.length))
      for (const [offset, byte] of shape.bytes) frame[offset] = byte
      return frame
    })
}

const framing = fixedLength({ start: [0xaa], length: 4, checksum: twosComplement8({ from: 0, to: 3 }) })

/** A sound type of one tool; each case below breaks one thing of it. */
function sound(change: (type: DeviceType) => DeviceType = (type) => type): DeviceType {
  return change(
    defineDevice({
      type: 'gauge',
      title: 'A gauge',
      uart: { baudRate: 9600 },
      serial: true,
      framing,
      line: { timeoutMs: 100 },
      readings: {
        level: { unit: 'mm', deviceClass: 'distance', stateClass: 'measurement', min: 0, max: 255 },
      },
      tools: {
        read_level: command({
          description: 'The level of the tank.',
          returns: Type.Object({ level: Type.Integer() }),
          request: () => [0xaa, 1, 0, 0x55],
          reply: { startsWith: [0xaa, 1], decode: (frame) => ({ level: frame.readUInt8(2) }) },
          examples: [
            { request: 'aa 01 00 55', reply: 'aa 01 07 4e', value: { level: 7 } },
            { reply: 'aa 02 07 4d', ignored: true },
          ],
          effect: 'read',
          parallelSafe: true,
        }),
        flush: command({
          description: 'Empties the tank once.',
          request: () => [0xaa, 2, 0, 0x54],
          reply: 'none',
          examples: [{ request: 'aa 02 00 54' }],
          effect: 'act',
        }),
      },
      poll: { every: '10s', tool: 'read_level' },
      simulator: () => ({
        framing,
        receive: (frame) =>
          frame[1] === 1 ? { bytes: Uint8Array.of(0xaa, 1, 7, 0x4e), afterMs: 1 } : undefined,
      }),
    }),
  )
}

function withDevice(change: (device: DeviceDescription) => DeviceDescription): DeviceType {
  return sound((type) => ({ ...type, describe: () => change(type.describe({})) }))
}

function withTool(name: string, change: (tool: ToolSpec) => ToolSpec): DeviceType {
  return withDevice((device) => {
    const tool = device.tools[name]
    return tool ? { ...device, tools: { ...device.tools, [name]: change(tool) } } : device
  })
}

function withExamples(device: DeviceDescription, examples: readonly Example[]): DeviceDescription {
  const { get_level } = device.tools
  return get_level ? { ...device, tools: { get_level: { ...get_level, examples } } } : device
}

describe('the rules', () => {
  test('all hold for a sound type, which is platinum', async () => {
    expect((await contractFindings(sound())).filter(({ ok }) => !ok)).toEqual([])
    expect(await gradeOf(sound())).toBe('platinum')
  })

  /** A tool with a matcher of its own. */
  const replied = (
    match: (frame: Uint8Array) => undefined | Verdict<unknown>,
    how: Pick<ToolSpec, 'effect' | 'correlates' | 'serial' | 'parallelSafe'>,
    shape: ReplyShape = ANY_SHAPE,
  ): ToolSpec => ({
    description: 'A tool with a reply of its own.',
    exchange: () => ({ request: Uint8Array.of(1), reply: { shapes: [shape], match } }),
    ...how,
  })

  test.each<[rule: string, grade: string | null, broken: DeviceType]>([
    [
      'the sample fits the options',
      null,
      sound((type) => ({ ...type, options: Type.Object({ a: Type.Null() }) })),
    ],
    [
      'the sample fits the options',
      null,
      sound((type) => ({ ...type, faults: () => [{ field: '', message: 'x' }] })),
    ],
    ['names are valid', null, withDevice((device) => ({ ...device, readings: { Level: {} } }))],
    ['tools and readings are described', null, withTool('flush', (tool) => ({ ...tool, description: 'x' }))],
    ['effects and concurrency are declared', null, withTool('flush', (tool) => ({ ...tool, serial: false }))],
    [
      'effects and concurrency are declared',
      null,
      withTool('read_level', ({ parallelSafe, ...tool }) => tool as ToolSpec),
    ],
    [
      'numeric readings have bounds',
      null,
      withDevice((device) => ({ ...device, readings: { level: { min: 0 } } })),
    ],
    [
      'an act that could be mistaken is proven',
      null,
      withTool('flush', () => replied(() => undefined, { effect: 'act', serial: true, correlates: 'none' })),
    ],
    [
      'an act that could be mistaken is proven',
      null,
      withDevice((device) => ({
        ...device,
        framing: lines({ terminator: 'auto' }),
        tools: {
          flush: replied(() => undefined, { effect: 'act', serial: true, correlates: 'shape' }),
        },
      })),
    ],
    [
      'frames survive any chunking',
      null,
      withDevice((device) => ({
        ...device,
        framing: {
          key: 'chunks',
          frameLengthMax: 1000,
          silenceEndsFrame: true,
          create: (sink) => ({ push: sink.frame, idle: () => {}, reset: () => {}, held: 0 }),
        },
      })),
    ],
    [
      'decoders take any bytes',
      null,
      withTool('read_level', () =>
        replied(
          (frame) => {
            Buffer.from(frame).readUInt32BE(0)
            return undefined
          },
          { effect: 'read', parallelSafe: true },
        ),
      ),
    ],
    [
      'shapes cover what is matched',
      null,
      withTool('read_level', () =>
        replied(
          () => ({ kind: 'value', value: {} }),
          { effect: 'read', parallelSafe: true },
          startsWith([0xaa]),
        ),
      ),
    ],
    [
      'every tool has an example, and it holds',
      'bronze',
      withTool('flush', (tool) => ({ ...tool, examples: [] })),
    ],
    [
      'every tool has an example, and it holds',
      'bronze',
      withTool('read_level', (tool) => ({
        ...tool,
        examples: [{ request: 'aa 01 00 55', reply: 'aa 01 07 4e', value: { level: 8 } }],
      })),
    ],
    [
      'every tool has an example, and it holds',
      'bronze',
      withTool('flush', (tool) => ({ ...tool, examples: [{ request: 'aa 02 00 55' }] })),
    ],
    [
      'every tool has an example, and it holds',
      'bronze',
      withTool('read_level', (tool) => ({
        ...tool,
        examples: [{ request: 'aa 01 00 55', reply: 'aa 01 07 4e', ignored: true }],
      })),
    ],
    ['a tool is polled', 'bronze', withDevice(({ poll, ...device }) => device)],
    [
      'replies that must not be taken have examples',
      'silver',
      withTool('read_level', (tool) => ({ ...tool, examples: tool.examples?.slice(0, 1) ?? [] })),
    ],
    ['the simulator answers every tool', 'silver', withDevice(({ simulator, ...device }) => device)],
    [
      'the simulator answers every tool',
      'silver',
      withDevice((device) => ({ ...device, simulator: () => ({ framing, receive: () => undefined }) })),
    ],
    [
      'the simulator answers every tool',
      'silver',
      withDevice((device) => ({ ...device, readings: { level: { ...device.readings.level, max: 5 } } })),
    ],
    [
      'every reply has an example with its request',
      'gold',
      withTool('read_level', (tool) => ({
        ...tool,
        examples: [
          { reply: 'aa 01 07 4e', value: { level: 7 } },
          { reply: 'aa 02 07 4d', ignored: true },
        ],
      })),
    ],
    [
      'numeric readings have a unit and classes',
      'gold',
      withDevice((device) => ({ ...device, readings: { level: { min: 0, max: 255 } } })),
    ],
  ])('"%s" is found broken, which leaves %s', async (rule, grade, broken) => {
    const failed = (await contractFindings(broken)).filter(({ ok }) => !ok)
    expect(failed.map((finding) => finding.rule)).toContain(rule)
    expect(await gradeOf(broken)).toBe(grade)
  })

  test('that keep a type from a grade are those of it and of the lower ones', async () => {
    const unclassified = withDevice((device) => ({ ...device, readings: { level: { min: 0, max: 255 } } }))
    expect(await obstaclesTo('gold', unclassified)).toEqual([])
    expect(await obstaclesTo('platinum', unclassified)).toMatchObject([
      { rule: 'numeric readings have a unit and classes', grade: 'platinum' },
    ])
    const silent = withDevice(({ simulator, ...device }) => ({ ...device, readings: {} }))
    expect((await obstaclesTo('platinum', silent)).map(({ grade }) => grade)).toEqual(['gold'])
  })

  const classes = { deviceClass: 'distance', stateClass: 'measurement', min: 0, max: 255 } as const
  const { max: _, ...openAbove } = classes
  test.each<[what: string, detail: string, broken: DeviceType]>([
    [
      'which of unit and classes is missing',
      'level: no unit (null says that there is none)',
      withDevice((device) => ({ ...device, readings: { level: classes } })),
    ],
    [
      'which of unit and classes is missing',
      'level: no deviceClass, no stateClass (null says that there is none)',
      withDevice((device) => ({ ...device, readings: { level: { unit: 'mm', min: 0, max: 255 } } })),
    ],
    [
      'which bound is missing',
      'level: no max',
      withDevice((device) => ({
        ...device,
        readings: { level: { ...openAbove, unit: 'mm' } },
      })),
    ],
    [
      'how to say that there is no unit',
      'level has an empty unit; null says that there is none',
      withDevice((device) => ({ ...device, readings: { level: { ...classes, unit: '' } } })),
    ],
    [
      'what an act lacks',
      'flush: its reply does not name its request, and there is no readBack',
      withTool('flush', () => replied(() => undefined, { effect: 'act', serial: true })),
    ],
    [
      'what an example lacks',
      'read_level: no example has both its request and its reply',
      withTool('read_level', (tool) => ({ ...tool, examples: tool.examples?.slice(1) ?? [] })),
    ],
  ])('say %s: %s', async (_, detail, broken) => {
    const failed = (await contractFindings(broken)).filter(({ ok }) => !ok)
    expect(failed.map((finding) => finding.detail)).toContain(detail)
  })

  test('take null for a unit or a class that there is none of', async () => {
    for (const key of ['unit', 'deviceClass', 'stateClass']) {
      const level = { ...classes, unit: 'mm', [key]: null }
      const plain = withDevice((device) => ({ ...device, readings: { level } }))
      expect(await obstaclesTo('platinum', plain), key).toEqual([])
    }
  })

  test.each<[what: string, detail: string, broken: DeviceType]>([
    [
      'a request that the simulator has no frame in',
      'the framing of the simulator finds no frame in the request aa 01 00 55',
      withDevice((device) => ({
        ...device,
        simulator: () => ({ framing: lines({ terminator: '\r' }), receive: () => undefined }),
      })),
    ],
    [
      'a simulator that is silent',
      'the simulator does not answer the request aa 01 00 55',
      withDevice((device) => ({ ...device, simulator: () => ({ framing, receive: () => undefined }) })),
    ],
    [
      'a reply that the type has no frame in',
      'the framing finds no frame in the reply aa 01 07 4f',
      answering([0xaa, 1, 7, 0x4f]),
    ],
    [
      'a reply to something else',
      'the frame aa 03 07 4c is not taken for the reply',
      answering([0xaa, 3, 7, 0x4c]),
    ],
  ])('tell %s from the other ways in which a simulator fails', async (_, detail, broken) => {
    const findings = await contractFindings(broken)
    const simulated = findings.find(({ rule }) => rule === 'the simulator answers every tool')
    expect(simulated?.detail.split('; ')[0]).toBe(`read_level: ${detail}`)
  })

  function answering(bytes: readonly number[]): DeviceType {
    const simulator = () => ({
      framing,
      receive: () => ({ bytes: Uint8Array.from(bytes), afterMs: 1 }),
    })
    return withDevice((device) => ({ ...device, simulator }))
  }

  test('name the framing that a Modbus simulator needs', async () => {
    const meter = withDevice((device) => ({
      ...device,
      framing: modbusRtu(),
      tools: {
        read_level: {
          description: 'The level of the tank.',
          exchange: () => readRegisters({ unit: 1, kind: 'input', address: 0, count: 10 }),
          effect: 'read',
          parallelSafe: true,
        },
      },
      simulator: (world) => ({
        ...modbusSimulator(world, {
          unit: 1,
          readRegister: () => 7,
          readBit: () => undefined,
          writeRegisters: () => false,
          writeBits: () => false,
        }),
        framing: modbusRtu(),
      }),
    }))
    const findings = await contractFindings(meter)
    expect(findings.find(({ rule }) => rule === 'the simulator answers every tool')?.detail).toBe(
      'read_level: the framing of the simulator finds no frame in the request 01 04 00 00 00 0a 70 0d' +
        ': a simulator needs modbusRtuRequests()',
    )
  })

  /** A sound type that pushes its level, and never is asked. */
  function pushing(
    change: (device: DeviceDescription) => DeviceDescription = (device) => device,
  ): DeviceType {
    return withDevice(({ poll, ...device }) =>
      change({
        ...device,
        pushed: {
          fields: (frame) => (frame[1] === 1 ? { level: frame[2] ?? null } : undefined),
          silenceMs: 1000,
        },
        tools: {
          get_level: {
            description: 'The last level of the tank.',
            returns: Type.Object({ level: Type.Integer() }),
            get: ({ level }) => ({ level: typeof level === 'number' ? level : -1 }),
            examples: [
              { reply: 'aa 01 07 4e aa 01 08 4d', value: { level: 8 } },
              { reply: 'aa 02 07 4d', ignored: true },
            ],
            effect: 'read',
            parallelSafe: true,
          },
        },
        simulator: (world) => {
          world.every(1000, () => world.send(Uint8Array.of(0xaa, 1, 7, 0x4e)))
          return { framing, receive: () => undefined }
        },
      }),
    )
  }

  test('hold for a type that only ever pushes', async () => {
    expect((await contractFindings(pushing())).filter(({ ok }) => !ok)).toEqual([])
    expect(await gradeOf(pushing())).toBe('platinum')
  })

  test.each<[what: string, rule: string, broken: DeviceType]>([
    [
      'an example with another value',
      'every tool has an example, and it holds',
      pushing((device) => withExamples(device, [{ reply: 'aa 01 07 4e', value: { level: 8 } }])),
    ],
    [
      'a frame that was not to be taken',
      'every tool has an example, and it holds',
      pushing((device) => withExamples(device, [{ reply: 'aa 01 07 4e', ignored: true }])),
    ],
    [
      'no frame among its examples',
      'every reply has an example with its request',
      pushing((device) => withExamples(device, [{ value: { level: -1 } }])),
    ],
    [
      'a simulator that is silent',
      'the simulator answers every tool',
      pushing((device) => ({ ...device, simulator: () => ({ framing, receive: () => undefined }) })),
    ],
    [
      'fields that throw',
      'decoders take any bytes',
      pushing((device) => ({
        ...device,
        pushed: {
          silenceMs: 1000,
          fields: (frame) => ({ level: Buffer.from(frame).readUInt32BE(0) }),
        },
      })),
    ],
  ])('find %s in a type that pushes', async (_, rule, broken) => {
    const failed = (await contractFindings(broken)).filter(({ ok }) => !ok)
    expect(failed.map((finding) => finding.rule)).toContain(rule)
  })

  test('of bounds and proof are the configuration’s own where it writes the tools', async () => {
    const configured = sound((type) => ({
      ...type,
      toolsConfigured: true,
      describe: () => ({ ...type.describe({}), readings: { level: {} } }),
    }))
    const failed = (await contractFindings(configured)).filter(({ ok }) => !ok).map(({ rule }) => rule)
    expect(failed).toEqual(['numeric readings have a unit and classes'])
  })
})
