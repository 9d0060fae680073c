/**
 * Any Modbus RTU device, by a register map in the configuration. Addresses are the protocol's, counted from zero:
 * what a manual calls 40001 is holding register 0. Every entry is a reading, and a tool that reads it.
 */
import {
  bitKindOf,
  defineDevice,
  kindOf,
  mapReadings,
  mapSimulator,
  mapTools,
  modbusRtu,
  NAME_PATTERN,
  type OptionFault,
  type RegisterEntry,
  type RegisterMap,
  readMap,
  registersOf,
  Type,
} from '#device'

const ENTRIES_MAX = 512
const ADDRESSES = 65_536

const Name = Type.String({ pattern: NAME_PATTERN, maxLength: 40, description: 'whole words in snake_case' })
const Address = Type.Integer({ minimum: 0, maximum: ADDRESSES - 1 })

const Register = Type.Object(
  {
    name: Name,
    register: Address,
    kind: Type.Optional(Type.Enum(['holding', 'input'])),
    format: Type.Enum([
      'uint16',
      'int16',
      'uint32',
      'int32',
      'uint64',
      'int64',
      'float32',
      'float64',
      'string',
      'bit',
    ]),
    wordOrder: Type.Optional(Type.Enum(['big', 'little'])),
    length: Type.Optional(Type.Integer({ minimum: 1, maximum: 123, description: 'registers of a string' })),
    bit: Type.Optional(Type.Integer({ minimum: 0, maximum: 15, description: '0 is the least significant' })),
    scale: Type.Optional(Type.Number()),
    offset: Type.Optional(Type.Number()),
    enum: Type.Optional(
      Type.Record(Type.String({ pattern: '^-?[0-9]+$' }), Type.String({ minLength: 1 }), {
        additionalProperties: false,
      }),
    ),
    unit: Type.Optional(Type.String()),
    deviceClass: Type.Optional(Type.String()),
    stateClass: Type.Optional(Type.Enum(['measurement', 'total', 'total_increasing'])),
    writable: Type.Optional(Type.Boolean()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
  },
  { additionalProperties: false },
)

const Coil = Type.Object(
  {
    name: Name,
    coil: Address,
    kind: Type.Optional(Type.Enum(['coil', 'discrete'])),
    writable: Type.Optional(Type.Boolean()),
    toggle: Type.Optional(Type.Boolean({ description: 'the device takes function 05 with 5500' })),
  },
  { additionalProperties: false },
)

const Options = Type.Object({
  address: Type.Integer({ minimum: 1, maximum: 247 }),
  registers: Type.Optional(Type.Array(Register, { maxItems: ENTRIES_MAX })),
  coils: Type.Optional(Type.Array(Coil, { maxItems: ENTRIES_MAX })),
})

type Given = Type.Static<typeof Options>

function mapOf(options: Given): RegisterMap {
  return { registers: options.registers ?? [], coils: options.coils ?? [] }
}

function* namesFaults(map: RegisterMap): Generator<OptionFault> {
  const seen = new Set<string>()
  const entries = [
    ...map.registers.map(({ name }, index) => ({ name, field: `/registers/${index}/name` })),
    ...map.coils.map(({ name }, index) => ({ name, field: `/coils/${index}/name` })),
  ]
  if (entries.length === 0)
    yield { field: '', message: 'neither registers nor coils: there is nothing to read' }
  for (const { name, field } of entries) {
    if (name === 'all') yield { field, message: '"all" is taken: read_all reads every entry' }
    if (seen.has(name)) yield { field, message: `the name ${name} is given twice` }
    seen.add(name)
  }
}

function* registerFaults(entry: RegisterEntry, field: string): Generator<OptionFault> {
  const { format, min, max, scale, offset } = entry
  const isNumber = format !== 'string' && format !== 'bit'
  const isFloat = format === 'float32' || format === 'float64'
  const count = registersOf(entry)
  const fault = (key: string, message: string) => ({ field: `${field}/${key}`, message })
  if (entry.register + count > ADDRESSES) {
    yield fault('register', `${count} registers from ${entry.register} on go beyond the last address`)
  }
  if (format === 'bit' && entry.bit === undefined) yield fault('format', 'which bit? Give "bit": 0 to 15')
  if (format !== 'bit' && entry.bit !== undefined) yield fault('bit', `not for the format ${format}`)
  if (format === 'string' && entry.length === undefined)
    yield fault('format', 'how many registers? Give "length"')
  if (format !== 'string' && entry.length !== undefined) yield fault('length', `not for the format ${format}`)
  if (entry.wordOrder !== undefined && count === 1) yield fault('wordOrder', 'not for a single register')
  if (scale === 0) yield fault('scale', 'a scale of 0 loses the value')
  if ((scale !== undefined || offset !== undefined) && (!isNumber || entry.enum)) {
    yield fault(scale === undefined ? 'offset' : 'scale', 'only for numbers')
  }
  if (entry.enum && (!isNumber || isFloat)) yield fault('enum', `not for the format ${format}`)
  if (entry.enum && Object.keys(entry.enum).length === 0) yield fault('enum', 'no names in it')
  if (entry.enum && new Set(Object.values(entry.enum)).size < Object.keys(entry.enum).length) {
    yield fault('enum', 'two numbers have one name: what should be written for it?')
  }
  if ((min !== undefined || max !== undefined) && (!isNumber || entry.enum)) {
    yield fault(min === undefined ? 'max' : 'min', 'only for numbers')
  }
  if (min !== undefined && max !== undefined && min > max) yield fault('min', 'greater than max')
  if (entry.writable && kindOf(entry) === 'input')
    yield fault('writable', 'input registers cannot be written')
  if (entry.writable && format === 'bit') {
    yield fault('writable', 'one bit cannot be written without the other fifteen')
  }
}

/** Two entries may mean the same registers, or bits of one; two that share only a part of them are a mistake. */
function* overlapFaults(registers: readonly RegisterEntry[]): Generator<OptionFault> {
  const order = registers
    .map((entry, index) => ({
      entry,
      index,
      start: entry.register,
      end: entry.register + registersOf(entry),
    }))
    .sort((one, other) => one.start - other.start || one.end - other.end)
  for (const kind of ['holding', 'input'] as const) {
    let last: (typeof order)[number] | undefined
    for (const next of order.filter(({ entry }) => kindOf(entry) === kind)) {
      if (last && next.start < last.end && !(next.start === last.start && next.end === last.end)) {
        yield {
          field: `/registers/${next.index}/register`,
          message: `${next.entry.name} takes up a part of the registers of ${last.entry.name}`,
        }
      }
      if (!last || next.end > last.end) last = next
    }
  }
}

function faults(options: Given): OptionFault[] {
  const map = mapOf(options)
  return [
    ...namesFaults(map),
    ...map.registers.flatMap((entry, index) => [...registerFaults(entry, `/registers/${index}`)]),
    ...overlapFaults(map.registers),
    ...map.coils.flatMap((entry, index) => {
      const readOnly = bitKindOf(entry) === 'discrete'
      const keys = (['writable', 'toggle'] as const).filter((key) => readOnly && entry[key])
      return keys.map((key) => ({
        field: `/coils/${index}/${key}`,
        message: 'discrete inputs cannot be written',
      }))
    }),
  ]
}

export default defineDevice({
  type: 'modbus',
  title: 'Any Modbus RTU device',
  description: 'A register map in the configuration; every entry becomes a tool.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  addressed: true,
  options: Options,
  faults,
  describe(options) {
    const map = mapOf(options)
    return {
      framing: modbusRtu(),
      // 300 ms, as many meters promise, is too tight for the latency of USB adapters.
      line: { timeoutMs: 1000, gapMs: 20 },
      readings: mapReadings(map),
      tools: mapTools(options.address, map),
      poll: { every: '30s', tool: 'read_all', parts: readMap(options.address, map) },
      simulator: (world) => mapSimulator(options.address, map, world),
    }
  },
  sample: {
    address: 3,
    registers: [
      {
        name: 'flow_temperature',
        register: 16,
        kind: 'holding',
        format: 'int16',
        scale: 0.1,
        unit: '°C',
        deviceClass: 'temperature',
        stateClass: 'measurement',
        min: -50,
        max: 150,
      },
      {
        name: 'setpoint',
        register: 32,
        kind: 'holding',
        format: 'int16',
        scale: 0.1,
        unit: '°C',
        deviceClass: 'temperature',
        stateClass: 'measurement',
        writable: true,
        min: 5,
        max: 80,
      },
      {
        name: 'mode',
        register: 40,
        kind: 'holding',
        format: 'uint16',
        enum: { 0: 'off', 1: 'heating', 2: 'hot_water' },
        writable: true,
      },
      {
        name: 'heat_energy',
        register: 64,
        kind: 'input',
        format: 'uint32',
        unit: 'kWh',
        deviceClass: 'energy',
        stateClass: 'total_increasing',
      },
    ],
    coils: [{ name: 'pump', coil: 0, writable: true, toggle: true }],
  },
  sampleExamples: {
    read_all: [
      {
        exchanges: [
          { request: '03 03 00 10 00 01 84 2d', reply: '03 03 02 01 c7 81 86' },
          { request: '03 03 00 20 00 01 84 22', reply: '03 03 02 00 d7 81 da' },
          { request: '03 03 00 28 00 01 05 e0', reply: '03 03 02 00 02 40 45' },
          { request: '03 04 00 40 00 02 71 fd', reply: '03 04 04 00 01 11 70 84 30' },
          { request: '03 01 00 00 00 01 fc 28', reply: '03 01 01 01 91 f0' },
        ],
        value: { flow_temperature: 45.5, setpoint: 21.5, mode: 'hot_water', heat_energy: 70_000, pump: true },
      },
    ],
    read_flow_temperature: [
      {
        request: '03 03 00 10 00 01 84 2d',
        reply: '03 03 02 01 c7 81 86',
        value: { flow_temperature: 45.5 },
      },
      { reply: '03 03 02 ff f1 41 f0', value: { flow_temperature: -1.5 } },
      { reply: '03 83 02 61 31', refused: 2 },
      // Another unit's reply, and a damaged one.
      { reply: '02 03 02 01 c7 bc 46', ignored: true },
      { reply: '03 03 02 01 c7 81 87', ignored: true },
    ],
    read_setpoint: [
      { request: '03 03 00 20 00 01 84 22', reply: '03 03 02 00 d7 81 da', value: { setpoint: 21.5 } },
    ],
    set_setpoint: [
      {
        arguments: { value: 21.5 },
        request: '03 06 00 20 00 d7 c9 bc',
        reply: '03 06 00 20 00 d7 c9 bc',
        value: { setpoint: 21.5 },
      },
      // The acknowledgement of another value.
      { arguments: { value: 21.5 }, reply: '03 06 00 20 00 d8 89 b8', ignored: true },
      { arguments: { value: 21.5 }, reply: '03 86 03 a3 a1', refused: 3 },
      { arguments: { value: 21.5 }, reply: '03 86 06 63 a2', busy: true },
    ],
    read_mode: [
      { request: '03 03 00 28 00 01 05 e0', reply: '03 03 02 00 02 40 45', value: { mode: 'hot_water' } },
      // A number without a name.
      { reply: '03 03 02 00 07 80 46', value: { mode: null } },
    ],
    set_mode: [
      {
        arguments: { value: 'heating' },
        request: '03 06 00 28 00 01 c9 e0',
        reply: '03 06 00 28 00 01 c9 e0',
        value: { mode: 'heating' },
      },
    ],
    read_heat_energy: [
      {
        request: '03 04 00 40 00 02 71 fd',
        reply: '03 04 04 00 01 11 70 84 30',
        value: { heat_energy: 70_000 },
      },
    ],
    read_pump: [
      { request: '03 01 00 00 00 01 fc 28', reply: '03 01 01 01 91 f0', value: { pump: true } },
      { reply: '03 01 01 00 50 30', value: { pump: false } },
    ],
    set_pump: [
      {
        arguments: { value: true },
        request: '03 05 00 00 ff 00 8d d8',
        reply: '03 05 00 00 ff 00 8d d8',
        value: { pump: true },
      },
    ],
    toggle_pump: [
      { request: '03 05 00 00 55 00 f3 78', reply: '03 05 00 00 55 00 f3 78', value: {} },
      { reply: '03 85 04 e2 93', refused: 4 },
    ],
  },
})
