/**
 * Eastron energy meters SDM72, SDM120, SDM230 and SDM630: numbers of two input registers, read in blocks. What the
 * meters have between their numbers they answer with zeros, so a block may run over it.
 * Source: Eastron "SDM120 Modbus Protocol V2.4", "SDM230Modbus Protocol V1.4" and their like; SDM72 is the SDM72D-M-2.
 */
import {
  command,
  crc16modbus,
  type DeviceSimulator,
  decodeRegisters,
  defineDevice,
  type Exchange,
  encodeRegisters,
  mapped,
  modbusRtu,
  modbusSimulator,
  nullable,
  type ReadingSpec,
  readRegisters,
  type SimulatedWorld,
  Type,
} from '#device'

type ModelName = 'sdm72' | 'sdm120' | 'sdm230' | 'sdm630'

interface Block {
  readonly address: number
  readonly count: number
}

interface Model {
  readonly phases: 1 | 3
  /** As the makers deliver it. */
  readonly baudRate: number
  readonly gapMs: number
  /** What the meter answers to at most in one request; more is an exception. */
  readonly registersMax: number
  /** Everything there is, in the fewest requests that the limit and the gaps make sensible. */
  readonly blocks: readonly Block[]
  /** Beyond it a current is nonsense; an SDM630 may sit behind current transformers. */
  readonly currentMax: number
}

const SINGLE_PHASE = {
  phases: 1,
  baudRate: 2400,
  gapMs: 100,
  registersMax: 80,
  blocks: [
    { address: 0x00, count: 0x20 },
    { address: 0x46, count: 6 },
  ],
  currentMax: 120,
} as const

const MODELS: Readonly<Record<ModelName, Model>> = {
  sdm120: SINGLE_PHASE,
  sdm230: SINGLE_PHASE,
  sdm630: {
    phases: 3,
    baudRate: 9600,
    gapMs: 50,
    registersMax: 80,
    blocks: [{ address: 0x00, count: 0x4c }],
    currentMax: 10_000,
  },
  sdm72: {
    phases: 3,
    baudRate: 9600,
    gapMs: 50,
    // 30 numbers
    registersMax: 60,
    blocks: [
      { address: 0x00, count: 0x24 },
      { address: 0x34, count: 0x18 },
    ],
    currentMax: 120,
  },
}

const ENERGIES: Block = { address: 0x48, count: 4 }
const ENERGY_MAX_KWH = 10_000_000
const VOLTAGE_MAX = 300

const FLOAT = { format: 'float32' } as const
const MEASURED = { stateClass: 'measurement' } as const

/** One number of the meter; `phases`: the register of phase 1, with those of phases 2 and 3 behind it. */
interface Quantity {
  readonly name: string
  readonly phases?: number
  /** Of a three-phase meter: the whole of it. */
  readonly total?: number
  readonly reading: ReadingSpec
}

function quantities({ currentMax }: Model): readonly Quantity[] {
  const powerMax = currentMax * VOLTAGE_MAX
  return [
    {
      name: 'voltage',
      phases: 0x00,
      reading: { unit: 'V', deviceClass: 'voltage', min: 0, max: VOLTAGE_MAX, precision: 1, ...MEASURED },
    },
    {
      name: 'current',
      phases: 0x06,
      reading: {
        unit: 'A',
        deviceClass: 'current',
        min: -currentMax,
        max: currentMax,
        precision: 3,
        ...MEASURED,
      },
    },
    { name: 'power', phases: 0x0c, total: 0x34, reading: powerReading('W', 'power', powerMax) },
    {
      name: 'apparent_power',
      phases: 0x12,
      total: 0x38,
      reading: powerReading('VA', 'apparent_power', powerMax),
    },
    {
      name: 'reactive_power',
      phases: 0x18,
      total: 0x3c,
      reading: powerReading('var', 'reactive_power', powerMax),
    },
    {
      name: 'power_factor',
      phases: 0x1e,
      total: 0x3e,
      reading: { unit: null, deviceClass: 'power_factor', min: -1, max: 1, precision: 3, ...MEASURED },
    },
    {
      name: 'frequency',
      total: 0x46,
      reading: { unit: 'Hz', deviceClass: 'frequency', min: 45, max: 65, precision: 2, ...MEASURED },
    },
    { name: 'import_energy', total: 0x48, reading: ENERGY },
    { name: 'export_energy', total: 0x4a, reading: ENERGY },
  ]
}

const ENERGY: ReadingSpec = {
  unit: 'kWh',
  deviceClass: 'energy',
  stateClass: 'total_increasing',
  min: 0,
  max: ENERGY_MAX_KWH,
  precision: 3,
}

/** Of all phases together, or of one. */
function powerReading(unit: string, deviceClass: string, phaseMax: number): ReadingSpec {
  return { unit, deviceClass, min: -3 * phaseMax, max: 3 * phaseMax, precision: 1, ...MEASURED }
}

interface Entry {
  readonly name: string
  readonly register: number
  readonly reading: ReadingSpec
}

/** What the model measures, under the names of its readings. */
function entriesOf(model: Model): readonly Entry[] {
  return quantities(model).flatMap(({ name, phases, total, reading }) => {
    if (model.phases === 1) return [{ name, register: phases ?? total ?? 0, reading }]
    const ofPhases = [1, 2, 3].map((phase) => ({
      name: `${name}_l${phase}`,
      register: (phases ?? 0) + 2 * (phase - 1),
      reading,
    }))
    return [
      ...(phases === undefined ? [] : ofPhases),
      ...(total === undefined ? [] : [{ name, register: total, reading }]),
    ]
  })
}

type Fields = Readonly<Record<string, number | null>>

/** The entries that lie in the block. What is not a number is null. */
function readBlock(unit: number, entries: readonly Entry[], { address, count }: Block): Exchange<Fields> {
  return mapped(readRegisters({ unit, kind: 'input', address, count }), (words) => {
    const fields: Record<string, number | null> = {}
    for (const { name, register, reading } of within(entries, { address, count })) {
      const meaning = { ...FLOAT, precision: reading.precision ?? 0 }
      const number = decodeRegisters(meaning, words.slice(register - address, register - address + 2))
      fields[name] = typeof number === 'number' ? number : null
    }
    return fields
  })
}

function within(entries: readonly Entry[], { address, count }: Block): readonly Entry[] {
  return entries.filter(({ register }) => register >= address && register + 2 <= address + count)
}

function returnsOf(entries: readonly Entry[]) {
  return Type.Object(Object.fromEntries(entries.map(({ name }) => [name, nullable(Type.Number())])))
}

function toolsOf(unit: number, model: Model) {
  const entries = entriesOf(model)
  const exchanges = model.blocks.map((block) => readBlock(unit, entries, block))
  const phases =
    model.phases === 1
      ? 'Voltage in V, current in A, active, apparent and reactive power in W, VA and var, power factor (-1 to 1)'
      : 'For each phase (_l1, _l2, _l3) voltage in V and current in A; for each phase and in total active, apparent ' +
        'and reactive power in W, VA and var, and power factor (-1 to 1)'
  return {
    read_measurements: command({
      title: 'Read measurements',
      description:
        `${phases}, the frequency in Hz, and the energy counters in kWh. ` +
        'Power is negative while energy is exported. Null: the meter has no value.',
      returns: returnsOf(entries),
      async run(session) {
        const fields: Record<string, number | null> = {}
        for (const exchange of exchanges) Object.assign(fields, await session.exchange(exchange))
        return fields
      },
      shapes: exchanges.flatMap(({ reply }) => reply?.shapes ?? []),
      correlates: 'shape',
      effect: 'read',
      parallelSafe: true,
    }),
    read_energy: command({
      title: 'Read energy',
      description: 'The counters of imported and exported active energy in kWh, which only ever grow.',
      returns: returnsOf(within(entries, ENERGIES)),
      exchange: () => readBlock(unit, entries, ENERGIES),
      correlates: 'shape',
      effect: 'read',
      parallelSafe: true,
    }),
  }
}

const HOUR_MS = 3_600_000
const SWING_MS = 600_000
const ILLEGAL_ADDRESS = 2
/** Where the numbers of the first block of registers end. */
const REGISTERS_END = 0x50

/** A house that draws a little more, and a little less. */
function simulatedValue(name: string, world: SimulatedWorld): number {
  const watts = 450 + 250 * Math.sin((2 * Math.PI * world.now()) / SWING_MS)
  const [, quantity = name, phase] = /^(.*)_(l[123])$/.exec(name) ?? []
  const share = phase === undefined ? 1 : 1 / 3
  switch (quantity) {
    case 'voltage':
      return 230 + 2 * Math.sin(world.now() / 45_000) + (phase === 'l2' ? 0.4 : 0)
    case 'current':
      return (share * watts) / 0.96 / 230
    case 'power':
      return share * watts
    case 'apparent_power':
      return (share * watts) / 0.96
    case 'reactive_power':
      return share * watts * Math.sqrt(1 / 0.96 ** 2 - 1)
    case 'power_factor':
      return 0.96
    case 'frequency':
      return 50 + 0.02 * Math.sin(world.now() / 7000)
    case 'import_energy':
      return 1234.5 + (0.45 * world.now()) / HOUR_MS
    default:
      return 12.25
  }
}

/** The bank answers as the standard has it; the meter's own limit comes first. */
function simulator(unit: number, model: Model, world: SimulatedWorld): DeviceSimulator {
  const entries = entriesOf(model)
  const bank = modbusSimulator(world, {
    unit,
    readRegister(kind, address) {
      if (kind !== 'input' || address >= REGISTERS_END) return undefined
      const entry = entries.find(({ register }) => register === (address & ~1))
      const encoded = encodeRegisters(FLOAT, entry ? simulatedValue(entry.name, world) : 0)
      return 'words' in encoded ? encoded.words[address & 1] : 0
    },
    readBit: () => undefined,
    writeRegisters: () => false,
    writeBits: () => false,
  })
  return {
    framing: bank.framing,
    receive(frame) {
      const isRead = frame[0] === unit && frame[1] === 0x04
      const count = (frame[4] ?? 0) * 256 + (frame[5] ?? 0)
      if (!isRead || count <= model.registersMax) return bank.receive(frame)
      const refusal = crc16modbus({ from: 0 }).seal([unit, 0x84, ILLEGAL_ADDRESS, 0, 0])
      return { bytes: refusal, afterMs: 20 }
    },
  }
}

export default defineDevice({
  type: 'eastron-sdm',
  title: 'Eastron SDM energy meter',
  description: 'Energy meters for the DIN rail: SDM120 and SDM230 for one phase, SDM72 and SDM630 for three.',
  uart: { dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  addressed: true,
  options: Type.Object({
    address: Type.Integer({ minimum: 1, maximum: 247 }),
    model: Type.Enum(['sdm72', 'sdm120', 'sdm230', 'sdm630']),
  }),
  describe({ address, model: name }) {
    const model = MODELS[name]
    const entries = entriesOf(model)
    return {
      framing: modbusRtu(),
      uart: { baudRate: model.baudRate },
      // The longest reply takes 0.3 s at 2400 baud; the meters answer within 0.3 s.
      line: { timeoutMs: 1000, gapMs: model.gapMs },
      readings: Object.fromEntries(entries.map(({ name, reading }) => [name, reading])),
      tools: toolsOf(address, model),
      poll: {
        every: '10s',
        tool: 'read_measurements',
        parts: model.blocks.map((block) => readBlock(address, entries, block)),
      },
      simulator: (world) => simulator(address, model, world),
    }
  },
  sample: { address: 1, model: 'sdm120' },
  // Constructed from the documented layout, with the value of the manuals' example, 230.2 V.
  sampleExamples: {
    read_measurements: [
      {
        exchanges: [
          {
            request: '01 04 00 00 00 20 f1 d2',
            reply:
              '01 04 40 43 66 33 33 00 00 00 00 00 00 00 00 40 0a e1 48 00 00 00 00 00 00 00 00 43 f0 33 33 00 ' +
              '00 00 00 00 00 00 00 43 fa 0c cd 00 00 00 00 00 00 00 00 c3 0b 00 00 00 00 00 00 00 00 00 00 3f ' +
              '76 04 19 af 4b',
          },
          {
            request: '01 04 00 46 00 06 91 dd',
            reply: '01 04 0c 42 47 eb 85 44 9a 52 25 41 44 00 00 22 49',
          },
        ],
        value: {
          voltage: 230.2,
          current: 2.17,
          power: 480.4,
          apparent_power: 500.1,
          reactive_power: -139,
          power_factor: 0.961,
          frequency: 49.98,
          import_energy: 1234.567,
          export_energy: 12.25,
        },
      },
    ],
    read_energy: [
      {
        request: '01 04 00 48 00 04 71 df',
        reply: '01 04 08 44 9a 52 25 41 44 00 00 0f 9b',
        value: { import_energy: 1234.567, export_energy: 12.25 },
      },
      // Not a number, with a checksum that is right.
      {
        reply: '01 04 08 7f c0 00 00 41 44 00 00 f7 4c',
        value: { import_energy: null, export_energy: 12.25 },
      },
      { reply: '01 84 02 c2 c1', refused: 2 },
      // Another meter's reply, a damaged one, and the request itself off a half-duplex adapter.
      { reply: '02 04 08 44 9a 52 25 41 44 00 00 00 df', ignored: true },
      { reply: '01 04 08 44 9a 52 26 41 44 00 00 0f 9b', ignored: true },
      { reply: '01 04 00 48 00 04 71 df', ignored: true },
    ],
  },
})
