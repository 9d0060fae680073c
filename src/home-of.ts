/** The gateway as its transports see it. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Configuration } from './config/configuration.ts'
import type { ConfigurationStore } from './config/configuration-store.ts'
import type { ConfigurationDifference } from './config/difference.ts'
import type { Fault } from './config/fault.ts'
import { type Checked, parseConfiguration } from './config/load.ts'
import { configurableTypes } from './configurable-types.ts'
import type { DeviceStatus } from './driver/device-status.ts'
import type { DeviceType } from './driver/device-type.ts'
import type { Port } from './port/port.ts'
import type { EmergencyStop } from './tool/emergency-stop.ts'
import type { EventFeed } from './tool/event-feed.ts'
import type { Gate } from './tool/gate.ts'
import type {
  Administration,
  ConfigurationReport,
  Home,
  PortView,
  Principal,
  ReloadReport,
  TypeView,
} from './tool/home.ts'
import type { SendRequest, SendResult, ToolView } from './tool/shapes.ts'
import { typeView } from './type-view.ts'
import { VERSION } from './version.ts'

export interface HomeParts {
  readonly gate: Gate
  readonly emergencyStop: EmergencyStop
  readonly feed: EventFeed
  readonly store: ConfigurationStore | undefined
  readonly types: ReadonlyMap<string, DeviceType>
  readonly adminToken: string
  readonly isClosing: boolean
  tools(): readonly ToolView[]
  devices(): readonly DeviceStatus[]
  device(id: string): DeviceStatus | undefined
  ports(): readonly PortView[]
  port(id: string): Port | undefined
  portView(port: Port): PortView
  send(port: Port, request: SendRequest): Promise<SendResult>
  apply(next: Configuration): Promise<ConfigurationDifference>
}

const ADMIN: Principal = { id: 'admin', name: 'admin', role: 'admin' }

export function homeOf(parts: HomeParts): Home {
  const { gate, emergencyStop, feed } = parts
  const tokenDigest = digest(parts.adminToken)
  return {
    readiness: () => ({
      ready: !parts.isClosing,
      version: VERSION,
      ports: counted(parts.ports().map(({ state }) => state)),
      devices: counted(parts.devices().map(({ availability }) => availability)),
    }),
    ports: () => parts.ports(),
    port: (id) => {
      const port = parts.port(id)
      return port && parts.portView(port)
    },
    devices: () => parts.devices(),
    device: (id) => parts.device(id),
    tools: () => parts.tools(),
    authenticate: (token) => (timingSafeEqual(digest(token), tokenDigest) ? ADMIN : undefined),
    call: (request, principal) => gate.call(request, principal),
    batch: (request, principal) => gate.batch(request, principal),
    plan: (request, principal) => gate.plan(request, principal),
    startBatch: (request, principal) => gate.startBatch(request, principal),
    batchStatus: (id, principal) => gate.batchStatus(id, principal),
    cancelBatch: (id, principal) => gate.cancelBatch(id, principal),
    cancelCall: (id, principal) => gate.cancelCall(id, principal),
    stopStatus: () => emergencyStop.status(),
    stop: (principal) => emergencyStop.engage(principal),
    releaseStop: (principal) => emergencyStop.release(principal),
    events: (lastEventId, listener) => feed.subscribe(lastEventId, listener),
    trace: (id, last) => parts.port(id)?.trace(last),
    watchTrace: (id, listener) => parts.port(id)?.watchTrace(listener),
    ...administration(parts),
  }
}

function administration(parts: HomeParts): Administration {
  let views: Promise<readonly TypeView[]> | undefined
  return {
    types: () => {
      views ??= Promise.all(Array.from(parts.types.values(), typeView))
      return views
    },
    releasePort: async (id, durationMs) => {
      const port = parts.port(id)
      await port?.release(durationMs)
      return port && parts.portView(port)
    },
    send: async (id, request) => {
      const port = parts.port(id)
      return port && parts.send(port, request)
    },
    configuration: async () => parts.store?.read(),
    checkConfiguration: async (text) => reportOf(check(parts, text)),
    writeConfiguration: async (text, version) => {
      const { store } = parts
      return store?.exclusively(async () => {
        if (version !== undefined && (await store.read()).version !== version) return 'conflict'
        const checked = check(parts, text)
        if (checked.configuration && !(await written(store, text))) return 'unwritable'
        return applied(parts, checked)
      })
    },
    reload: async () => {
      const { store } = parts
      return store?.exclusively(async () => applied(parts, check(parts, (await store.read()).text)))
    },
  }
}

function check({ types, store }: HomeParts, text: string): Checked<Fault> {
  return parseConfiguration(text, store?.path ?? 'configuration', configurableTypes(types))
}

/** False: this user may not write there. Rejects with any other error of the file system. */
async function written(store: ConfigurationStore, text: string): Promise<boolean> {
  try {
    await store.write(text)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return false
    throw error
  }
}

/** An invalid text changes nothing. */
async function applied(parts: HomeParts, checked: Checked<Fault>): Promise<ReloadReport> {
  const nothing = { added: [], changed: [], removed: [], untouched: [] }
  const report = reportOf(checked)
  const { configuration } = checked
  if (!configuration) return { ...report, applied: false, ports: nothing, devices: nothing, needsRestart: [] }
  return { ...report, applied: true, ...(await parts.apply(configuration)) }
}

function reportOf({ configuration, faults, warnings }: Checked<Fault>): ConfigurationReport {
  return { valid: configuration !== undefined, faults, warnings }
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
