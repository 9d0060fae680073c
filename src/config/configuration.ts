/**
 * The configuration as the gateway uses it: every default filled in, every duration in milliseconds, every device on
 * a port of the list. It is made only of a draft without faults.
 */
import { QUEUE_LENGTH_DEFAULT } from '../limits.ts'
import type { DeviceOptions, PortSettings } from './configurable-type.ts'
import { stopCommand } from './device-checks.ts'
import type { DeviceKeys } from './device-keys.ts'
import type { Draft, DraftDevice, DraftPort } from './draft.ts'
import { parseDuration, wordsOf } from './notation.ts'
import { SETTING_KEYS } from './port-checks.ts'
import type { PortKeys } from './port-keys.ts'
import {
  type ConfigurationKeys,
  DEFAULT_HOST,
  DEFAULT_POLICY,
  DEFAULT_PORT,
  type HistorySection,
  type McpSection,
  type MqttSection,
} from './schema.ts'

export interface Configuration {
  readonly http: HttpConfiguration
  /** Undefined: the caller's default. */
  readonly stateDir?: string
  readonly devicesDir?: string
  readonly scheduler: SchedulerConfiguration
  /** Those of `ports` in the order of the file, then the devices' own. */
  readonly ports: readonly PortConfiguration[]
  readonly devices: readonly DeviceConfiguration[]
  readonly never: readonly Interlock[]
  /** As written; secrets are resolved by `resolveSecret` where they are used. */
  readonly mqtt?: MqttSection
  readonly history?: HistorySection
  readonly mcp?: McpSection
}

export interface HttpConfiguration {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

export interface SchedulerConfiguration {
  readonly policy: 'partition' | 'batch' | 'resource'
  /** Waiting calls per port. */
  readonly queueLength: number
}

export interface PortConfiguration {
  readonly id: string
  /** A serial device, or `simulated`. */
  readonly path: string
  readonly settings: PortSettings
  readonly echo: 'auto' | 'on' | 'off'
  /** Opens it although a radio stick seems to be behind it. */
  readonly force: boolean
}

export interface DeviceConfiguration {
  readonly id: string
  readonly name: string
  readonly area: string | null
  readonly type: string
  /** The id of an entry of `ports`. */
  readonly port: string
  readonly enabled: boolean
  /** Undefined: it is not polled. */
  readonly pollMs?: number
  /** Undefined, as the two below: the device type's own. */
  readonly timeoutMs?: number
  readonly replyLatencyMaxMs?: number
  readonly gapMs?: number
  /** What reads get; a set gets at most 1 of them, an act none. */
  readonly retries: number
  readonly stop: readonly StopConfiguration[]
  /** The keys that belong to the type, `address` among them. */
  readonly options: DeviceOptions
}

export interface StopConfiguration {
  /** The name of a tool behind the device id. */
  readonly command: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export interface Interlock {
  /** A tool name in which `*` stands for any characters. */
  readonly tool: string
  /** Undefined: the tool never runs. */
  readonly minimumGapMs?: number
}

const DEFAULT_SETTINGS: PortSettings = {
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: 'none',
  rtscts: false,
  // The operating system's own default.
  hupcl: true,
}

export function configurationOf(draft: Draft): Configuration {
  // The schema has found nothing to say against it.
  const keys = draft.data as ConfigurationKeys
  const { http = {}, scheduler = {} } = keys
  return {
    http: {
      host: http.host ?? DEFAULT_HOST,
      port: http.port ?? DEFAULT_PORT,
      allowedHosts: http.allowedHosts ?? [],
      allowedOrigins: http.allowedOrigins ?? [],
    },
    ...(keys.state === undefined ? {} : { stateDir: keys.state }),
    ...(keys.devicesDir === undefined ? {} : { devicesDir: keys.devicesDir }),
    scheduler: {
      policy: scheduler.policy ?? DEFAULT_POLICY,
      queueLength: scheduler.queueLength ?? QUEUE_LENGTH_DEFAULT,
    },
    ports: portsOf(draft),
    devices: draft.devices.map(deviceOf),
    never: keys.never ?? [],
    ...(keys.mqtt === undefined ? {} : { mqtt: keys.mqtt }),
    ...(keys.history === undefined ? {} : { history: keys.history }),
    ...(keys.mcp === undefined ? {} : { mcp: keys.mcp }),
  }
}

function portsOf({ ports, devices }: Draft): PortConfiguration[] {
  const byPort = new Map<string, DraftDevice[]>()
  for (const device of devices) {
    const { portId = '' } = device
    const sharing = byPort.get(portId)
    if (sharing) sharing.push(device)
    else byPort.set(portId, [device])
  }
  return ports.map((port) => portOf(port, byPort.get(port.id ?? '') ?? []))
}

function portOf({ id = '', keys }: DraftPort, devices: readonly DraftDevice[]): PortConfiguration {
  const { path, echo, force = false } = keys as PortKeys
  // A disabled device has no say where there is another one.
  const enabled = devices.filter((device) => device.enabled)
  const deciding = enabled.length > 0 ? enabled : devices
  const uarts = deciding.map(({ facts }) => facts?.uart)
  const settings = { ...DEFAULT_SETTINGS, ...Object.assign({}, ...uarts) }
  for (const key of SETTING_KEYS) settings[key] = keys[key] ?? settings[key]
  const addressed = deciding.some(({ type }) => type?.addressed)
  return { id, path, settings, echo: echo ?? (addressed ? 'auto' : 'off'), force }
}

function deviceOf({ keys, options, facts, portId = '', id = '' }: DraftDevice): DeviceConfiguration {
  const { name, area, type, enabled, poll, timeoutMs, replyLatencyMaxMs, gapMs, retries, stop } =
    keys as DeviceKeys
  const pollMs = poll === undefined ? facts?.pollMs : parseDuration(poll)
  return {
    id,
    name: name ?? wordsOf(id),
    area: area ?? null,
    type,
    port: portId,
    enabled: enabled ?? true,
    ...(pollMs === undefined ? {} : { pollMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(replyLatencyMaxMs === undefined ? {} : { replyLatencyMaxMs }),
    ...(gapMs === undefined ? {} : { gapMs }),
    retries: retries ?? 0,
    stop: (stop ?? []).map((entry) => {
      const { tool, arguments: given = {} } = typeof entry === 'string' ? { tool: entry } : entry
      return { command: stopCommand(id, tool), arguments: given }
    }),
    options,
  }
}
