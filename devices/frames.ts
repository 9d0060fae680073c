/**
 * Any device of binary frames, by requests and replies in hex in the configuration. What the frames have in common
 * is the framing; what one of them says is the template of a tool.
 */
import {
  type ByteToolSpec,
  byteExchange,
  byteFraming,
  byteReturns,
  byteSimulator,
  byteToolFaults,
  byteTools,
  type DescriptionSpec,
  defineDevice,
  framingFaults,
  NAME_PATTERN,
  type OptionFault,
  type ReadingSpec,
  Type,
} from '#device'

const TOOLS_MAX = 128
const LENGTH_MAX = 1024
const HEX = '^[0-9a-fA-F]{2}( ?[0-9a-fA-F]{2})*$'

const Name = Type.String({ pattern: NAME_PATTERN, maxLength: 40 })
const ParameterName = Type.String({ pattern: '^[a-z][a-zA-Z0-9_]*$', maxLength: 40 })
const Bytes = Type.String({ pattern: HEX, maxLength: 48, description: 'bytes in hex' })
const Template = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'bytes in hex, ".." for any byte, {name:uint16be} for a number, {checksum}',
})
const Place = Type.Integer({ minimum: 0, maximum: LENGTH_MAX })
const closed = { additionalProperties: false }
const closedMap = { ...closed, propertyNames: { maxLength: 40 } }

const Framing = Type.Object(
  {
    start: Type.Optional(Bytes),
    length: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LENGTH_MAX, description: 'bytes of every frame, all counted' }),
    ),
    lengthAt: Type.Optional(Place),
    lengthFormat: Type.Optional(Type.Enum(['uint8', 'uint16be', 'uint16le'])),
    lengthPlus: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LENGTH_MAX,
        description: 'bytes that the length in the frame leaves out',
      }),
    ),
    end: Type.Optional(Bytes),
    idleMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    lengthMax: Type.Optional(Type.Integer({ minimum: 1, maximum: LENGTH_MAX })),
    checksum: Type.Optional(
      Type.Object(
        {
          kind: Type.Enum(['twos-complement-8', 'sum-8', 'xor-8', 'crc-16-modbus']),
          from: Type.Optional(Place),
          to: Type.Optional(Type.Integer({ minimum: 0, description: 'the first byte no longer summed' })),
          at: Type.Optional(Place),
        },
        closed,
      ),
    ),
  },
  closed,
)

const Parameter = Type.Object(
  {
    type: Type.Enum(['integer', 'number', 'boolean']),
    description: Type.Optional(Type.String()),
    enum: Type.Optional(Type.Array(Type.Number(), { minItems: 1 })),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
  },
  closed,
)

const Claim = Type.Object(
  { resource: Type.String({ minLength: 1 }), mode: Type.Enum(['shared', 'exclusive']) },
  closed,
)

const Tool = Type.Object(
  {
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    request: Template,
    parameters: Type.Optional(Type.Record(ParameterName, Parameter, closedMap)),
    reply: Template,
    refuse: Type.Optional(Template),
    readBack: Type.Optional(
      Type.Object(
        {
          tool: Type.String(),
          expect: Type.Record(ParameterName, Type.Union([Type.Number(), Type.String()]), closedMap),
        },
        closed,
      ),
    ),
    dangerous: Type.Optional(Type.Boolean()),
    because: Type.Optional(Type.String()),
    claims: Type.Optional(Type.Array(Claim)),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
    correlates: Type.Optional(Type.Enum(['request', 'shape', 'none'])),
    effect: Type.Enum(['read', 'set', 'act']),
    serial: Type.Optional(Type.Boolean()),
    parallelSafe: Type.Optional(Type.Boolean()),
  },
  closed,
)

const Options = Type.Object({
  framing: Framing,
  tools: Type.Record(Name, Tool, { ...closedMap, minProperties: 1, maxProperties: TOOLS_MAX }),
})

type Given = Type.Static<typeof Options>

/** Templates are held against the framing only where that is sound itself. */
function faults({ framing, tools }: Given): OptionFault[] {
  const ofFraming = [...framingFaults(framing)]
  return ofFraming.length > 0 ? ofFraming : [...byteToolFaults(tools, framing)]
}

/** What a tool without parameters reads can be asked again and again. */
function isPlainRead({ effect, parameters = {} }: ByteToolSpec): boolean {
  return effect === 'read' && Object.keys(parameters).length === 0
}

function readingsOf({ framing, tools }: Given): Record<string, ReadingSpec> {
  const fields = Object.values(tools)
    .filter(isPlainRead)
    .flatMap((tool) => Object.keys(byteReturns(tool, framing)))
  return Object.fromEntries(fields.map((field) => [field, {}]))
}

/** Only what declares that nothing depends on it is asked without anybody asking for it. */
function pollOf({ framing, tools }: Given) {
  const polled = Object.entries(tools).filter(
    ([, tool]) => isPlainRead(tool) && tool.parallelSafe && !tool.serial,
  )
  const [first] = polled
  if (!first) return undefined
  const parts = polled.map(([, tool]) => byteExchange(tool, framing)({}))
  return { every: '60s', tool: first[0], parts }
}

function describe(options: Given): DescriptionSpec {
  const { framing, tools } = options
  const poll = pollOf(options)
  return {
    framing: byteFraming(framing),
    line: { timeoutMs: 1000, gapMs: 50 },
    readings: readingsOf(options),
    tools: byteTools(tools, framing),
    ...(poll && { poll }),
    simulator: (world) => byteSimulator(tools, framing, world),
  }
}

export default defineDevice({
  type: 'frames',
  title: 'Any device of binary frames',
  description: 'Requests and replies in hex in the configuration; each pair is a tool.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  toolsConfigured: true,
  options: Options,
  faults,
  describe,
  // The CO2 sensor Winsen MH-Z19B, out of its manual.
  sample: {
    framing: { start: 'ff', length: 9, checksum: { kind: 'twos-complement-8', from: 1, to: 8 } },
    tools: {
      read_co2: {
        request: 'ff 01 86 00 00 00 00 00 {checksum}',
        reply: 'ff 86 {co2:uint16be} .. .. .. .. {checksum}',
        effect: 'read',
        parallelSafe: true,
      },
      set_range: {
        request: 'ff 01 99 00 00 00 {ppm:uint16be} {checksum}',
        parameters: { ppm: { type: 'integer', enum: [2000, 5000] } },
        reply: 'none',
        effect: 'set',
      },
      calibrate_zero: {
        request: 'ff 01 87 00 00 00 00 00 {checksum}',
        reply: 'none',
        dangerous: true,
        effect: 'act',
      },
    },
  },
  sampleExamples: {
    read_co2: [
      { request: 'ff 01 86 00 00 00 00 00 79', reply: 'ff 86 02 20 00 00 00 00 58', value: { co2: 544 } },
      // capture: PyPMS
      { reply: 'ff 86 02 7c 42 00 00 00 ba', value: { co2: 636 } },
      { reply: 'ff 87 01 f4 00 00 00 00 84', ignored: true },
      { reply: 'ff 86 01 f4 00 00 00 00 84', ignored: true },
    ],
    set_range: [{ arguments: { ppm: 2000 }, request: 'ff 01 99 00 00 00 07 d0 8f' }],
    calibrate_zero: [{ request: 'ff 01 87 00 00 00 00 00 78' }],
  },
})
