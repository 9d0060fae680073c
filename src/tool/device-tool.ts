/** The commands of a device as tools. */

import type { ToolSpec } from '../driver/device-type.ts'
import type { DeviceDriver } from '../driver/driver.ts'
import { declaredAs } from '../scheduler/declaration.ts'
import { closed } from './define-tool.ts'
import type { JsonSchema, Tool } from './tool.ts'

const NOTHING: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

/** One tool for each command; `serialType`: the commands of the type's `set` and `act` tools never overlap. */
export function deviceTools(driver: DeviceDriver, serialType: boolean): Tool[] {
  return Object.entries(driver.description.tools).map(([command, spec]) =>
    deviceTool(driver, command, spec, serialType),
  )
}

function deviceTool(driver: DeviceDriver, command: string, spec: ToolSpec, serialType: boolean): Tool {
  const port = driver.port.id
  const serial = spec.serial === true || (serialType && spec.effect !== 'read')
  const parallelSafe = spec.parallelSafe ?? false
  return {
    name: `${driver.id}__${command}`,
    device: driver.id,
    command,
    title: spec.title ?? titleOf(command),
    description: spec.description,
    parameters: closed(spec.parameters) ?? NOTHING,
    returns: (spec.returns as JsonSchema | undefined) ?? { type: 'object', properties: {} },
    effect: spec.effect,
    dangerous: spec.dangerous ?? false,
    timeoutMs: driver.timeoutMs(spec),
    claims: [
      ...(spec.get ? [] : [{ resource: `port:${port}`, mode: 'exclusive' } as const]),
      ...(spec.claims ?? []),
    ],
    ports: spec.get ? [] : [port],
    ...(spec.because === undefined ? {} : { because: spec.because }),
    serial,
    parallelSafe,
    declared: declaredAs({ effect: spec.effect, serial, parallelSafe }),
    refusal: () => driver.refusal(command),
    prepare: (args) => driver.prepare(command, args),
  }
}

/** `read_co2` is shown as "Read co2". */
function titleOf(command: string): string {
  const words = command.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
