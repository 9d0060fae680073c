/** Ports, devices, tools and readiness as JSON Schemas. */
import { Type } from 'typebox'
import { anyObject, choice, claim, count, flag, nullable, strict, text, time } from './parts.ts'

export const TRACE_LAST_MAX = 100_000

const LAST = 'At most so many entries. Left out: all that are kept'
export const TraceQuery = Type.Object({ last: Type.Optional(Type.String({ description: LAST })) }, strict)
/** As a client has it: a number, of which the server reads the digits. */
export const TraceQueryDocumented = Type.Object({
  last: Type.Optional(Type.Integer({ minimum: 1, maximum: TRACE_LAST_MAX, description: LAST })),
})
export const ToolsQuery = Type.Object(
  { format: Type.Optional(Type.String({ description: "A provider's format; none is available yet" })) },
  strict,
)
export const StreamQuery = Type.Object(
  {
    lastEventId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'The id of the last event received, for clients that cannot send Last-Event-ID',
      }),
    ),
  },
  strict,
)

const counts = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description })

const READINESS = {
  version: text('The version of the gateway'),
  ports: counts('Ports by state'),
  devices: counts('Devices by availability'),
}
export const Health = Type.Object(
  { alive: Type.Literal(true, { description: 'It answers' }), ...READINESS },
  { title: 'Health', description: 'The gateway lives' },
)
export const Readiness = Type.Object(
  { ready: flag('It takes calls'), ...READINESS },
  { title: 'Readiness', description: 'Whether the gateway takes calls' },
)

export const PORT_STATES = [
  'closed',
  'opening',
  'open',
  'suspect',
  'busy',
  'denied',
  'absent',
  'lost',
  'stale',
] as const

const PortState = choice(PORT_STATES, {
  title: 'PortState',
  description:
    'closed also while it is released; suspect: a late reply may still come; busy: another program has it; ' +
    'denied: no permission; absent: the path does not exist; lost: it went away or failed; stale: the path leads ' +
    'to another device now',
})

const Counters = Type.Object(
  {
    opens: count('How often it was opened'),
    losses: count('How often it was lost while it was open'),
    bytesSent: count('Bytes sent'),
    bytesReceived: count('Bytes received'),
    frames: count('Whole frames received'),
    transactions: count('Requests and what closed them'),
    timeouts: count('Transactions without a reply in time'),
    foreignFrames: count('Whole frames that no request was waiting for'),
    lateReplies: count('Replies that came after their caller was told timeout'),
    events: count('Frames that a device sent of its own accord'),
    frameErrors: Type.Object(
      {
        checksum: count('Frames with a wrong checksum'),
        form: count('Frames of a wrong form'),
        overflow: count('Frames longer than a frame may be'),
        junk: count('Pieces between frames that belong to none'),
      },
      { title: 'FrameErrors', description: 'What came and was no frame' },
    ),
  },
  { title: 'PortCounters', description: 'What went over a port since the start' },
)

const PortSettings = Type.Object(
  {
    baudRate: Type.Integer({ minimum: 1, description: 'Bits per second' }),
    dataBits: Type.Integer({ minimum: 5, maximum: 8, description: 'Data bits of a character' }),
    stopBits: Type.Number({ description: '1, 1.5 or 2' }),
    parity: choice(['none', 'even', 'odd', 'mark', 'space'], { description: 'The parity bit' }),
    rtscts: flag('Hardware flow control'),
    hupcl: flag('The control lines drop when the port is closed'),
  },
  { title: 'PortSettings', description: 'The electrical side of the line' },
)

const PortHolder = Type.Object(
  {
    pid: nullable(Type.Integer(), 'Null: it could not be seen'),
    name: nullable(Type.String(), 'The name of the program. Null: it could not be seen'),
    hint: Type.Optional(text('What to do about it')),
  },
  { title: 'PortHolder', description: 'A program that has the port open' },
)

export const Port = Type.Object(
  {
    id: text('The id of the port in the configuration'),
    path: text('The path in the configuration, or the id of a simulated port'),
    resolvedPath: nullable(Type.String(), 'The kernel device, while the port is open'),
    state: PortState,
    since: time('Since when the state is what it is'),
    settings: PortSettings,
    counters: Counters,
    holder: nullable(PortHolder, 'Who else has the port open, as far as can be seen'),
    lastError: nullable(Type.String(), 'What last kept it from being open'),
    queue: Type.Object(
      { waiting: count('Calls that wait for the port'), running: count('Calls that use it') },
      { title: 'PortQueue', description: 'The calls of the port' },
    ),
  },
  { title: 'Port', description: 'A serial line' },
)
export const PortList = Type.Object(
  { ports: Type.Array(Port, { description: 'All of them' }) },
  { title: 'PortList', description: 'The ports' },
)

export const TraceEntry = Type.Object(
  {
    seq: count('Counts up by one with every entry of the port'),
    at: time('When the bytes were sent or came'),
    direction: choice(['tx', 'rx'], { description: 'tx: sent by the gateway' }),
    hex: text('The bytes as pairs of hexadecimal digits'),
    text: text('Printable ASCII; anything else is a dot'),
    callId: Type.Optional(text('The call that they belong to')),
  },
  { title: 'TraceEntry', description: 'Bytes that went over a port' },
)
export const Trace = Type.Object(
  { entries: Type.Array(TraceEntry, { description: 'Oldest first' }) },
  { title: 'Trace', description: 'What went over a port' },
)

export const AVAILABILITIES = ['online', 'degraded', 'offline', 'wrong_device', 'unknown'] as const

const Availability = choice(AVAILABILITIES, {
  title: 'Availability',
  description:
    'unknown: never asked; wrong_device: another device than the configured one answers. For degraded and offline ' +
    'there is a reason',
})

const Reading = Type.Object(
  {
    value: Type.Unknown({ description: 'The value, in its unit' }),
    unit: nullable(Type.String(), 'Null: it has none'),
    measuredAt: time('When it was measured'),
    ageMs: Type.Number({ description: 'How long ago that was' }),
    stale: flag('Older than three times the polling interval, or the device is offline'),
  },
  { title: 'Reading', description: 'A value with the time it was measured' },
)
export const Device = Type.Object(
  {
    id: text('The id of the device in the configuration'),
    name: text('What people call it'),
    area: nullable(Type.String(), 'Where it is, if the configuration says so'),
    type: text('Its device type'),
    port: text('The id of its port'),
    availability: Availability,
    reason: nullable(Type.String(), 'Why it is not online'),
    since: time('Since when the availability is what it is'),
    readings: Type.Record(Type.String(), Reading, { description: 'The last readings by their names' }),
  },
  { title: 'Device', description: 'A device on a port' },
)
export const DeviceList = Type.Object(
  { devices: Type.Array(Device, { description: 'All of them' }) },
  { title: 'DeviceList', description: 'The devices' },
)

export const Effect = choice(['read', 'set', 'act'], {
  title: 'Effect',
  description: 'read changes nothing, set is absolute and may be repeated, act is never repeated',
})

export const Tool = Type.Object(
  {
    name: text('The name by which it is called'),
    device: nullable(Type.String(), 'The id of its device. Null: it belongs to none'),
    command: nullable(Type.String(), 'Its name behind that of the device. Null: it belongs to none'),
    title: text('A short name for people'),
    description: text('What it does, for a person or a model'),
    parameters: anyObject({ description: 'JSON Schema of the arguments' }),
    returns: anyObject({ description: 'JSON Schema of the value' }),
    effect: Effect,
    parallelSafe: flag('Calls of it may overlap with others'),
    serial: flag('It was declared to run alone'),
    declared: choice(['serial', 'parallelSafe', 'conditional', 'undeclared'], {
      description: 'What its author said. conditional: it depends on the arguments; undeclared runs serially',
    }),
    because: Type.Optional(text('Why it is declared serial')),
    dangerous: flag('It needs a confirmation'),
    claims: Type.Array(claim(), { description: 'What every call of it needs' }),
    timeoutMs: nullable(Type.Number(), 'From the first byte sent to the reply. Null: it has none of its own'),
    available: flag('A call now would not answer device_unavailable'),
  },
  { title: 'Tool', description: 'What may be called' },
)
export const ToolList = Type.Object(
  { tools: Type.Array(Tool, { description: 'All of them' }) },
  { title: 'ToolList', description: 'The tools' },
)
