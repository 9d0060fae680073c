/**
 * The lines of a configuration: which devices are on which port, with which binding and framing, and the drivers
 * that speak to them.
 */
import type { Clock } from './clock.ts'
import type { Configuration, DeviceConfiguration, PortConfiguration } from './config/configuration.ts'
import type { DeviceDescription, DeviceType } from './driver/device-type.ts'
import { DeviceDriver } from './driver/driver.ts'
import { assert } from './errors.ts'
import type { Log } from './log.ts'
import { createSystemBinding } from './port/binding.ts'
import type { BindingInterface } from './port/binding-interface.ts'
import { DeviceRegistry } from './port/device-registry.ts'
import type { Framing } from './port/framing.ts'
import { type Host, linuxHost, namesOnlyHost } from './port/host.ts'
import { Port } from './port/port.ts'
import { createSimulation, type Simulation } from './simulator/simulated.ts'

/** The path of a port behind which the device types' own simulators are. */
const SIMULATED = 'simulated'

export interface LineParts {
  readonly configuration: Configuration
  readonly types: ReadonlyMap<string, DeviceType>
  readonly clock: Clock
  readonly log: Log
  /** For every port that is not simulated; default: the host's own. */
  readonly binding?: BindingInterface | undefined
  readonly host?: Host | undefined
  readonly onChange: (portId: string) => void
}

export interface ConfiguredDevice {
  readonly settings: DeviceConfiguration
  readonly type: DeviceType
  readonly driver: DeviceDriver
}

export interface Lines {
  readonly ports: ReadonlyMap<string, Port>
  readonly devices: ReadonlyMap<string, ConfiguredDevice>
  /** Undefined: no port is simulated. */
  readonly simulation: Simulation | undefined
  /** Ends the simulated devices, which otherwise go on for ever. */
  unplugSimulation(): void
}

interface Described {
  readonly settings: DeviceConfiguration
  readonly type: DeviceType
  readonly description: DeviceDescription
}

export function createLines(parts: LineParts): Lines {
  const { configuration, clock, log } = parts
  const described = configuration.devices
    .filter(({ enabled }) => enabled)
    .map((device) => describe(device, parts))
  const isSimulated = configuration.ports.some(({ path }) => path === SIMULATED)
  const simulation = isSimulated ? createSimulation({ clock, log }) : undefined
  const shared = { binding: parts.binding, simulation, registry: new DeviceRegistry() }
  const ports = new Map<string, Port>()
  const devices = new Map<string, ConfiguredDevice>()
  for (const settings of configuration.ports) {
    const onPort = described.filter((device) => device.settings.port === settings.id)
    const drivers: DeviceDriver[] = []
    const port = createPort(settings, onPort, { ...parts, ...shared, drivers })
    ports.set(settings.id, port)
    for (const { settings: device, type, description } of onPort) {
      const { addressed } = type
      const driver = new DeviceDriver({ device, description, addressed, port, clock, log })
      drivers.push(driver)
      devices.set(device.id, { settings: device, type, driver })
    }
  }
  return {
    ports,
    devices,
    simulation,
    unplugSimulation: () => {
      for (const id of ports.keys()) simulation?.remove(id)
    },
  }
}

function describe(settings: DeviceConfiguration, { types }: LineParts): Described {
  const type = types.get(settings.type)
  assert(type, `the configuration names the unknown type ${settings.type}`)
  return { settings, type, description: type.describe(settings.options) }
}

interface PortWorld extends LineParts {
  readonly simulation: Simulation | undefined
  readonly registry: DeviceRegistry
  /** Filled after the port is made: they are told of frames that nobody asked for. */
  readonly drivers: readonly DeviceDriver[]
}

function createPort(settings: PortConfiguration, devices: readonly Described[], world: PortWorld): Port {
  const { clock, log, drivers, registry, onChange } = world
  if (settings.path === SIMULATED) plugSimulators(settings, devices, world.simulation)
  return new Port({
    id: settings.id,
    ...reachOf(settings, world),
    settings: settings.settings,
    framing: devices[0]?.description.framing ?? silentFraming,
    devices: registry,
    clock,
    log,
    onUnsolicited: (frame) => drivers.filter((driver) => driver.recognises(frame)).length > 0,
    onChange: () => onChange(settings.id),
  })
}

/** How the port is reached: by what path, through which binding, and who knows of its path. */
function reachOf({ id, path }: PortConfiguration, { simulation, binding, host }: PortWorld) {
  if (path === SIMULATED && simulation) {
    return { path: id, binding: simulation.binding, host: simulation.binding.host }
  }
  if (binding) return { path, binding, host: host ?? namesOnlyHost }
  return { path, binding: createSystemBinding(), host: host ?? linuxHost }
}

function plugSimulators(
  settings: PortConfiguration,
  devices: readonly Described[],
  simulation: Simulation | undefined,
): void {
  assert(simulation, 'a simulated port without a simulation')
  const simulators = devices.map(({ settings: { id }, type, description }) => {
    assert(description.simulator, `the type ${type.type} has no simulator`)
    return { id, simulator: description.simulator }
  })
  simulation.plug(settings.id, settings.settings, simulators)
}

/** A port without a device: its bytes are counted and traced, and make no frame. */
const silentFraming: Framing = {
  key: 'none',
  frameLengthMax: 0,
  silenceEndsFrame: false,
  create: () => ({ push: () => {}, idle: () => {}, reset: () => {}, held: 0 }),
}
