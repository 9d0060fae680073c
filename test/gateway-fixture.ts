/** A whole gateway on a virtual clock, its ports on simulated wires that a test holds the far end of. */
import { validateConfiguration } from '../src/config/load.ts'
import { configurableTypes } from '../src/configurable-types.ts'
import { loadCatalogue } from '../src/driver/catalogue.ts'
import { Gateway } from '../src/gateway.ts'
import { createSimulatedBinding, type SimulatedBinding } from '../src/simulator/binding.ts'
import type { SimulatedWire } from '../src/simulator/wire.ts'
import type { DefinedTool } from '../src/tool/define-tool.ts'
import { ScriptedDevice } from './port/fixture.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface GatewayBench {
  readonly clock: VirtualClock
  readonly gateway: Gateway
  readonly binding: SimulatedBinding
  wire(path: string): SimulatedWire
  device(path: string): ScriptedDevice
}

/** Every port of the configuration has a path of its own, and a scripted device behind it. */
export async function gatewayBench(
  config: object,
  options: { tools?: readonly DefinedTool[]; seed?: number; file?: string } = {},
): Promise<GatewayBench> {
  const clock = new VirtualClock({ seed: options.seed ?? 1 })
  const types = await loadCatalogue()
  const { configuration, faults } = validateConfiguration(unpolled(config), configurableTypes(types))
  if (!configuration) throw new Error(JSON.stringify(faults))
  const binding = createSimulatedBinding({ clock })
  const devices = new Map<string, ScriptedDevice>()
  for (const { path, settings } of configuration.ports) {
    devices.set(path, new ScriptedDevice(binding.addWire(path, { settings }), clock))
  }
  const gateway = await Gateway.start({
    configuration,
    file: options.file === undefined ? undefined : { path: options.file, configuration },
    types,
    binding,
    host: binding.host,
    clock,
    tools: options.tools,
  })
  await clock.advance(1)
  return {
    clock,
    gateway,
    binding,
    wire: (path) => there(binding.wire(path)),
    device: (path) => there(devices.get(path)),
  }
}

/** The only requests are those of the test, unless it wants polls. */
function unpolled(config: object): object {
  const { devices } = config as { readonly devices?: readonly object[] }
  return devices ? { ...config, devices: devices.map((device) => ({ poll: 'off', ...device })) } : config
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no such path')
  return value
}
