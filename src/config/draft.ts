/**
 * A configuration that may still have faults, taken apart as far as it can be trusted. The checks that a schema
 * cannot express work on it, so that they find what they can although the schema has found something elsewhere.
 */
import { messageOf } from '../errors.ts'
import type {
  ConfigurableType,
  ConfigurableTypes,
  ConfiguredTool,
  DeviceOptions,
  PortSettings,
} from './configurable-type.ts'
import { DEVICE_KEY_NAMES } from './device-keys.ts'
import { errorAt, type Finding, quoted, warningAt } from './fault.ts'
import { childPointer, isMapping, pointerSegments } from './pointer.ts'

type Keys = Readonly<Record<string, unknown>>

export interface DraftPort {
  readonly pointer: string
  readonly keys: Keys
  /** Undefined for the own port of a device without an id. */
  readonly id: string | undefined
  /** It stands in the device that has it for itself. */
  readonly isOwn: boolean
}

/** What a type says of a device whose options have no faults. */
export interface TypeFacts {
  readonly framingKey: string | undefined
  readonly tools: readonly ConfiguredTool[]
  readonly timeoutMs: number | undefined
  readonly pollMs: number | undefined
  /** Line settings that its port has unless the configuration sets them. */
  readonly uart: Partial<PortSettings>
}

export interface DraftDevice {
  readonly pointer: string
  readonly keys: Keys
  /** How a sentence names it. */
  readonly label: string
  readonly id: string | undefined
  readonly type: ConfigurableType | undefined
  /** The port that it asks for, which need not exist. */
  readonly portId: string | undefined
  readonly enabled: boolean
  readonly options: DeviceOptions
  readonly facts: TypeFacts | undefined
}

export interface Draft {
  readonly data: Keys
  /** In the order of the file: those of `ports`, then those of devices. */
  readonly ports: readonly DraftPort[]
  readonly devices: readonly DraftDevice[]
  /** What the device types themselves find. */
  readonly findings: readonly Finding[]
}

export function draftOf(data: unknown, types: ConfigurableTypes, schemaFindings: readonly Finding[]): Draft {
  const keys = isMapping(data) ? data : {}
  const unsound = devicesWithFaultyOptions(schemaFindings)
  const findings: Finding[] = []
  const ports: DraftPort[] = []
  for (const [id, port] of Object.entries(isMapping(keys.ports) ? keys.ports : {})) {
    if (isMapping(port)) ports.push({ pointer: childPointer('/ports', id), keys: port, id, isOwn: false })
  }
  const devices: DraftDevice[] = []
  for (const [index, item] of (Array.isArray(keys.devices) ? keys.devices : []).entries()) {
    if (!isMapping(item)) continue
    const device = draftDevice(item, index, types)
    const asked = unsound.has(device.pointer) ? undefined : askType(device)
    findings.push(...(asked?.findings ?? []))
    devices.push({ ...device, facts: asked?.facts })
    if (isMapping(item.port)) {
      const pointer = childPointer(device.pointer, 'port')
      ports.push({ pointer, keys: item.port, id: device.id, isOwn: true })
    }
  }
  return { data: keys, ports, devices, findings }
}

function draftDevice(keys: Keys, index: number, types: ConfigurableTypes): Omit<DraftDevice, 'facts'> {
  const id = typeof keys.id === 'string' ? keys.id : undefined
  const options = Object.entries(keys).filter(([key]) => !DEVICE_KEY_NAMES.has(key))
  return {
    pointer: childPointer('/devices', index),
    keys,
    label: id === undefined ? `device ${index + 1}` : quoted(id),
    id,
    type: typeof keys.type === 'string' ? types.get(keys.type) : undefined,
    portId: typeof keys.port === 'string' ? keys.port : isMapping(keys.port) ? id : undefined,
    enabled: keys.enabled !== false,
    options: Object.fromEntries(options),
  }
}

/** Pointers of the devices whose type cannot be asked about them. */
function devicesWithFaultyOptions(schemaFindings: readonly Finding[]): Set<string> {
  const pointers = new Set<string>()
  for (const { pointer } of schemaFindings) {
    const [section, index, key] = pointerSegments(pointer)
    const isOfDevice = section === 'devices' && index !== undefined
    if (isOfDevice && (key === undefined || !DEVICE_KEY_NAMES.has(key))) {
      pointers.add(childPointer('/devices', index))
    }
  }
  return pointers
}

function askType(device: Omit<DraftDevice, 'facts'>): { facts?: TypeFacts; findings: Finding[] } {
  const { type, options, pointer } = device
  if (!type) return { findings: [] }
  try {
    const findings = (type.faults?.(options) ?? []).map(({ field, message, severity }) => {
      const place =
        field === '' || field.startsWith('/') ? `${pointer}${field}` : childPointer(pointer, field)
      return severity === 'warning' ? warningAt(place, message) : errorAt(place, message)
    })
    if (findings.some(({ severity }) => severity === 'error')) return { findings }
    const facts = {
      framingKey: type.framingKey?.(options),
      tools: type.tools?.(options) ?? [],
      timeoutMs: type.timeoutMs?.(options),
      pollMs: type.pollMs?.(options),
      uart: { ...type.uart, ...type.uartOf?.(options) },
    }
    return { facts, findings }
  } catch (error) {
    // A device type may be the user's own; a mistake in it is no reason to end the gateway.
    const message = `the device type ${quoted(type.type)} fails on this device: ${messageOf(error)}`
    return { findings: [errorAt(pointer, message)] }
  }
}
