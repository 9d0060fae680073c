import fc from 'fast-check'
import { Check } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import frames from '../../devices/frames.ts'
import { gradeOf, obstaclesTo } from '../../src/driver/contract.ts'
import type { Exchange, OptionFault, ToolSpec } from '../../src/driver/device-type.ts'
import { GatewayError } from '../../src/errors.ts'
import { ANY_SHAPE } from '../../src/port/reply.ts'
import { bytes, framesIn, hex } from '../port/framer/collected.ts'
import { simulated } from './simulated.ts'

type Options = Readonly<Record<string, unknown>>

/** The configuration that the documentation shows. */
const MH_Z19 = { start: 'ff', length: 9, checksum: { kind: 'twos-complement-8', from: 1, to: 8 } }
const READ_CO2 = {
  request: 'ff 01 86 00 00 00 00 00 {checksum}',
  reply: 'ff 86 {co2:uint16be} .. .. .. .. {checksum}',
  effect: 'read',
  parallelSafe: true,
}
/** Relays of the kind LCUS: `a0 channel state sum`, here with a board that repeats what it was told. */
const RELAYS = { start: 'a0', length: 4, checksum: { kind: 'sum-8' } }
const SET_RELAY = {
  request: 'a0 {channel:uint8} {on:uint8} {checksum}',
  parameters: {
    channel: { type: 'integer', minimum: 1, maximum: 8 },
    on: { type: 'boolean' },
  },
  reply: 'a0 {channel:uint8} {on:uint8} {checksum}',
  refuse: 'a0 ff {code:uint8} {checksum}',
  effect: 'set',
}

function toolOf(framing: Options, tools: Readonly<Record<string, Options>>, name: string): ToolSpec {
  const tool = frames.describe({ framing, tools }).tools[name]
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}

function exchangeOf(framing: Options, tool: Options, args: Record<string, unknown> = {}): Exchange<unknown> {
  const exchange = toolOf(framing, { it: tool }, 'it').exchange?.(args)
  if (!exchange) throw new Error('the tool is not one transaction')
  return exchange
}

/** What the frames in some bytes say to the tool. */
function answer(framing: Options, tool: Options, text: string, args: Record<string, unknown> = {}) {
  const { reply } = exchangeOf(framing, tool, args)
  return framesIn(frames.describe({ framing, tools: { it: tool } }).framing, bytes(text), [3])
    .map((frame) => reply?.match(bytes(frame)))
    .filter((verdict) => verdict !== undefined)
}

function refusal(call: () => unknown): unknown {
  try {
    return call()
  } catch (thrown) {
    return thrown instanceof GatewayError ? [thrown.code, thrown.field] : thrown
  }
}

const faultsOf = (framing: Options, tools: Options): readonly OptionFault[] =>
  frames.faults?.({ framing, tools }) ?? []
const errorsOf = (framing: Options, tools: Options) =>
  faultsOf(framing, tools).flatMap(({ field, severity }) => (severity === 'warning' ? [] : [field]))

describe('a request', () => {
  // Winsen MH-Z19B manual; tilga.com and others on the LCUS relays.
  test('is the bytes of its template, with the checksum in its place', () => {
    expect(hex(exchangeOf(MH_Z19, READ_CO2).request)).toBe('ff 01 86 00 00 00 00 00 79')
    expect(hex(exchangeOf(RELAYS, SET_RELAY, { channel: 1, on: true }).request)).toBe('a0 01 01 a2')
    expect(hex(exchangeOf(RELAYS, SET_RELAY, { channel: 1, on: false }).request)).toBe('a0 01 00 a1')
    expect(hex(exchangeOf(RELAYS, SET_RELAY, { channel: 2, on: true }).request)).toBe('a0 02 01 a3')
  })

  test('may have another length than the replies, and no blanks', () => {
    const modbus = { start: '01', lengthAt: 2, lengthPlus: 5, checksum: { kind: 'crc-16-modbus' } }
    const tool = {
      request: '010400000002{checksum}',
      reply: '01 04 04 {voltage:float32be} {checksum}',
      effect: 'read',
    }
    expect(hex(exchangeOf(modbus, tool).request)).toBe('01 04 00 00 00 02 71 cb')
    expect(answer(modbus, tool, '01 04 04 43 66 33 34 1b 38')).toMatchObject([
      { kind: 'value', value: { voltage: expect.closeTo(230.2, 3) } },
    ])
    expect(answer(modbus, tool, '01 04 04 7f c0 00 00 e2 6c')).toEqual([
      { kind: 'value', value: { voltage: null } },
    ])
  })

  test('holds every number in the order that its format says', () => {
    const tool = (format: string) => ({
      request: `ff {n:${format}}`,
      parameters: { n: { type: format.startsWith('float') ? 'number' : 'integer' } },
      reply: 'none',
      effect: 'set',
    })
    const sent = (format: string, n: number) =>
      hex(exchangeOf({ start: 'ff', length: 4 }, tool(format), { n }).request)
    expect(sent('uint8', 200)).toBe('ff c8')
    expect(sent('int8', -2)).toBe('ff fe')
    expect(sent('uint16be', 0x1234)).toBe('ff 12 34')
    expect(sent('uint16le', 0x1234)).toBe('ff 34 12')
    expect(sent('int16be', -2)).toBe('ff ff fe')
    expect(sent('int16le', -2)).toBe('ff fe ff')
    expect(sent('uint32be', 0x12345678)).toBe('ff 12 34 56 78')
    expect(sent('uint32le', 0x12345678)).toBe('ff 78 56 34 12')
    expect(sent('int32be', -2)).toBe('ff ff ff ff fe')
    expect(sent('int32le', -2)).toBe('ff fe ff ff ff')
    expect(sent('float32be', 1)).toBe('ff 3f 80 00 00')
    expect(sent('float32le', 1)).toBe('ff 00 00 80 3f')
  })

  test('refuses what has no room in its place', () => {
    const call = (on: unknown) => refusal(() => exchangeOf(RELAYS, SET_RELAY, { channel: on, on: true }))
    expect(call(256)).toEqual(['invalid_arguments', '/channel'])
    expect(call(-1)).toEqual(['invalid_arguments', '/channel'])
    expect(call(1.5)).toEqual(['invalid_arguments', '/channel'])
  })

  test('has parameters bounded by the configuration and by their format', () => {
    const tool = {
      request: 'ff {level:uint8}',
      parameters: { level: { type: 'integer', maximum: 1000 } },
      reply: 'none',
      effect: 'set',
    }
    const { parameters } = toolOf({ start: 'ff', length: 4 }, { it: tool }, 'it')
    expect(parameters).toMatchObject({
      required: ['level'],
      properties: { level: { type: 'integer', minimum: 0, maximum: 255 } },
    })
    expect(toolOf(RELAYS, { it: SET_RELAY }, 'it').parameters?.properties.channel).toMatchObject({
      minimum: 1,
      maximum: 8,
    })
  })

  test('without an acknowledgement waits for none', () => {
    expect(
      exchangeOf(RELAYS, { ...SET_RELAY, reply: 'none', refuse: undefined }, { channel: 1, on: true }).reply,
    ).toBe(null)
  })
})

describe('a reply', () => {
  // capture: PyPMS
  test('gives the numbers of its template', () => {
    expect(answer(MH_Z19, READ_CO2, 'ff 86 02 7c 42 00 00 00 ba')).toEqual([
      { kind: 'value', value: { co2: 636 } },
    ])
  })

  test('is no reply if a fixed byte, the length or the checksum is another', () => {
    expect(answer(MH_Z19, READ_CO2, 'ff 87 01 f4 00 00 00 00 84')).toEqual([])
    expect(answer(MH_Z19, READ_CO2, 'ff 86 01 f4')).toEqual([])
    expect(answer(MH_Z19, READ_CO2, 'ff 86 01 f4 00 00 00 00 84')).toEqual([])
  })

  test('that repeats an argument must repeat that of the request', () => {
    const args = { channel: 1, on: true }
    expect(answer(RELAYS, SET_RELAY, 'a0 01 01 a2', args)).toEqual([{ kind: 'value', value: {} }])
    expect(answer(RELAYS, SET_RELAY, 'a0 01 00 a1', args)).toEqual([])
    expect(answer(RELAYS, SET_RELAY, 'a0 02 01 a3', args)).toEqual([])
  })

  test('may be a refusal, which proves nothing', () => {
    expect(answer(RELAYS, SET_RELAY, 'a0 ff 07 a6', { channel: 1, on: true })).toMatchObject([
      { kind: 'refused', deviceCode: 7, provenNotDone: false },
    ])
  })

  test('has the shape of everything that it fixes', () => {
    expect(exchangeOf(RELAYS, SET_RELAY, { channel: 1, on: true }).reply?.shapes[1]).toEqual({
      length: 4,
      bytes: [
        [0, 0xa0],
        [1, 1],
        [2, 1],
      ],
    })
  })

  test('that starts with nothing fixed could be any frame, unless the configuration says more', () => {
    const open = { request: 'aa 01', reply: '.. {level:uint8}', effect: 'read' }
    const framing = { start: 'aa', length: 2 }
    expect(toolOf(framing, { it: open }, 'it').correlates).toBe('none')
    expect(exchangeOf(framing, open).reply?.shapes).toEqual([ANY_SHAPE])
    expect(toolOf(framing, { it: { ...open, correlates: 'shape' } }, 'it').correlates).toBe('shape')
    expect(toolOf(MH_Z19, { it: READ_CO2 }, 'it').correlates).toBe('shape')
  })

  test('takes any frame without an exception', () => {
    const { reply } = exchangeOf(RELAYS, SET_RELAY, { channel: 1, on: true })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (frame) => {
        reply?.match(frame)
      }),
    )
  })

  test('has the fields and types that its formats imply', () => {
    const tool = { request: 'ff', reply: 'ff {a:int16le} {b:float32be}', effect: 'read', parallelSafe: true }
    expect(toolOf({ start: 'ff', length: 7 }, { it: tool }, 'it').returns?.properties).toMatchObject({
      a: { type: 'integer' },
      b: { type: ['number', 'null'] },
    })
  })
})

describe('a read-back', () => {
  const READ_LEVEL = { request: 'ff 01 00', reply: 'ff 01 {level:uint8}', effect: 'read', parallelSafe: true }
  const SET_LEVEL = {
    request: 'ff 02 {to:uint8}',
    parameters: { to: { type: 'integer' } },
    reply: 'ff 02 00',
    readBack: { tool: 'read_level', expect: { level: '{to}' } },
    effect: 'set',
  }
  const framing = { start: 'ff', length: 3 }

  test('confirms what was set, and nothing else', () => {
    const tool = toolOf(framing, { read_level: READ_LEVEL, set_level: SET_LEVEL }, 'set_level')
    if (!tool.exchange) throw new Error('set_level is one transaction')
    const proof = tool.readBack?.({ to: 7 })
    expect(hex(proof?.exchange.request ?? bytes(''))).toBe('ff 01 00')
    expect(proof?.confirms({ level: 7 })).toBe(true)
    expect(proof?.confirms({ level: 8 })).toBe(false)
    expect(proof?.confirms(null)).toBe(false)
  })

  test('names a tool that reads, its fields and parameters of its own', () => {
    const fields = (readBack: Options) =>
      errorsOf(framing, { read_level: READ_LEVEL, set_level: { ...SET_LEVEL, readBack } })
    expect(fields({ tool: 'read_level', expect: { level: '{to}' } })).toEqual([])
    expect(fields({ tool: 'set_level', expect: { level: 1 } })).toEqual(['/tools/set_level/readBack/tool'])
    expect(fields({ tool: 'constructor', expect: { level: 1 } })).toEqual(['/tools/set_level/readBack/tool'])
    expect(fields({ tool: 'read_level', expect: {} })).toEqual(['/tools/set_level/readBack/expect'])
    expect(fields({ tool: 'read_level', expect: { volume: 1 } })).toEqual([
      '/tools/set_level/readBack/expect/volume',
    ])
    expect(fields({ tool: 'read_level', expect: { level: '{from}' } })).toEqual([
      '/tools/set_level/readBack/expect/level',
    ])
  })
})

describe('a configuration', () => {
  test('that the documentation shows is without fault', () => {
    expect(Check(frames.options, { framing: MH_Z19, tools: { read_co2: READ_CO2 } })).toBe(true)
    expect(faultsOf(MH_Z19, { read_co2: READ_CO2 })).toEqual([])
    expect(faultsOf(RELAYS, { set_relay: SET_RELAY })).toEqual([])
  })

  test.each<[what: string, framing: Options, field: string]>([
    ['no end of a frame', { start: 'ff' }, '/framing'],
    ['nothing to find a frame by', { length: 4 }, '/framing'],
    ['two lengths', { start: 'ff', length: 4, lengthAt: 1 }, '/framing/lengthAt'],
    ['silence beside a length', { start: 'ff', length: 4, idleMs: 20 }, '/framing/idleMs'],
    ['a format of no length', { start: 'ff', length: 4, lengthFormat: 'uint8' }, '/framing/lengthFormat'],
    ['no room', { start: 'ff ff', length: 2 }, '/framing/length'],
    ['a length over the limit', { start: 'ff', length: 300 }, '/framing/length'],
    ['a length beyond the limit', { start: 'ff', lengthAt: 16, lengthMax: 16 }, '/framing/lengthAt'],
    [
      'a checksum of nothing',
      { start: 'ff', length: 4, checksum: { kind: 'sum-8', from: 2, to: 2 } },
      '/framing/checksum/to',
    ],
    [
      'a checksum that sums itself',
      { start: 'ff', length: 9, checksum: { kind: 'sum-8', at: 4 } },
      '/framing/checksum/at',
    ],
    [
      'a checksum behind the frame',
      { start: 'ff', length: 4, checksum: { kind: 'sum-8', to: 4 } },
      '/framing/checksum',
    ],
  ])('has a fault with %s', (_, framing, field) => {
    expect(errorsOf(framing, { it: { request: 'ff', reply: 'none', effect: 'act' } })).toContain(field)
  })

  test.each<[what: string, tool: Options, field: string]>([
    ['half a byte', { request: 'ff 0' }, '/tools/it/request'],
    ['no hex', { request: 'ff zz' }, '/tools/it/request'],
    ['an empty request', { request: ' ' }, '/tools/it/request'],
    ['any byte to send', { request: 'ff ..' }, '/tools/it/request'],
    ['a number without a format', { request: 'ff {n}' }, '/tools/it/request'],
    ['an unknown format', { request: 'ff {n:uint24be}' }, '/tools/it/request'],
    ['an unknown parameter', { request: 'ff {n:uint8}' }, '/tools/it/request'],
    ['two checksums', { request: 'ff {checksum} {checksum}' }, '/tools/it/request'],
    ['a parameter that is not sent', { parameters: { n: { type: 'integer' } } }, '/tools/it/parameters/n'],
    [
      'a fraction in a whole number',
      { request: 'ff {n:uint8}', parameters: { n: { type: 'number' } } },
      '/tools/it/parameters/n/type',
    ],
    ['a reply of another length', { reply: 'ff 01' }, '/tools/it/reply'],
    ['a reply of another start', { reply: 'fe 01 02 {checksum}' }, '/tools/it/reply'],
    ['a checksum elsewhere', { reply: 'ff 01 {checksum} 02' }, '/tools/it/reply'],
    ['a field twice', { reply: 'ff {a:uint8} {a:uint8} ..' }, '/tools/it/reply'],
    ['a field that is no name', { reply: 'ff {aB:uint8} .. ..' }, '/tools/it/reply'],
    ['a refusal that cannot come', { refuse: 'ff 01' }, '/tools/it/refuse'],
    ['a refusal without a reply', { reply: 'none', refuse: 'ff 01 02 03' }, '/tools/it/refuse'],
  ])('has a fault with %s', (_, tool, field) => {
    const framing = { start: 'ff', length: 4, checksum: { kind: 'sum-8' } }
    expect(
      errorsOf(framing, { it: { request: 'ff 01', reply: 'ff 01 .. {checksum}', effect: 'act', ...tool } }),
    ).toEqual([field])
  })

  test('has a fault with a checksum that the framing has not, or a length that is not the template’s', () => {
    const plain = { start: 'ff', length: 4 }
    expect(errorsOf(plain, { it: { request: 'ff {checksum}', reply: 'none', effect: 'act' } })).toEqual([
      '/tools/it/request',
    ])
    const counted = { start: 'ff', lengthAt: 1, lengthPlus: 2, end: '0d' }
    const reply = (template: string) =>
      errorsOf(counted, { it: { request: 'ff', reply: template, effect: 'act' } })
    expect(reply('ff 02 .. 0d')).toEqual([])
    expect(reply('ff .. .. 0d')).toEqual([])
    expect(reply('ff 03 .. 0d')).toEqual(['/tools/it/reply'])
    expect(reply('ff 02 .. 0a')).toEqual(['/tools/it/reply'])
  })

  test('is warned of what is undeclared or proves nothing', () => {
    const warned = (tool: Options) =>
      faultsOf({ start: 'ff', length: 2 }, { it: { request: 'ff', reply: 'ff 01', ...tool } }).map(
        ({ field, severity }) => [field, severity],
      )
    expect(warned({ effect: 'read' })).toEqual([['/tools/it', 'warning']])
    expect(warned({ effect: 'read', serial: true })).toEqual([])
    expect(warned({ effect: 'act', parallelSafe: true })).toEqual([['/tools/it/parallelSafe', 'warning']])
    expect(warned({ effect: 'set' })).toEqual([['/tools/it/reply', 'warning']])
    expect(warned({ effect: 'act' })).toEqual([])
  })
})

describe('a device', () => {
  const tools = {
    read_co2: READ_CO2,
    calibrate: {
      request: 'ff 01 87 00 00 00 00 00 {checksum}',
      reply: 'none',
      dangerous: true,
      effect: 'act',
    },
  }

  test('polls the reads that are declared parallel-safe, one transaction at a time', () => {
    const { poll, readings } = frames.describe({ framing: MH_Z19, tools })
    expect(poll?.tool).toBe('read_co2')
    expect(poll?.parts?.map(({ request }) => hex(request))).toEqual(['ff 01 86 00 00 00 00 00 79'])
    expect(readings).toEqual({ co2: {} })
    const { parallelSafe, ...undeclared } = READ_CO2
    expect(frames.describe({ framing: MH_Z19, tools: { it: undeclared } }).poll).toBeUndefined()
  })

  test('has serial commands, and reads that are what they say', () => {
    expect(toolOf(MH_Z19, tools, 'calibrate')).toMatchObject({ serial: true, dangerous: true, effect: 'act' })
    const { parallelSafe, ...undeclared } = READ_CO2
    const read = toolOf(MH_Z19, { it: undeclared }, 'it')
    expect([read.serial, read.parallelSafe]).toEqual([undefined, undefined])
  })

  test('whose frames end in silence is told of its replies by the line', () => {
    const { framing } = frames.describe({
      framing: { idleMs: 30 },
      tools: { it: { request: '05', reply: '06 {level:uint8}', effect: 'read' } },
    })
    expect(framing.idleMs).toBe(30)
    expect(framesIn(framing, bytes('06 07'), [1])).toEqual([])
  })
})

describe('the simulated device', () => {
  test('does what the requests say, answers with what was set, and logs it', () => {
    const device = frames.describe({
      framing: { start: 'ff', length: 4, checksum: { kind: 'sum-8' } },
      tools: {
        read_level: { request: 'ff 01 {checksum}', reply: 'ff 01 {level:uint8} ..', effect: 'read' },
        set_level: {
          request: 'ff 02 {to:uint8} {checksum}',
          parameters: { to: { type: 'integer' } },
          reply: 'ff 02 {to:uint8} {checksum}',
          readBack: { tool: 'read_level', expect: { level: '{to}' } },
          effect: 'set',
        },
        reset: { request: 'ff 03 {checksum}', reply: 'none', effect: 'act' },
      },
    })
    const { ask, log } = simulated(device)
    expect(hex(ask(bytes('ff 01 00')))).toBe('ff 01 2a 2a')
    expect(hex(ask(bytes('ff 02 07 08')))).toBe('ff 02 07 08')
    expect(hex(ask(bytes('ff 01 00')))).toBe('ff 01 07 07')
    expect(hex(ask(bytes('ff 03 02')))).toBe('')
    expect(log.map(({ command }) => command)).toEqual(['read_level', 'set_level', 'read_level', 'reset'])
    expect(log[1]).toEqual({ command: 'set_level', detail: { to: 7 } })
  })

  test('is silent for a damaged request, and hears the next one', () => {
    const { ask, log } = simulated(frames.describe(frames.sample))
    expect(hex(ask(bytes('ff 01 86 00 00 00 00 00 78')))).toBe('')
    expect(log).toEqual([])
    expect(hex(ask(bytes('00 ff 01 86 00 00 00 00 00 79')))).toBe('ff 86 00 2a 00 00 00 00 50')
  })
})

// Numbers of a configuration have neither a unit nor a class.
test('it is a gold type', async () => {
  const broken = await obstaclesTo('platinum', frames)
  expect(broken.map(({ rule, detail }) => [rule, detail])).toEqual([
    [
      'numeric readings have a unit and classes',
      'co2: no unit, no deviceClass, no stateClass (null says that there is none)',
    ],
  ])
  expect(await gradeOf(frames)).toBe('gold')
})
