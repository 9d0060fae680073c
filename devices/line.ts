/**
 * Any device that is spoken to in lines of text, by commands and patterns in the configuration. A reply is known by
 * its pattern alone; so whatever makes a pattern ambiguous or slow is a fault of the configuration.
 */
import {
  type DescriptionSpec,
  defineDevice,
  lines,
  NAME_PATTERN,
  type OptionFault,
  patternFaults,
  probeFaults,
  type ReadingSpec,
  returnsOf,
  type TextToolSpec,
  Type,
  textExchange,
  textOf,
  textQuery,
  textSimulator,
  textTools,
  toolFaults,
  usablePattern,
} from '#device'

const TOOLS_MAX = 128
const Name = Type.String({ pattern: NAME_PATTERN, maxLength: 40 })
const ParameterName = Type.String({ pattern: '^[a-z][a-zA-Z0-9_]*$', maxLength: 40 })
const Pattern = Type.String({ minLength: 1, maxLength: 512, description: 'a regular expression' })
const CommandText = Type.String({ maxLength: 512, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })
const FieldType = Type.Enum(['string', 'number', 'integer', 'boolean'])
const closed = { additionalProperties: false }
const closedMap = { ...closed, propertyNames: { maxLength: 40 } }

const Parameter = Type.Object(
  {
    type: FieldType,
    description: Type.Optional(Type.String()),
    enum: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number()]), { minItems: 1 })),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    minLength: Type.Optional(Type.Integer({ minimum: 0 })),
    maxLength: Type.Optional(Type.Integer({ minimum: 0, maximum: 512 })),
  },
  closed,
)

const Tool = Type.Object(
  {
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    command: CommandText,
    parameters: Type.Optional(Type.Record(ParameterName, Parameter, closedMap)),
    reply: Pattern,
    refuse: Type.Optional(Pattern),
    returns: Type.Optional(Type.Record(ParameterName, FieldType, closedMap)),
    readBack: Type.Optional(
      Type.Object(
        {
          tool: Type.String(),
          expect: Type.Record(
            ParameterName,
            Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
            closedMap,
          ),
        },
        closed,
      ),
    ),
    dangerous: Type.Optional(Type.Boolean()),
    because: Type.Optional(Type.String()),
    claims: Type.Optional(
      Type.Array(
        Type.Object(
          { resource: Type.String({ minLength: 1 }), mode: Type.Enum(['shared', 'exclusive']) },
          closed,
        ),
      ),
    ),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
    correlates: Type.Optional(Type.Enum(['request', 'shape', 'none'])),
    effect: Type.Enum(['read', 'set', 'act']),
    serial: Type.Optional(Type.Boolean()),
    parallelSafe: Type.Optional(Type.Boolean()),
  },
  closed,
)

const Options = Type.Object({
  terminator: Type.Optional(Type.Enum(['auto', '\r', '\n', '\r\n'])),
  send: Type.Optional(Type.String({ maxLength: 16, description: 'appended to every command' })),
  prompt: Type.Optional(Type.String({ minLength: 1, maxLength: 16, pattern: '^[^\\r\\n]*$' })),
  boot: Type.Optional(
    Type.Object(
      {
        waitMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
        banner: Type.Optional(Pattern),
        probe: Type.Optional(CommandText),
        probeReply: Type.Optional(Pattern),
      },
      closed,
    ),
  ),
  identity: Type.Optional(Type.Object({ command: CommandText, reply: Pattern }, closed)),
  events: Type.Optional(
    Type.Array(Type.Object({ name: Name, match: Pattern }, closed), { maxItems: TOOLS_MAX }),
  ),
  tools: Type.Record(Name, Tool, { ...closedMap, minProperties: 1, maxProperties: TOOLS_MAX }),
})

type Given = Type.Static<typeof Options>

function* faults(options: Given): Generator<OptionFault> {
  const { boot, identity, events = [], tools } = options
  yield* toolFaults(tools)
  for (const [index, { match }] of events.entries()) yield* patternFaults(`/events/${index}/match`, match)
  if (identity) yield* patternFaults('/identity/reply', identity.reply)
  if (boot?.banner !== undefined) yield* patternFaults('/boot/banner', boot.banner)
  if (boot?.probeReply !== undefined) {
    yield* patternFaults('/boot/probeReply', boot.probeReply)
    yield* probeFaults('/boot/probeReply', boot.probeReply, tools)
  }
  if ((boot?.probe === undefined) !== (boot?.probeReply === undefined)) {
    yield { field: '/boot', message: 'a probe has a command, "probe", and a pattern, "probeReply"' }
  }
}

/** What a tool without parameters reads can be asked again and again. */
function isPlainRead({ effect, parameters = {} }: TextToolSpec): boolean {
  return effect === 'read' && Object.keys(parameters).length === 0
}

function readingsOf(tools: Given['tools']): Record<string, ReadingSpec> {
  const fields = Object.values(tools)
    .filter(isPlainRead)
    .flatMap((tool) => Object.keys(returnsOf(tool)))
  return Object.fromEntries(fields.map((field) => [field, {}]))
}

/** Only what declares that nothing depends on it is asked without anybody asking for it. */
function pollOf(tools: Given['tools'], send: string) {
  const polled = Object.entries(tools).filter(
    ([, tool]) => isPlainRead(tool) && tool.parallelSafe && !tool.serial,
  )
  const [first] = polled
  if (!first) return undefined
  const parts = polled.map(([, tool]) => textExchange(tool, { send, ends: [send] })({}))
  return { every: '60s', tool: first[0], parts }
}

function describe(options: Given): DescriptionSpec {
  const { terminator = 'auto', send = '\r', prompt, boot, identity, events = [], tools } = options
  const poll = pollOf(tools, send)
  const queries = [
    ...(boot?.probe !== undefined && boot.probeReply !== undefined
      ? [{ command: boot.probe, reply: boot.probeReply }]
      : []),
    ...(identity ? [identity] : []),
  ]
  const ending = `${terminator === 'auto' ? '\r\n' : terminator}${prompt ?? ''}`
  return {
    framing: lines({ terminator, ...(prompt === undefined ? {} : { prompt }) }),
    // A prompt comes behind the reply: a longer silence keeps the next command from running into it.
    line: { timeoutMs: 1000, gapMs: prompt === undefined ? 20 : 50 },
    readings: readingsOf(tools),
    tools: textTools(tools, { send, ends: [send] }),
    events: events.map(({ name, match }) => {
      const pattern = usablePattern(match).bind({})
      return { name, match: (frame) => pattern.match(textOf(frame)) }
    }),
    ...(poll && { poll }),
    ...(boot && { boot: bootOf(boot, send) }),
    ...(identity && { identity: { exchange: textQuery(identity.command, identity.reply, send) } }),
    ...(send !== '' && { simulator: (world) => textSimulator({ tools, queries, send, ending }, world) }),
  }
}

function bootOf({ waitMs, banner, probe, probeReply }: NonNullable<Given['boot']>, send: string) {
  const pattern = banner === undefined ? undefined : usablePattern(banner).bind({})
  return {
    waitMs,
    ...(pattern && { banner: (frame: Uint8Array) => pattern.match(textOf(frame)) !== undefined }),
    ...(probe !== undefined && probeReply !== undefined && { probe: textQuery(probe, probeReply, send) }),
  }
}

export default defineDevice({
  type: 'line',
  title: 'Any device of text lines',
  description: 'Commands and patterns in the configuration; each is a tool.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  toolsConfigured: true,
  options: Options,
  faults: (options) => [...faults(options)],
  describe,
  sample: {
    boot: { waitMs: 2000, banner: '^READY$', probe: 'ID?', probeReply: '^AMP' },
    identity: { command: 'ID?', reply: '^AMP' },
    events: [{ name: 'power_changed', match: '^PW(?<power>ON|STANDBY)$' }],
    tools: {
      read_volume: {
        command: 'MV?',
        reply: '^MV(?<volume>[0-9]+)$',
        returns: { volume: 'integer' },
        effect: 'read',
        parallelSafe: true,
      },
      set_volume: {
        command: 'MV{level}',
        parameters: { level: { type: 'integer', minimum: 0, maximum: 98 } },
        reply: '^MV{level}$',
        refuse: '^ERR(?<code>.*)$',
        readBack: { tool: 'read_volume', expect: { volume: '{level}' } },
        effect: 'set',
      },
      power_toggle: { command: 'PT', reply: '^OK$', effect: 'act' },
      beep: { command: 'BEEP', reply: 'none', effect: 'act' },
    },
  },
  sampleExamples: {
    read_volume: [
      { request: { text: 'MV?\r' }, reply: { text: 'MV42\r' }, value: { volume: 42 } },
      { reply: { text: 'MVMAX 98\r' }, ignored: true },
    ],
    set_volume: [
      { arguments: { level: 30 }, request: { text: 'MV30\r' }, reply: { text: 'MV30\r' }, value: {} },
      { arguments: { level: 30 }, reply: { text: 'MV31\r' }, ignored: true },
      { arguments: { level: 30 }, reply: { text: 'ERR2\r' }, refused: '2' },
    ],
    power_toggle: [{ request: { text: 'PT\r' }, reply: { text: 'OK\r\n' }, value: {} }],
    beep: [{ request: { text: 'BEEP\r' } }],
  },
})
