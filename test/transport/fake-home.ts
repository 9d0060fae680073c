/** A gateway that only remembers what it was asked. */
import type { DeviceStatus } from '../../src/driver/device-status.ts'
import type { TraceEntry } from '../../src/port/status.ts'
import type { Home, PortView, Principal } from '../../src/tool/home.ts'
import type { BatchRequest, CallRequest, CallResult, ToolView } from '../../src/tool/shapes.ts'

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

const TRACE: readonly TraceEntry[] = [
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

export interface FakeHome extends Home {
  /** Everything that was asked to run or to plan, and by whom. */
  readonly asked: { request: unknown; principal: Principal }[]
  readonly tracesAsked: number[]
}

export function fakeHome(parts: Partial<Home> = {}): FakeHome {
  const asked: FakeHome['asked'] = []
  const tracesAsked: number[] = []
  const idsOf = (request: BatchRequest) => [request.calls.map((call) => call.id ?? 'c_minted')]
  return {
    asked,
    tracesAsked,
    readiness: () => ({ ready: true, version: '0.0.0', ports: { open: 1 }, devices: { online: 1 } }),
    ports: () => [PORT],
    port: (id) => (id === PORT.id ? PORT : undefined),
    trace: (id, last) => {
      tracesAsked.push(last)
      return id === PORT.id ? TRACE : undefined
    },
    devices: () => [DEVICE],
    device: (id) => (id === DEVICE.id ? DEVICE : undefined),
    tools: () => [READ_CO2],
    call: async (request, principal) => {
      asked.push({ request, principal })
      return okResult(request)
    },
    batch: async (request, principal) => {
      asked.push({ request, principal })
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
      }
    },
    plan: (request, principal) => {
      asked.push({ request, principal })
      return { policy: request.policy ?? 'partition', partitions: idsOf(request), calls: [] }
    },
    authenticate: (token) => PRINCIPALS.get(token),
    ...parts,
  }
}
