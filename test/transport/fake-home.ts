/** A gateway that only remembers what it was asked. */
import type { DeviceStatus } from '../../src/driver/device-status.ts'
import type { TraceEntry } from '../../src/port/status.ts'
import { EventFeed } from '../../src/tool/event-feed.ts'
import type {
  Administration,
  Calling,
  ConfigurationText,
  Home,
  PortView,
  Principal,
  ReloadReport,
  TypeView,
} from '../../src/tool/home.ts'
import type {
  BatchRequest,
  BatchStatus,
  CallRequest,
  CallResult,
  SendResult,
  StopStatus,
  ToolView,
} from '../../src/tool/shapes.ts'
import { VirtualClock } from '../virtual-clock.ts'

export const READ_TOKEN = 'token-of-read'
export const CONTROL_TOKEN = 'token-of-control'
export const ADMIN_TOKEN = 'token-of-admin'

const PRINCIPALS = new Map<string, Principal>([
  [READ_TOKEN, { id: 't1', name: 'reader', role: 'read' }],
  [CONTROL_TOKEN, { id: 't2', name: 'agent', role: 'control' }],
  [ADMIN_TOKEN, { id: 't3', name: 'owner', role: 'admin' }],
])

export const PORT: PortView = {
  id: 'office_co2',
  path: '/dev/ttyAMA0',
  resolvedPath: '/dev/ttyAMA0',
  state: 'open',
  since: '2026-01-01T00:00:00.000Z',
  settings: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none', rtscts: false, hupcl: false },
  counters: {
    opens: 1,
    losses: 0,
    bytesSent: 9,
    bytesReceived: 9,
    frames: 1,
    transactions: 1,
    timeouts: 0,
    foreignFrames: 0,
    lateReplies: 0,
    events: 0,
    frameErrors: { checksum: 0, form: 0, overflow: 0, junk: 0 },
  },
  holder: null,
  lastError: null,
  queue: { waiting: 0, running: 0 },
}

export const DEVICE: DeviceStatus = {
  id: 'office_co2',
  name: 'Office CO2',
  area: 'Office',
  type: 'mh-z19',
  port: 'office_co2',
  availability: 'online',
  reason: null,
  since: '2026-01-01T00:00:00.000Z',
  readings: {
    co2: { value: 742, unit: 'ppm', measuredAt: '2026-01-01T00:00:00.000Z', ageMs: 120, stale: false },
  },
}

export const READ_CO2: ToolView = {
  name: 'office_co2__read_co2',
  device: 'office_co2',
  command: 'read_co2',
  title: 'Read CO2',
  description: 'CO2 concentration of the room air.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  returns: { type: 'object', properties: { co2: { type: 'integer', unit: 'ppm' } } },
  effect: 'read',
  parallelSafe: true,
  serial: false,
  declared: 'parallelSafe',
  dangerous: false,
  claims: [{ resource: 'port:office_co2', mode: 'exclusive' }],
  timeoutMs: 1000,
  available: true,
}

export const TRACE: readonly TraceEntry[] = [
  { seq: 1, at: '2026-01-01T00:00:00.000Z', direction: 'tx', hex: 'ff 01 86', text: '...', callId: 'c1' },
]

export function okResult(request: CallRequest, value: unknown = { co2: 742 }): CallResult {
  return {
    id: request.id ?? 'c_minted',
    name: request.name,
    status: 'ok',
    outcome: 'executed',
    value,
    measuredAt: '2026-01-01T00:00:00.000Z',
    shared: false,
    attempts: 1,
    timing: { queuedMs: 0.1, runMs: 12.4, wireMs: 11.9 },
  }
}

export const BATCH: BatchStatus = {
  id: 'b_1',
  policy: 'partition',
  partitions: [['c1']],
  executed: 0,
  shared: 0,
  results: [],
  context: {},
  conflicts: [],
  state: 'running',
}

export const NOT_STOPPED: StopStatus = { stopped: false, since: null, by: null, commands: [] }
export const STOPPED: StopStatus = {
  stopped: true,
  since: '2026-01-01T00:00:00.000Z',
  by: 'agent',
  commands: [okResult({ id: 'c_stop', name: 'pump__set_off' }, {})],
}

export const SENT: SendResult = { outcome: 'executed', received: { hex: 'ff 86', text: '..' } }

export const MH_Z19: TypeView = {
  type: 'mh-z19',
  title: 'MH-Z19',
  description: null,
  addressed: false,
  toolsConfigured: false,
  grade: 'gold',
  uart: { baudRate: 9600 },
  options: { type: 'object', properties: {}, additionalProperties: false },
  tools: [
    {
      command: 'read_co2',
      title: 'Read CO2',
      description: 'CO2 of the air.',
      effect: 'read',
      dangerous: false,
    },
  ],
  readings: [{ field: 'co2', unit: 'ppm' }],
}

export const CONFIGURATION: ConfigurationText = {
  text: 'http: {}\n',
  path: '/etc/baudway.yaml',
  version: 'v1',
}

const NO_IDS = { added: [], changed: [], removed: [], untouched: [] }
export const RELOADED: ReloadReport = {
  valid: true,
  faults: [],
  warnings: [
    { message: 'no password', hint: 'give one', pointer: '/mqtt', file: 'a.yaml', line: 3, column: 5 },
  ],
  applied: true,
  ports: { ...NO_IDS, untouched: ['office_co2'] },
  devices: { ...NO_IDS, changed: ['office_co2'] },
  needsRestart: ['/http/port'],
}

export interface FakeHome extends Home {
  /** Everything that was asked to run or to plan, and by whom. */
  readonly asked: { request: unknown; principal: Principal }[]
  readonly tracesAsked: number[]
  /** What `events` tells of. */
  readonly feed: EventFeed
  /** Those who watch the trace of the port. */
  readonly traceWatchers: Set<(entry: TraceEntry) => void>
}

type Asked = FakeHome['asked']

export function fakeHome(parts: Partial<Home> = {}): FakeHome {
  const asked: Asked = []
  const tracesAsked: number[] = []
  const feed = new EventFeed(new VirtualClock())
  const traceWatchers: FakeHome['traceWatchers'] = new Set()
  return {
    asked,
    tracesAsked,
    feed,
    traceWatchers,
    readiness: () => ({ ready: true, version: '0.0.0', ports: { open: 1 }, devices: { online: 1 } }),
    ports: () => [PORT],
    port: (id) => (id === PORT.id ? PORT : undefined),
    trace: (id, last) => {
      tracesAsked.push(last)
      return id === PORT.id ? TRACE : undefined
    },
    watchTrace: (id, listener) => {
      if (id !== PORT.id) return undefined
      traceWatchers.add(listener)
      return () => traceWatchers.delete(listener)
    },
    events: (lastEventId, listener) => feed.subscribe(lastEventId, listener),
    devices: () => [DEVICE],
    device: (id) => (id === DEVICE.id ? DEVICE : undefined),
    tools: () => [READ_CO2],
    ...fakeCalling(asked),
    ...fakeAdministration(asked),
    authenticate: (token) => PRINCIPALS.get(token),
    ...parts,
  }
}

function fakeCalling(asked: Asked) {
  const idsOf = (request: BatchRequest) => [request.calls.map((call) => call.id ?? 'c_minted')]
  const batchOf = (request: BatchRequest) => {
    const results = request.calls.map((call) => okResult(call))
    return {
      id: 'b_1',
      policy: request.policy ?? 'partition',
      partitions: idsOf(request),
      executed: results.length,
      shared: 0,
      results,
      context: request.context ?? {},
      conflicts: [],
    } as const
  }
  const batchById = (id: string, principal: Principal) => {
    asked.push({ request: id, principal })
    return id === BATCH.id ? BATCH : undefined
  }
  return {
    call: async (request, principal) => {
      asked.push({ request, principal })
      return okResult(request)
    },
    batch: async (request, principal) => {
      asked.push({ request, principal })
      return batchOf(request)
    },
    plan: (request, principal) => {
      asked.push({ request, principal })
      return { policy: request.policy ?? 'partition', partitions: idsOf(request), calls: [] }
    },
    startBatch: (request, principal) => {
      asked.push({ request, principal })
      return BATCH
    },
    batchStatus: batchById,
    cancelBatch: batchById,
    cancelCall: (id, principal) => {
      asked.push({ request: id, principal })
      return id === 'c1' ? BATCH : undefined
    },
    stopStatus: () => NOT_STOPPED,
    stop: async (principal) => {
      asked.push({ request: 'stop', principal })
      return STOPPED
    },
    releaseStop: (principal) => {
      asked.push({ request: 'release the stop', principal })
      return NOT_STOPPED
    },
  } satisfies Calling
}

function fakeAdministration(asked: Asked) {
  return {
    types: async () => [MH_Z19],
    releasePort: async (id) => (id === PORT.id ? { ...PORT, state: 'closed' } : undefined),
    send: async (id, request, principal) => {
      asked.push({ request, principal })
      return id === PORT.id ? SENT : undefined
    },
    configuration: async () => CONFIGURATION,
    checkConfiguration: async () => ({ valid: true, faults: [], warnings: [] }),
    writeConfiguration: async (_text, version) =>
      version === undefined || version === CONFIGURATION.version ? RELOADED : 'conflict',
    reload: async () => RELOADED,
  } satisfies Administration
}
