/** Ports, devices, tools and readiness as JSON Schemas. */
import { Type } from 'typebox'
import { anyObject, claim, nullable, strict, time } from './parts.ts'

export const TraceQuery = Type.Object(
  {
    last: Type.Optional(Type.String({ description: 'At most so many entries. Left out: all that are kept' })),
  },
  strict,
)
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

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) })
const counts = (description: string) => Type.Record(Type.String(), count(), { description })

const READINESS = {
  version: Type.String(),
  ports: counts('Ports by state'),
  devices: counts('Devices by availability'),
}
export const Health = Type.Object({ alive: Type.Literal(true), ...READINESS }, { title: 'Health' })
export const Readiness = Type.Object({ ready: Type.Boolean(), ...READINESS }, { title: 'Readiness' })

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

const Counters = Type.Object(
  {
    opens: count(),
    losses: count(),
    bytesSent: count(),
    bytesReceived: count(),
    frames: count('Whole frames received'),
    transactions: count(),
    timeouts: count(),
    foreignFrames: count('Whole frames that no request was waiting for'),
    lateReplies: count('Replies that came after their caller was told timeout'),
    events: count('Frames that a device sent of its own accord'),
    frameErrors: Type.Object({ checksum: count(), form: count(), overflow: count(), junk: count() }),
  },
  { title: 'PortCounters' },
)

export const Port = Type.Object(
  {
    id: Type.String(),
    path: Type.String(),
    resolvedPath: nullable(Type.String({ description: 'The kernel device, while the port is open' })),
    state: Type.Enum([...PORT_STATES]),
    since: time(),
    settings: Type.Object({
      baudRate: Type.Integer(),
      dataBits: Type.Integer(),
      stopBits: Type.Number(),
      parity: Type.String(),
      rtscts: Type.Boolean(),
      hupcl: Type.Boolean(),
    }),
    counters: Counters,
    holder: nullable(
      Type.Object(
        {
          pid: nullable(Type.Integer()),
          name: nullable(Type.String()),
          hint: Type.Optional(Type.String()),
        },
        { description: 'Who else has the port open, as far as can be seen' },
      ),
    ),
    lastError: nullable(Type.String()),
    queue: Type.Object({ waiting: count(), running: count() }),
  },
  { title: 'Port' },
)
export const PortList = Type.Object({ ports: Type.Array(Port) }, { title: 'PortList' })

export const TraceEntry = Type.Object(
  {
    seq: Type.Integer(),
    at: time(),
    direction: Type.Enum(['tx', 'rx']),
    hex: Type.String(),
    text: Type.String({ description: 'Printable ASCII; anything else is a dot' }),
    callId: Type.Optional(Type.String()),
  },
  { title: 'TraceEntry' },
)
export const Trace = Type.Object({ entries: Type.Array(TraceEntry) }, { title: 'Trace' })

export const AVAILABILITIES = ['online', 'degraded', 'offline', 'wrong_device', 'unknown'] as const

const Reading = Type.Object(
  {
    value: Type.Unknown(),
    unit: nullable(Type.String()),
    measuredAt: time(),
    ageMs: Type.Number(),
    stale: Type.Boolean(),
  },
  { title: 'Reading' },
)
export const Device = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    area: nullable(Type.String()),
    type: Type.String(),
    port: Type.String(),
    availability: Type.Enum([...AVAILABILITIES]),
    reason: nullable(Type.String()),
    since: time(),
    readings: Type.Record(Type.String(), Reading),
  },
  { title: 'Device' },
)
export const DeviceList = Type.Object({ devices: Type.Array(Device) }, { title: 'DeviceList' })

export const Effect = Type.Enum(['read', 'set', 'act'], {
  description: 'read changes nothing, set is absolute and may be repeated, act is never repeated',
})

export const Tool = Type.Object(
  {
    name: Type.String(),
    device: nullable(Type.String()),
    command: nullable(Type.String()),
    title: Type.String(),
    description: Type.String(),
    parameters: anyObject({ description: 'JSON Schema of the arguments' }),
    returns: anyObject({ description: 'JSON Schema of the value' }),
    effect: Effect,
    parallelSafe: Type.Boolean(),
    serial: Type.Boolean(),
    declared: Type.Enum(['serial', 'parallelSafe', 'conditional', 'undeclared']),
    because: Type.Optional(Type.String()),
    dangerous: Type.Boolean(),
    claims: Type.Array(claim()),
    timeoutMs: nullable(Type.Number()),
    available: Type.Boolean({ description: 'A call now would not answer device_unavailable' }),
  },
  { title: 'Tool' },
)
export const ToolList = Type.Object({ tools: Type.Array(Tool) }, { title: 'ToolList' })
