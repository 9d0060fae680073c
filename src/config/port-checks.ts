/** What a schema cannot say about ports: where they lead, and who may share one. */
import { posix } from 'node:path'
import type { PortSettings } from './configurable-type.ts'
import type { Draft, DraftDevice, DraftPort } from './draft.ts'
import { errorAt, type Finding, quoted, warningAt } from './fault.ts'
import { didYouMean } from './near-names.ts'
import { childPointer } from './pointer.ts'

/** Puts the simulators of the device types behind the port. */
export const SIMULATED_PATH = 'simulated'

export const SETTING_KEYS = [
  'baudRate',
  'dataBits',
  'stopBits',
  'parity',
  'rtscts',
  'hupcl',
] as const satisfies readonly (keyof PortSettings)[]

export function portFindings({ ports, devices }: Draft): Finding[] {
  const named = new Map(
    ports.flatMap((port) => (port.isOwn || port.id === undefined ? [] : [[port.id, port]])),
  )
  return [
    ...ports.flatMap(pathFindings),
    ...samePathFindings(ports),
    ...devices.flatMap((device) => referenceFindings(device, named)),
    ...unusedFindings(named, devices),
    ...sharingFindings(named, devices),
  ]
}

function pathFindings({ pointer, keys: { path } }: DraftPort): Finding[] {
  if (typeof path !== 'string' || path === '' || path === SIMULATED_PATH) return []
  const place = childPointer(pointer, 'path')
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(path)?.[1]?.toLowerCase()
  switch (scheme) {
    case undefined:
      return [...unstablePath(path, place)]
    case 'tcp':
      return [errorAt(place, 'tcp:// is not supported by this version yet')]
    case 'rfc2217':
    case 'modbus-tcp':
      return [errorAt(place, `${scheme}:// is a reserved name: it is not supported by this version yet`)]
    default:
      return [
        errorAt(place, `${quoted(`${scheme}://`)} is no kind of port`, {
          hint: 'a serial device, or simulated',
        }),
      ]
  }
}

function unstablePath(path: string, place: string): Finding[] {
  if (/^\/dev\/tty(USB|ACM)[0-9]+$/.test(path)) {
    const hint = 'its link in /dev/serial/by-id does not; `baudway ports` lists it'
    return [warningAt(place, `${path} may name another device after the next start`, { hint })]
  }
  const isWindows = /^(COM[0-9]+$|\\\\)/i.test(path)
  if (path.startsWith('/') || isWindows) return []
  const hint = path.startsWith('tty') ? `write /dev/${path}` : didYouMean(path, [SIMULATED_PATH])
  return [
    warningAt(place, `${quoted(path)} is looked for in the directory that the gateway runs in`, { hint }),
  ]
}

function samePathFindings(ports: readonly DraftPort[]): Finding[] {
  const first = new Map<string, DraftPort>()
  const findings: Finding[] = []
  for (const port of ports) {
    const { path } = port.keys
    if (typeof path !== 'string' || path === '' || path === SIMULATED_PATH) continue
    const normal = posix.normalize(path)
    const other = first.get(normal)
    if (!other) {
      first.set(normal, port)
      continue
    }
    const hint = other.isOwn
      ? 'give it an entry of "ports", and name that in both'
      : `name port ${quoted(other.id ?? '')} instead`
    const owner = other.isOwn
      ? `the port of device ${quoted(other.id ?? '')}`
      : `port ${quoted(other.id ?? '')}`
    findings.push(errorAt(childPointer(port.pointer, 'path'), `${owner} has this path already`, { hint }))
  }
  return findings
}

function referenceFindings(device: DraftDevice, named: ReadonlyMap<string, DraftPort>): Finding[] {
  const { keys, id, portId } = device
  const pointer = childPointer(device.pointer, 'port')
  if (typeof keys.port !== 'string') {
    if (portId === undefined || id === undefined || !named.has(id)) return []
    const message = `the port of this device would be called ${quoted(id)}, as an entry of "ports" is already`
    return [errorAt(pointer, message, { at: 'key' })]
  }
  if (keys.port === '' || named.has(keys.port)) return []
  const isPath = keys.port === SIMULATED_PATH || /[/\\]|^COM[0-9]+$/.test(keys.port)
  const hint = isPath ? `write port: { path: ${keys.port} }` : didYouMean(keys.port, named.keys())
  return [errorAt(pointer, `unknown port ${quoted(keys.port)}`, { hint })]
}

function unusedFindings(named: ReadonlyMap<string, DraftPort>, devices: readonly DraftDevice[]): Finding[] {
  const used = new Set(devices.map(({ keys }) => keys.port))
  return [...named]
    .filter(([id]) => !used.has(id))
    .map(([id, { pointer }]) => warningAt(pointer, `no device uses port ${quoted(id)}`, { at: 'key' }))
}

/** A disabled device is in nobody's way: it may stand for the one that took its place. */
function sharingFindings(named: ReadonlyMap<string, DraftPort>, devices: readonly DraftDevice[]): Finding[] {
  const byPort = new Map<string, DraftDevice[]>()
  for (const device of devices) {
    if (typeof device.keys.port !== 'string' || !device.type || !device.enabled) continue
    const sharing = byPort.get(device.keys.port)
    if (sharing) sharing.push(device)
    else byPort.set(device.keys.port, [device])
  }
  return [...byPort].flatMap(([id, sharing]) => {
    const port = named.get(id)
    return port ? [...stationFindings(sharing, id), ...settingFindings(sharing, port)] : []
  })
}

/** Each device against those before it on its port: at most one reason why it cannot be there. */
function stationFindings(devices: readonly DraftDevice[], portId: string): Finding[] {
  const [first, ...others] = devices
  if (!first) return []
  const byAddress = new Map([[addressOf(first), first]])
  const alone = devices.find(({ type }) => type?.addressed === false)
  return others.flatMap((device) => {
    const pointer = childPointer(device.pointer, 'port')
    const port = `port ${quoted(portId)}`
    if (device.type?.addressed === false) {
      const message = `${device.label} has no address, so it cannot share ${port} with ${first.label}`
      return [errorAt(pointer, message)]
    }
    if (alone === first) {
      return [
        errorAt(pointer, `${port} is taken by ${first.label}, which has no address and cannot share it`),
      ]
    }
    if (differ(first.facts?.framingKey, device.facts?.framingKey)) {
      const message = `${device.label} frames its messages differently from ${first.label} on ${port}`
      return [errorAt(pointer, message)]
    }
    const address = addressOf(device)
    const other = address === undefined ? undefined : byAddress.get(address)
    if (other) {
      const message = `address ${JSON.stringify(device.options.address)} of ${port} is taken by ${other.label}`
      return [errorAt(childPointer(device.pointer, 'address'), message)]
    }
    byAddress.set(address, device)
    return []
  })
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

function addressOf({ options: { address } }: DraftDevice): string | undefined {
  return typeof address === 'number' || typeof address === 'string' ? String(address) : undefined
}

/** A setting that the port leaves open must not be wanted in two ways. */
function settingFindings(devices: readonly DraftDevice[], port: DraftPort): Finding[] {
  return SETTING_KEYS.filter((key) => port.keys[key] === undefined).flatMap((key) => {
    const wanting = devices.filter(({ facts }) => facts?.uart[key] !== undefined)
    const [first] = wanting
    const other = wanting.find(({ facts }) => facts?.uart[key] !== first?.facts?.uart[key])
    if (!first || !other) return []
    const wishes = [first, other].map(({ label, facts }) => `${label} has ${facts?.uart[key]}`).join(', ')
    const message = `port ${quoted(port.id ?? '')} must set "${key}", since its devices differ: ${wishes}`
    return [errorAt(port.pointer, message, { at: 'key' })]
  })
}
