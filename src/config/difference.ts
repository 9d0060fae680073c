/** What one configuration changes against another, as ids: the whole of what a reload has to do. */
import type { Configuration, DeviceConfiguration, PortConfiguration } from './configuration.ts'

export interface ConfigurationDifference {
  readonly ports: IdDifference
  readonly devices: IdDifference
  /** Keys of the file that count from the next start on. */
  readonly needsRestart: readonly string[]
}

export interface IdDifference {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly untouched: readonly string[]
}

/** `framingOf`: a port whose devices frame their bytes in another way is another port. */
export function configurationDifference(
  before: Configuration,
  after: Configuration,
  framingOf: (configuration: Configuration, portId: string) => string,
): ConfigurationDifference {
  const framed = (configuration: Configuration) =>
    configuration.ports.map((port) => ({ ...port, framing: framingOf(configuration, port.id) }))
  const ports = differenceOf<PortConfiguration>(framed(before), framed(after))
  const moved = new Set([...ports.changed, ...ports.added, ...ports.removed])
  return {
    ports,
    // A device whose port is another one now has to be made anew, whatever it says itself.
    devices: differenceOf<DeviceConfiguration>(enabled(before), enabled(after), ({ port }) =>
      moved.has(port),
    ),
    needsRestart: needsRestart(before, after),
  }
}

function enabled({ devices }: Configuration): readonly DeviceConfiguration[] {
  return devices.filter((device) => device.enabled)
}

function differenceOf<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
  isMoved: (item: T) => boolean = () => false,
): IdDifference {
  const old = new Map(before.map((item) => [item.id, item]))
  const kept = after.filter(({ id }) => old.has(id))
  const isSame = (item: T) => isEqual(old.get(item.id), item) && !isMoved(item)
  const present = new Set(after.map(({ id }) => id))
  return {
    added: idsOf(after.filter(({ id }) => !old.has(id))),
    changed: idsOf(kept.filter((item) => !isSame(item))),
    removed: idsOf(before.filter(({ id }) => !present.has(id))),
    untouched: idsOf(kept.filter(isSame)),
  }
}

function needsRestart(before: Configuration, after: Configuration): string[] {
  const keys: (keyof Configuration)[] = [
    'http',
    'stateDir',
    'devicesDir',
    'scheduler',
    'mqtt',
    'history',
    'mcp',
  ]
  const names: Partial<Record<keyof Configuration, string>> = { stateDir: 'state' }
  return keys.filter((key) => !isEqual(before[key], after[key])).map((key) => names[key] ?? key)
}

function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id)
}

/** Plain data, whatever the order of its keys; undefined is the same as absent. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const left = one as Record<string, unknown>
  const right = other as Record<string, unknown>
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].every((key) => isEqual(left[key], right[key]))
}
