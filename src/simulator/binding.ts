/**
 * Simulated ports for the serial library: a binding whose paths are names of simulated wires. It fails as a host
 * does: a path that is not there, a port that another holds, a right that is missing.
 */
import { type Clock, pause } from '../clock.ts'
import { assert } from '../errors.ts'
import type { BindingInterface, OpenOptions } from '../port/binding-interface.ts'
import type { Host, Inspection } from '../port/host.ts'
import { SimulatedPort } from './port.ts'
import { type OpenFault, SimulatedWire, type WireOptions } from './wire.ts'

export interface SimulatedBinding extends BindingInterface {
  open(options: OpenOptions): Promise<SimulatedPort>
  /** Puts a new wire behind the path. */
  addWire(path: string, options: Omit<WireOptions, 'clock'>): SimulatedWire
  /** Takes it away, unplugged. */
  removeWire(path: string): void
  wire(path: string): SimulatedWire | undefined
  /** What the operating system would know of the paths. */
  readonly host: Host
}

export interface SimulatedBindingOptions {
  readonly clock: Clock
}

/** An open that failed; `code` is the system's, and `message` is worded as the real binding's. */
class OpenError extends Error {
  override readonly name = 'OpenError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const OPEN_ERRORS: Readonly<Record<OpenFault, readonly [code: string, text: string]>> = {
  absent: ['ENOENT', 'No such file or directory'],
  denied: ['EACCES', 'Permission denied'],
  busy: ['EBUSY', 'Device or resource busy'],
  locked: ['EAGAIN', 'Resource temporarily unavailable, Cannot lock port'],
}

export function createSimulatedBinding(options: SimulatedBindingOptions): SimulatedBinding {
  const { clock } = options
  const wires = new Map<string, SimulatedWire>()
  return {
    addWire: (path, wireOptions) => {
      assert(!wires.has(path), `there is a wire behind ${path} already`)
      const wire = new SimulatedWire({ ...wireOptions, clock })
      wires.set(path, wire)
      return wire
    },
    removeWire: (path) => {
      wires.get(path)?.unplug()
      wires.delete(path)
    },
    wire: (path) => wires.get(path),
    host: {
      inspect: (path) => Promise.resolve(inspection(path, wires.get(path))),
      deviceKey: (path) => Promise.resolve(deviceKey(path, wires.get(path))),
    },
    list: async () => [...wires].filter(([, wire]) => wire.plugged).map(([path]) => portInfo(path)),
    open: (openOptions) => open(wires, clock, openOptions),
  }
}

async function open(
  wires: ReadonlyMap<string, SimulatedWire>,
  clock: Clock,
  options: OpenOptions,
): Promise<SimulatedPort> {
  if (typeof options !== 'object' || options === null) throw new TypeError('"options" is not an object')
  if (!options.path) throw new TypeError('"path" is not a valid port')
  if (!options.baudRate) throw new TypeError('"baudRate" is not a valid baudRate')
  const { path } = options
  const openMs = wires.get(path)?.openMs ?? 0
  if (openMs > 0) await pause(clock, openMs)
  const wire = wires.get(path)
  const fault = wire?.takeOpenFault()
  if (fault) throw openError(fault, path)
  if (!wire?.plugged) throw openError('absent', path)
  if (wire.occupied) throw openError('locked', path)
  return new SimulatedPort(wire, { ...OPEN_DEFAULTS, ...options })
}

const OPEN_DEFAULTS = {
  dataBits: 8,
  lock: true,
  stopBits: 1,
  parity: 'none',
  rtscts: false,
  xon: false,
  xoff: false,
  xany: false,
  hupcl: true,
} as const

function openError(fault: OpenFault, path: string): OpenError {
  const [code, text] = OPEN_ERRORS[fault]
  return new OpenError(code, `Error: ${text}, cannot open ${path}`)
}

function inspection(path: string, wire: SimulatedWire | undefined): Inspection {
  const key = deviceKey(path, wire)
  return key === undefined ? { kind: 'absent' } : { kind: 'present', resolvedPath: path, deviceKey: key }
}

/** An adapter that was pulled and plugged in again is another device to the operating system. */
function deviceKey(path: string, wire: SimulatedWire | undefined): string | undefined {
  return wire?.plugged ? `simulated:${path}:${wire.plugs}` : undefined
}

function portInfo(path: string) {
  return {
    path,
    manufacturer: 'simulated',
    serialNumber: undefined,
    pnpId: undefined,
    locationId: undefined,
    vendorId: undefined,
    productId: undefined,
  }
}
