/** Small device types, in the shapes that real ones have. */
import type {
  ConfigurableType,
  ConfigurableTypes,
  ConfiguredTool,
} from '../../src/config/configurable-type.ts'

const tool = (command: string, effect: ConfiguredTool['effect']): ConfiguredTool => ({ command, effect })

const meter: ConfigurableType = {
  type: 'meter',
  title: 'A meter on a Modbus bus',
  options: {
    type: 'object',
    properties: {
      address: { type: 'integer', minimum: 1, maximum: 247 },
      model: { anyOf: [{ const: 'sdm120' }, { const: 'sdm630' }] },
    },
    required: ['address'],
  },
  addressed: true,
  uart: { baudRate: 9600, parity: 'none' },
  framingKey: () => 'modbus-rtu',
  tools: () => [tool('read_energy', 'read'), tool('set_backlight', 'set')],
  timeoutMs: () => 1000,
}

const relay: ConfigurableType = {
  type: 'relay',
  title: 'Relays on a Modbus bus',
  options: {
    type: 'object',
    properties: {
      address: { type: 'integer', minimum: 1, maximum: 247 },
      // Not closed by itself: the loader closes it.
      relays: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, off: { type: 'boolean' } },
          required: ['name'],
        },
      },
    },
    required: ['address'],
  },
  addressed: true,
  uart: { baudRate: 19200 },
  framingKey: () => 'modbus-rtu',
  tools: () => [tool('set_relay', 'set'), tool('pulse_relay', 'act')],
}

const co2: ConfigurableType = {
  type: 'co2',
  title: 'A sensor alone on its line',
  options: { type: 'object', properties: {} },
  addressed: false,
  uart: { baudRate: 9600 },
  framingKey: () => 'co2',
  tools: () => [tool('read_co2', 'read'), tool('calibrate_zero', 'act')],
  timeoutMs: () => 1000,
}

const horn: ConfigurableType = {
  type: 'horn',
  title: 'A horn with addresses and frames of its own',
  options: {
    type: 'object',
    properties: { address: { type: 'string', minLength: 1 } },
    required: ['address'],
  },
  addressed: true,
  uart: {},
  framingKey: () => 'lines',
  tools: () => [tool('sound', 'act')],
}

/** Its tools are written in the configuration, as those of a generic type are. */
const text: ConfigurableType = {
  type: 'text',
  title: 'Lines of text',
  options: {
    type: 'object',
    properties: {
      boot: { type: 'object' },
      identity: { type: 'object' },
      tools: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: { command: { type: 'string', minLength: 1 }, effect: { enum: ['read', 'set', 'act'] } },
          required: ['command', 'effect'],
        },
      },
    },
    required: ['tools'],
  },
  addressed: false,
  uart: {},
  faults: ({ tools }) =>
    Object.entries(tools as Record<string, { command: string; effect: string }>).flatMap(
      ([name, { command, effect }]) => [
        ...(command === 'BAD' ? [{ field: `/tools/${name}/command`, message: 'this command is bad' }] : []),
        ...(effect === 'read'
          ? [
              {
                field: `/tools/${name}`,
                message: 'say parallelSafe: true if it is',
                severity: 'warning' as const,
              },
            ]
          : []),
      ],
    ),
  tools: ({ tools }) => Object.keys(tools as object).map((name) => tool(name, 'set')),
}

const broken: ConfigurableType = {
  type: 'broken',
  title: 'A type with a mistake in it',
  options: { type: 'object', properties: {} },
  addressed: false,
  uart: {},
  framingKey: () => {
    throw new Error('no frame today')
  },
}

export const fakeTypes: ConfigurableTypes = new Map(
  [meter, relay, co2, horn, text, broken].map((type) => [type.type, type]),
)
