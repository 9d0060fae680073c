/**
 * The public library: a gateway inside an agent or a test.
 *
 * ```ts
 * const gateway = await createGateway({ config: {}, tools: [defineTool({ … })] })
 * const { results } = await gateway.batch([{ name: 'read_log' }], { policy: 'partition' })
 * ```
 */
import type { Clock } from './clock.ts'
import { validateConfiguration } from './config/load.ts'
import { configurableTypes } from './configurable-types.ts'
import { loadTypes } from './driver/catalogue.ts'
import { Gateway } from './gateway.ts'
import type { Log } from './log.ts'
import type { BindingInterface } from './port/binding-interface.ts'
import type { DefinedTool } from './tool/define-tool.ts'

export type { Clock, Timer } from './clock.ts'
export type { Gateway } from './gateway.ts'
export type { Log } from './log.ts'
export type { Declaration, Policy } from './scheduler/declaration.ts'
export { partition } from './scheduler/policies.ts'
export {
  type MockAnswer,
  type MockDevice,
  type MockResponder,
  mockDevice,
} from './simulator/mock-device.ts'
export { type DefinedTool, defineTool, type ToolDefinition, type ToolRun } from './tool/define-tool.ts'
export type { OpenLane } from './tool/gate.ts'
export type {
  BatchOptions,
  BatchResponse,
  CallError,
  CallRequest,
  CallResult,
  PlanResponse,
  ToolView,
} from './tool/shapes.ts'

export interface GatewayOptions {
  /** As in the configuration file. `{}` is a gateway without devices; without `state` nothing is written. */
  readonly config: object
  /** Behind every port that is not `simulated`; default: the host's own serial ports. */
  readonly binding?: BindingInterface
  /** Default: the system's. */
  readonly clock?: Clock
  /** Default: says nothing. */
  readonly log?: Log
  readonly tools?: readonly DefinedTool[]
}

/**
 * Opens the ports of the configuration and starts to poll. Rejects with an error that names every fault of an
 * invalid configuration by its JSON pointer.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, binding, clock, log, tools } = options
  const { devicesDir } = config as { readonly devicesDir?: unknown }
  const types = await loadTypes(typeof devicesDir === 'string' ? devicesDir : undefined)
  const { configuration, faults } = validateConfiguration(config, configurableTypes(types))
  if (!configuration) {
    const named = faults.map(({ pointer, message, hint }) => {
      return `${pointer === '' ? '/' : pointer}: ${message}${hint === undefined ? '' : ` (${hint})`}`
    })
    throw new Error(`the configuration is not valid:\n${named.join('\n')}`)
  }
  return Gateway.start({ configuration, types, binding, clock, log, tools })
}
