/**
 * The simulation behind the ports whose configured path is `simulated`: one wire a port, named by the port's id,
 * with the device types' own simulators at its far end.
 */
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { LineSettings } from '../port/request.ts'
import { createSimulatedBinding, type SimulatedBinding } from './binding.ts'
import { ExecutionLog } from './execution-log.ts'
import { type AttachedSimulators, attachSimulators, type SimulatedDevice } from './host.ts'
import type { SimulatedWire, WireOptions } from './wire.ts'

export interface SimulationOptions {
  readonly clock: Clock
  readonly log: Log
  /** How many executions the log keeps at least. */
  readonly executionsMax?: number
}

export interface Simulation {
  /** Opens the port whose id is given as the path. */
  readonly binding: SimulatedBinding
  /** What the devices really did. */
  readonly log: ExecutionLog
  /**
   * Puts the devices behind the port, instead of those that are there. The wire stays, and so does its opening;
   * `options` count where it is new.
   */
  plug(
    portId: string,
    settings: LineSettings,
    devices: readonly SimulatedDevice[],
    options?: Omit<WireOptions, 'clock' | 'settings'>,
  ): AttachedSimulators
  /** Takes the port's wire away, and its devices. */
  remove(portId: string): void
  wire(portId: string): SimulatedWire | undefined
}

export function createSimulation(options: SimulationOptions): Simulation {
  const { clock, log, executionsMax } = options
  const beganAt = clock.now()
  const binding = createSimulatedBinding({ clock })
  const executionLog = new ExecutionLog(executionsMax === undefined ? {} : { executionsMax })
  const attached = new Map<string, AttachedSimulators>()
  const detach = (portId: string) => {
    attached.get(portId)?.detach()
    attached.delete(portId)
  }
  return {
    binding,
    log: executionLog,
    plug: (portId, settings, devices, wireOptions) => {
      detach(portId)
      const wire = binding.wire(portId) ?? binding.addWire(portId, { ...wireOptions, settings })
      wire.settings = settings
      const simulators = attachSimulators(wire, devices, {
        log: executionLog,
        beganAt,
        onFault: (device, thrown) =>
          log.error(
            { port: portId, device, err: thrown },
            `the simulator of ${device} failed: ${messageOf(thrown)}`,
          ),
      })
      attached.set(portId, simulators)
      return simulators
    },
    remove: (portId) => {
      detach(portId)
      binding.removeWire(portId)
    },
    wire: (portId) => binding.wire(portId),
  }
}
