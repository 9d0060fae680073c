/** What the configuration needs to know of the device types, taken from the types themselves. */
import type { ConfigurableType, ConfigurableTypes } from './config/configurable-type.ts'
import { parseDuration } from './config/notation.ts'
import type { DeviceType } from './driver/device-type.ts'

export function configurableTypes(types: ReadonlyMap<string, DeviceType>): ConfigurableTypes {
  return new Map(Array.from(types, ([name, type]) => [name, configurable(type)]))
}

function configurable(type: DeviceType): ConfigurableType {
  const { faults } = type
  return {
    type: type.type,
    title: type.title,
    options: type.options as unknown as ConfigurableType['options'],
    addressed: type.addressed,
    uart: type.uart,
    uartOf: (options) => type.describe(options).uart ?? {},
    ...(faults === undefined ? {} : { faults }),
    framingKey: (options) => type.describe(options).framing.key,
    tools: (options) =>
      Object.entries(type.describe(options).tools).map(([command, { effect }]) => ({ command, effect })),
    timeoutMs: (options) => type.describe(options).line.timeoutMs,
    pollMs: (options) => {
      const { poll } = type.describe(options)
      return poll && parseDuration(poll.every)
    },
  }
}
