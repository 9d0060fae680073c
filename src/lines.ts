/**
 * The lines of a configuration: which devices are on which port, with which binding and framing, and the drivers that
 * speak to them. A new configuration changes what it names and leaves the rest alone.
 */
import type { Clock } from './clock.ts'
import type { Configuration, DeviceConfiguration, PortConfiguration } from './config/configuration.ts'
import type { IdDifference } from './config/difference.ts'
import type { DeviceDescription, DeviceType } from './driver/device-type.ts'
import { DeviceDriver, type DeviceListener } from './driver/driver.ts'
import { assert } from './errors.ts'
import type { Log } from './log.ts'
import { createSystemBinding } from './port/binding.ts'
import type { BindingInterface } from './port/binding-interface.ts'
import { DeviceRegistry } from './port/device-registry.ts'
import type { Framing } from './port/framing.ts'
import { forcedLinuxHost, type Host, linuxHost, namesOnlyHost } from './port/host.ts'
import { Port } from './port/port.ts'
import { createSimulation, type Simulation } from './simulator/simulated.ts'

/** The path of a port behind which the device types' own simulators are. */
const SIMULATED = 'simulated'

export interface LineParts {
  readonly types: () => ReadonlyMap<string, DeviceType>
  readonly clock: Clock
  readonly log: Log
  /** For every port that is not simulated; default: the host's own. */
  readonly binding?: BindingInterface | undefined
  readonly host?: Host | undefined
  readonly onPortChange: (portId: string) => void
  readonly listener: (deviceId: string) => DeviceListener
}

export interface ConfiguredDevice {
  readonly settings: DeviceConfiguration
  readonly type: DeviceType
  readonly driver: DeviceDriver
}

/** A port and the drivers that are told of frames that nobody asked for. */
interface Line {
  readonly port: Port
  readonly drivers: Set<DeviceDriver>
}

export class Lines {
  readonly #parts: LineParts
  readonly #lines = new Map<string, Line>()
  readonly #devices = new Map<string, ConfiguredDevice>()
  readonly #owners = new DeviceRegistry()
  #simulation: Simulation | undefined

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  get ports(): readonly Port[] {
    return Array.from(this.#lines.values(), ({ port }) => port)
  }

  get devices(): ReadonlyMap<string, ConfiguredDevice> {
    return this.#devices
  }

  port(id: string): Port | undefined {
    return this.#lines.get(id)?.port
  }

  /** The key of the framing on a port, which all its devices have in common. */
  framingOf(configuration: Configuration, portId: string): string {
    return this.#framing(configuration, portId).key
  }

  /** Makes a port, closed. One of the same id that was there before is the caller's to stop. */
  addPort(configuration: Configuration, id: string): Port {
    const settings = configuration.ports.find((port) => port.id === id)
    assert(settings, `no port ${id}`)
    const { clock, log, onPortChange } = this.#parts
    const drivers = new Set<DeviceDriver>()
    if (settings.path === SIMULATED) this.#plug(configuration, settings)
    const port = new Port({
      id,
      ...this.#reach(settings),
      settings: settings.settings,
      framing: this.#framing(configuration, id),
      devices: this.#owners,
      clock,
      log,
      onUnsolicited: (frame) => [...drivers].filter((driver) => driver.recognises(frame)).length > 0,
      onChange: () => onPortChange(id),
    })
    this.#lines.set(id, { port, drivers })
    return port
  }

  removePort(id: string): void {
    this.#lines.delete(id)
    this.#simulation?.remove(id)
  }

  addDevice(settings: DeviceConfiguration): ConfiguredDevice {
    const { clock, log, listener } = this.#parts
    const line = this.#lines.get(settings.port)
    assert(line, `device ${settings.id} is on no port`)
    const type = this.#type(settings)
    const driver = new DeviceDriver({
      device: settings,
      description: type.describe(settings.options),
      addressed: type.addressed,
      port: line.port,
      clock,
      log,
      listener: listener(settings.id),
    })
    line.drivers.add(driver)
    const device = { settings, type, driver }
    this.#devices.set(settings.id, device)
    return device
  }

  removeDevice(id: string): void {
    const device = this.#devices.get(id)
    if (!device) return
    this.#devices.delete(id)
    this.#lines.get(device.settings.port)?.drivers.delete(device.driver)
  }

  /** Another process may have asked the devices something that they have still to answer; it had no simulated ones. */
  expectAnything(): void {
    for (const { driver } of this.#devices.values()) {
      if (!this.#simulation?.wire(driver.port.id)) driver.port.expectAnything(driver.replyLatencyMaxMs)
    }
  }

  /** The simulators of a simulated port are those of its devices now. */
  replug(configuration: Configuration, ports: IdDifference): void {
    for (const settings of configuration.ports) {
      if (settings.path === SIMULATED && ports.untouched.includes(settings.id))
        this.#plug(configuration, settings)
    }
  }

  /** Ends the simulated devices, which otherwise go on for ever. */
  unplugSimulation(): void {
    for (const id of this.#lines.keys()) this.#simulation?.remove(id)
  }

  #type({ id, type: name }: DeviceConfiguration): DeviceType {
    const type = this.#parts.types().get(name)
    assert(type, `device ${id} has the unknown type ${name}`)
    return type
  }

  #onPort(configuration: Configuration, portId: string): readonly DeviceConfiguration[] {
    return configuration.devices.filter(({ enabled, port }) => enabled && port === portId)
  }

  #describe(settings: DeviceConfiguration): DeviceDescription {
    return this.#type(settings).describe(settings.options)
  }

  #framing(configuration: Configuration, portId: string): Framing {
    const [first] = this.#onPort(configuration, portId)
    return first ? this.#describe(first).framing : silentFraming
  }

  /** How the port is reached: by what path, through which binding, and who knows of its path. */
  #reach({ id, path, force }: PortConfiguration) {
    const { binding, host } = this.#parts
    if (path === SIMULATED) {
      const simulated = this.#simulate()
      return { path: id, binding: simulated.binding, host: simulated.binding.host }
    }
    if (binding) return { path, binding, host: host ?? namesOnlyHost }
    return { path, binding: createSystemBinding(), host: host ?? (force ? forcedLinuxHost : linuxHost) }
  }

  #simulate(): Simulation {
    const { clock, log } = this.#parts
    this.#simulation ??= createSimulation({ clock, log })
    return this.#simulation
  }

  #plug(configuration: Configuration, { id, settings }: PortConfiguration): void {
    const simulators = this.#onPort(configuration, id).map((device) => {
      const { simulator } = this.#describe(device)
      assert(simulator, `the type ${device.type} has no simulator`)
      return { id: device.id, simulator }
    })
    this.#simulate().plug(id, settings, simulators)
  }
}

/** A port without a device: its bytes are counted and traced, and make no frame. */
const silentFraming: Framing = {
  key: 'none',
  frameLengthMax: 0,
  silenceEndsFrame: false,
  create: () => ({ push: () => {}, idle: () => {}, reset: () => {}, held: 0 }),
}
