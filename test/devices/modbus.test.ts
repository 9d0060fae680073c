import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import modbus from '../../devices/modbus.ts'
import { gradeOf } from '../../src/driver/contract.ts'
import type { DeviceSession, Exchange, ToolSpec } from '../../src/driver/device-type.ts'
import { GatewayError } from '../../src/errors.ts'
import { crc16modbus } from '../../src/port/framer/checksum.ts'
import { bytes, hex } from '../port/framer/collected.ts'
import { simulated } from './simulated.ts'

type Options = Readonly<Record<string, unknown>>
const seal = (body: string) => hex(crc16modbus({ from: 0 }).seal(bytes(`${body} 00 00`)))

/** The configuration that the documentation shows. */
const BOILER: Options = {
  address: 3,
  registers: [
    {
      name: 'flow_temperature',
      register: 16,
      kind: 'holding',
      format: 'int16',
      scale: 0.1,
      offset: 0,
      unit: '°C',
    },
    {
      name: 'setpoint',
      register: 32,
      kind: 'holding',
      format: 'int16',
      scale: 0.1,
      unit: '°C',
      writable: true,
      min: 5,
      max: 80,
    },
    { name: 'mode', register: 40, kind: 'holding', format: 'uint16', enum: { 0: 'off', 1: 'heating' } },
  ],
  coils: [{ name: 'pump', coil: 0, writable: true, toggle: true }],
}

function toolOf(options: Options, name: string): ToolSpec {
  const tool = modbus.describe(options).tools[name]
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}

const request = (tool: ToolSpec, args = {}) => hex(tool.exchange?.(args).request ?? bytes(''))

function code(call: () => unknown): unknown {
  try {
    return call()
  } catch (thrown) {
    return thrown instanceof GatewayError ? [thrown.code, thrown.field] : thrown
  }
}

describe('the tools of a register map', () => {
  test('are one read for each entry, all of them, and what may be written', () => {
    const { tools } = modbus.describe(BOILER)
    expect(Object.keys(tools).sort()).toEqual([
      'read_all',
      'read_flow_temperature',
      'read_mode',
      'read_pump',
      'read_setpoint',
      'set_pump',
      'set_setpoint',
      'toggle_pump',
    ])
  })

  test('declare what they are', () => {
    const { tools } = modbus.describe(BOILER)
    for (const [name, tool] of Object.entries(tools)) {
      const effect = name.startsWith('read') ? 'read' : name.startsWith('set') ? 'set' : 'act'
      expect(tool.effect, name).toBe(effect)
      expect(tool.parallelSafe === true, name).toBe(effect === 'read')
      expect(tool.serial === true, name).toBe(effect !== 'read')
      expect(tool.correlates, name).toBe(effect === 'read' ? 'shape' : 'request')
    }
  })

  test('set by function 06, 10 or 05 as fits, and toggle by 05 with 5500', () => {
    const wide = { address: 3, registers: [{ name: 'limit', register: 8, format: 'uint32', writable: true }] }
    expect(request(toolOf(BOILER, 'set_setpoint'), { value: 21.5 })).toBe('03 06 00 20 00 d7 c9 bc')
    expect(request(toolOf(wide, 'set_limit'), { value: 70_000 })).toBe(
      seal('03 10 00 08 00 02 04 00 01 11 70'),
    )
    expect(request(toolOf(BOILER, 'set_pump'), { value: true })).toBe('03 05 00 00 ff 00 8d d8')
    expect(request(toolOf(BOILER, 'toggle_pump'))).toBe('03 05 00 00 55 00 f3 78')
  })

  test('bound a parameter by min and max, and by what the format holds', () => {
    expect(toolOf(BOILER, 'set_setpoint').parameters).toMatchObject({
      required: ['value'],
      properties: { value: { type: 'number', minimum: 5, maximum: 80 } },
    })
    const plain = {
      address: 1,
      registers: [
        { name: 'level', register: 0, format: 'uint16', writable: true },
        { name: 'mode', register: 1, format: 'uint16', writable: true, enum: { 0: 'off', 1: 'on' } },
        { name: 'label', register: 2, format: 'string', length: 2, writable: true },
      ],
    }
    expect(toolOf(plain, 'set_level').parameters?.properties.value).toMatchObject({
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
    })
    expect(toolOf(plain, 'set_mode').parameters?.properties.value).toEqual({
      type: 'string',
      enum: ['off', 'on'],
    })
    expect(toolOf(plain, 'set_label').parameters?.properties.value).toMatchObject({
      type: 'string',
      maxLength: 4,
    })
  })

  test('refuse a value that the register cannot hold, before anything is sent', () => {
    const set = toolOf(BOILER, 'set_setpoint')
    expect(code(() => set.exchange?.({ value: 21.53 }))).toEqual(['invalid_arguments', '/value'])
  })

  test('publish a value that the device repeated, and none that it did not', () => {
    const wide = { address: 3, registers: [{ name: 'limit', register: 8, format: 'uint32', writable: true }] }
    expect(toolOf(BOILER, 'set_setpoint').readings?.({ setpoint: 21.5 })).toEqual({ setpoint: 21.5 })
    expect(toolOf(wide, 'set_limit').readings?.({ limit: 70_000 })).toEqual({})
  })
})

describe('read_all', () => {
  const registers = [
    ...Array.from({ length: 130 }, (_, index) => ({ name: `h${index}`, register: index, format: 'uint16' })),
    { name: 'far', register: 200, format: 'float32' },
    { name: 'input', register: 0, kind: 'input', format: 'uint16' },
    { name: 'low', register: 300, format: 'bit', bit: 0 },
    { name: 'high', register: 300, format: 'bit', bit: 15 },
  ]
  const options: Options = { address: 1, registers }

  test('needs the fewest requests: adjacent registers together, at most 125, kinds apart, gaps unread', async () => {
    const asked: string[] = []
    const session: DeviceSession = {
      exchange: async (exchange) => {
        asked.push(hex(exchange.request))
        return {} as never
      },
    }
    const tool = toolOf(options, 'read_all')
    if (!tool.run) throw new Error('one transaction is not enough')
    await tool.run(session, {})
    expect(asked).toEqual([
      seal('01 03 00 00 00 7d'),
      seal('01 03 00 7d 00 05'),
      seal('01 03 00 c8 00 02'),
      seal('01 03 01 2c 00 01'),
      seal('01 04 00 00 00 01'),
    ])
  })

  test('is polled in parts of one transaction, which make up the whole', () => {
    const { poll } = modbus.describe(options)
    expect(poll?.tool).toBe('read_all')
    expect(poll?.parts).toHaveLength(5)
    const bits = poll?.parts?.[3]?.reply?.match(bytes(seal('01 03 02 80 00')))
    expect(bits).toEqual({ kind: 'value', value: { low: false, high: true } })
  })
})

describe('faults', () => {
  const faultsOf = (options: Options) =>
    modbus.faults?.({ address: 1, ...options }).map(({ field, severity }) => severity ?? field)
  const register = (more: Options) =>
    faultsOf({ registers: [{ name: 'x', register: 0, format: 'uint16', ...more }] })

  test.each<[string, string[] | undefined, string]>([
    ['nothing to read', faultsOf({}), ''],
    ['a name that is taken', faultsOf({ coils: [{ name: 'all', coil: 0 }] }), '/coils/0/name'],
    ['too many registers', register({ register: 65_535, format: 'uint32' }), '/registers/0/register'],
    ['no bit', register({ format: 'bit' }), '/registers/0/format'],
    ['a bit of a number', register({ bit: 3 }), '/registers/0/bit'],
    ['a text without length', register({ format: 'string' }), '/registers/0/format'],
    ['a length of a number', register({ length: 3 }), '/registers/0/length'],
    ['an order of one word', register({ wordOrder: 'little' }), '/registers/0/wordOrder'],
    ['a scale of nothing', register({ scale: 0 }), '/registers/0/scale'],
    ['a scaled text', register({ format: 'string', length: 2, scale: 2 }), '/registers/0/scale'],
    ['names of a float', register({ format: 'float32', enum: { 0: 'a' } }), '/registers/0/enum'],
    ['one name for two numbers', register({ enum: { 0: 'a', 1: 'a' } }), '/registers/0/enum'],
    ['limits of a text', register({ format: 'string', length: 2, max: 3 }), '/registers/0/max'],
    ['limits the wrong way round', register({ min: 5, max: 1 }), '/registers/0/min'],
    ['a writable input register', register({ kind: 'input', writable: true }), '/registers/0/writable'],
    ['a writable bit', register({ format: 'bit', bit: 1, writable: true }), '/registers/0/writable'],
    [
      'a toggled discrete input',
      faultsOf({ coils: [{ name: 'x', coil: 0, kind: 'discrete', toggle: true }] }),
      '/coils/0/toggle',
    ],
    [
      'a writable discrete input',
      faultsOf({ coils: [{ name: 'x', coil: 0, kind: 'discrete', writable: true }] }),
      '/coils/0/writable',
    ],
  ])('%s', (_, fields, field) => {
    expect(fields).toEqual([field])
  })

  test('a name that is given twice', () => {
    const options = {
      registers: [{ name: 'x', register: 0, format: 'uint16' }],
      coils: [{ name: 'x', coil: 0 }],
    }
    expect(faultsOf(options)).toEqual(['/coils/0/name'])
  })

  test('registers that are shared in part, but not in whole or between kinds', () => {
    const place = (name: string, register: number, format: string, more = {}) => ({
      name,
      register,
      format,
      ...more,
    })
    expect(faultsOf({ registers: [place('a', 0, 'uint32'), place('b', 1, 'uint16')] })).toEqual([
      '/registers/1/register',
    ])
    expect(faultsOf({ registers: [place('a', 1, 'uint16'), place('b', 0, 'uint64')] })).toEqual([
      '/registers/0/register',
    ])
    expect(faultsOf({ registers: [place('a', 0, 'uint32'), place('b', 0, 'float32')] })).toEqual([])
    expect(
      faultsOf({ registers: [place('a', 0, 'uint32'), place('b', 1, 'uint16', { kind: 'input' })] }),
    ).toEqual([])
  })

  test('the documented configuration has none', () => {
    expect(modbus.faults?.(BOILER)).toEqual([])
  })
})

test('options without a fault are described without one', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'all')
  const format = fc.constantFrom('uint16', 'int32', 'uint64', 'float32', 'string', 'bit')
  const register = fc.record(
    {
      name,
      register: fc.integer({ min: 0, max: 6 }),
      format,
      kind: fc.constantFrom('holding', 'input'),
      wordOrder: fc.constantFrom('big', 'little'),
      length: fc.integer({ min: 1, max: 2 }),
      bit: fc.integer({ min: 0, max: 15 }),
      scale: fc.constantFrom(0.1, 10, 0),
      enum: fc.constantFrom({ 0: 'off' }, { 0: 'off', 1: 'on' }),
      writable: fc.boolean(),
      min: fc.integer({ min: -5, max: 5 }),
    },
    { requiredKeys: ['name', 'register', 'format'] },
  )
  const coil = fc.record(
    {
      name,
      coil: fc.integer({ min: 0, max: 3 }),
      kind: fc.constantFrom('coil', 'discrete'),
      toggle: fc.boolean(),
    },
    { requiredKeys: ['name', 'coil'] },
  )
  const options = fc.record({
    address: fc.integer({ min: 1, max: 247 }),
    registers: fc.array(register, { maxLength: 3 }),
    coils: fc.array(coil, { maxLength: 2 }),
  })
  fc.assert(
    fc.property(options, (given) => {
      if (modbus.faults?.(given).length !== 0) return
      const { tools } = modbus.describe(given)
      const reads = Object.keys(tools).filter((tool) => tool.startsWith('read_'))
      expect(reads).toHaveLength(1 + given.registers.length + given.coils.length)
      for (const [name, tool] of Object.entries(tools)) {
        if (name.startsWith('read') && tool.exchange) expect(tool.exchange({}).request.length).toBe(8)
      }
    }),
    { numRuns: 1000 },
  )
})

describe('the simulator', () => {
  const device = modbus.describe(BOILER)
  const asks = (log: ReturnType<typeof simulated>) => (text: string) => hex(log.ask(bytes(seal(text))))

  test('holds what is written', () => {
    const world = simulated(device)
    const ask = asks(world)
    expect(ask('03 06 00 20 00 d7')).toBe(seal('03 06 00 20 00 d7'))
    expect(ask('03 03 00 20 00 01')).toBe(seal('03 03 02 00 d7'))
    expect(ask('03 05 00 00 ff 00')).toBe(seal('03 05 00 00 ff 00'))
    expect(ask('03 01 00 00 00 01')).toBe(seal('03 01 01 01'))
    expect(ask('03 05 00 00 55 00')).toBe(seal('03 05 00 00 55 00'))
    expect(ask('03 01 00 00 00 01')).toBe(seal('03 01 01 00'))
    expect(world.log.filter(({ command }) => command.startsWith('write'))).toEqual([
      { command: 'write_registers', detail: { address: 32, words: [215] } },
      { command: 'write_bits', detail: { address: 0, bits: [true] } },
      { command: 'write_bits', detail: { address: 0, bits: ['toggle'] } },
    ])
  })

  test('refuses as the standard has it, and then has done nothing', () => {
    const world = simulated(device)
    const ask = asks(world)
    expect(ask('03 03 00 21 00 01')).toBe(seal('03 83 02'))
    expect(ask('03 03 00 20 00 02')).toBe(seal('03 83 02'))
    expect(ask('03 03 00 20 00 00')).toBe(seal('03 83 03'))
    expect(ask('03 06 00 10 00 01')).toBe(seal('03 86 02'))
    expect(ask('03 05 00 00 12 34')).toBe(seal('03 85 03'))
    expect(ask('03 0f 00 00 00 02 01 03')).toBe(seal('03 8f 02'))
    expect(ask('03 16 00 20 00 00 00 01')).toBe(seal('03 96 01'))
    expect(world.log).toEqual([])
  })

  test('is silent for other units and for damaged requests', () => {
    const world = simulated(device)
    expect(hex(world.ask(bytes(seal('04 03 00 20 00 01'))))).toBe('')
    expect(hex(world.ask(bytes('03 03 00 20 00 01 84 23')))).toBe('')
    expect(world.log).toEqual([])
  })

  test('does what a broadcast says, and is silent', () => {
    const world = simulated(device)
    expect(hex(world.ask(bytes(seal('00 06 00 20 00 d7'))))).toBe('')
    expect(hex(world.ask(bytes(seal('03 03 00 20 00 01'))))).toBe(seal('03 03 02 00 d7'))
  })

  test('measures values that move within their bounds', () => {
    const world = simulated(modbus.describe(modbus.sample))
    const exchange = modbus.describe(modbus.sample).tools.read_flow_temperature?.exchange?.({}) as Exchange<{
      flow_temperature: number
    }>
    const values = Array.from({ length: 20 }, () => {
      world.advance(30_000)
      const verdict = exchange.reply?.match(world.ask(exchange.request))
      return verdict?.kind === 'value' ? verdict.value.flow_temperature : Number.NaN
    })
    expect(new Set(values).size).toBeGreaterThan(5)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-50)
    expect(Math.max(...values)).toBeLessThanOrEqual(150)
  })
})

test('it is a platinum type', async () => {
  expect(await gradeOf(modbus)).toBe('platinum')
})
