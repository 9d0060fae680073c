/**
 * The schema of the whole file: what the loader checks and what editors complete from is made by one function.
 * Unknown keys are errors at every level.
 */
import Type, { type Static } from 'typebox'
import { assert } from '../errors.ts'
import { CALLS_MAX, QUEUE_LENGTH_DEFAULT } from '../limits.ts'
import type { ConfigurableType, ConfigurableTypes } from './configurable-type.ts'
import { DEVICE_KEY_NAMES, DeviceKeys } from './device-keys.ts'
import {
  BROKER_URL,
  HOST_NAME,
  ID,
  ID_LENGTH_MAX,
  MCP_PATH,
  NODE_NAME,
  ORIGIN,
  PLAIN_TEXT,
  RETENTION,
  SIZE,
  TOOL_PATTERN,
} from './notation.ts'
import { PortKeys } from './port-keys.ts'
import { type Secret, secretSchema } from './secret.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

export const DEFAULT_HOST = '127.0.0.1'
export const DEFAULT_PORT = 7373
export const DEFAULT_POLICY = 'partition'

const PATH_LENGTH_MAX = 4096
const LIST_LENGTH_MAX = 100
const closed = { additionalProperties: false }

const HttpKeys = Type.Object(
  {
    host: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        pattern: PLAIN_TEXT.pattern,
        default: DEFAULT_HOST,
        description: 'The address to listen on. Default: 127.0.0.1, this machine only.',
      }),
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        default: DEFAULT_PORT,
        description: 'The TCP port to listen on; 0 takes a free one. Default: 7373.',
      }),
    ),
    allowedHosts: Type.Optional(
      Type.Array(Type.String({ pattern: HOST_NAME.pattern, maxLength: 253 }), {
        maxItems: LIST_LENGTH_MAX,
        description:
          'Further host names under which the gateway is asked (a reverse proxy, an mDNS name), without port.',
        examples: [['baudway.local']],
      }),
    ),
    allowedOrigins: Type.Optional(
      Type.Array(Type.String({ pattern: ORIGIN.pattern, maxLength: 300 }), {
        maxItems: LIST_LENGTH_MAX,
        description: 'Web origins whose pages may use the gateway, as scheme://host:port.',
      }),
    ),
  },
  { ...closed, description: 'The HTTP interface.' },
)

const SchedulerKeys = Type.Object(
  {
    policy: Type.Optional(
      Type.Enum(['partition', 'batch', 'resource'], {
        default: DEFAULT_POLICY,
        description:
          'Which calls of one batch may run together, unless the batch says otherwise. Default: partition.',
      }),
    ),
    queueLength: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CALLS_MAX,
        default: QUEUE_LENGTH_DEFAULT,
        description:
          'Calls that may wait for one port, polls not counted; a further one is refused. Default: 256.',
      }),
    ),
  },
  { ...closed, description: 'When calls run.' },
)

const InterlockKeys = Type.Object(
  {
    tool: Type.String({
      pattern: TOOL_PATTERN.pattern,
      description: 'The tool, or tools, that the rule holds back; * stands for any characters.',
      examples: ['pump__*'],
    }),
    minimumGapMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400_000,
        description: 'The least time between two runs. Without it the tool never runs.',
      }),
    ),
  },
  { ...closed, description: 'A rule that holds whatever a caller says.' },
)

const MqttKeys = Type.Object(
  {
    url: Type.String({
      pattern: BROKER_URL.pattern,
      maxLength: 1000,
      description: 'The broker.',
      // By mistake it may hold a password.
      writeOnly: true,
      examples: ['mqtt://127.0.0.1:1883'],
    }),
    node: Type.Optional(
      Type.String({
        pattern: NODE_NAME.pattern,
        maxLength: 16,
        description: 'The name of this gateway in topics, at most 16 characters. Default: the host name.',
      }),
    ),
    home: Type.Optional(
      Type.Boolean({ description: 'Offers the tools of all gateways on this broker. Default: false.' }),
    ),
    username: Type.Optional(Type.Unsafe<Secret>(secretSchema('The user name at the broker.'))),
    password: Type.Optional(Type.Unsafe<Secret>(secretSchema('The password at the broker.'))),
  },
  { ...closed, description: 'The connection to an MQTT broker and Home Assistant.' },
)

const retention = (description: string) =>
  Type.Optional(Type.String({ pattern: RETENTION.pattern, description, examples: ['7d', 'forever'] }))

const HistoryKeys = Type.Object(
  {
    keepRaw: retention('How long every reading is kept.'),
    keep5min: retention('How long the five-minute means are kept.'),
    keepHourly: retention('How long the hourly means are kept.'),
    maxSize: Type.Optional(
      Type.String({
        pattern: SIZE.pattern,
        description: 'The most room that the history takes on disk.',
        examples: ['2GB'],
      }),
    ),
  },
  { ...closed, description: 'How long readings are kept.' },
)

const McpKeys = Type.Object(
  {
    paths: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path: Type.Unsafe<Secret>(
              secretSchema('The secret path: /mcp/ and 32 random bytes.', { pattern: MCP_PATH.pattern }),
            ),
            token: Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'The name of the token that it stands for.',
            }),
          },
          closed,
        ),
        {
          maxItems: LIST_LENGTH_MAX,
          description: 'Paths for MCP hosts that cannot send a header. Whoever knows one has its token.',
        },
      ),
    ),
  },
  { ...closed, description: 'The Model Context Protocol interface.' },
)

const FileKeys = Type.Object(
  {
    http: Type.Optional(HttpKeys),
    state: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: PATH_LENGTH_MAX,
        pattern: PLAIN_TEXT.pattern,
        description: 'The directory of everything that is kept. Default: $STATE_DIRECTORY, else ./.baudway.',
        examples: ['/var/lib/baudway'],
      }),
    ),
    devicesDir: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: PATH_LENGTH_MAX,
        pattern: PLAIN_TEXT.pattern,
        description: 'A directory of device types of your own, beside those of the catalogue.',
      }),
    ),
    scheduler: Type.Optional(SchedulerKeys),
    ports: Type.Optional(
      Type.Unsafe<Readonly<Record<string, PortKeys>>>({
        type: 'object',
        description:
          'The serial lines by name. A line that one device has for itself can stand in that device.',
        propertyNames: { pattern: ID.pattern, maxLength: ID_LENGTH_MAX },
        additionalProperties: PortKeys,
      }),
    ),
    devices: Type.Optional(
      Type.Array(Type.Unsafe<DeviceKeys>({}), { description: 'The devices, each on a port.' }),
    ),
    never: Type.Optional(
      Type.Array(InterlockKeys, {
        maxItems: 1000,
        description: 'Interlocks: what must not be done, whatever a caller says.',
      }),
    ),
    mqtt: Type.Optional(MqttKeys),
    history: Type.Optional(HistoryKeys),
    mcp: Type.Optional(McpKeys),
  },
  closed,
)

/** A configuration as it is written, once it has no faults. */
export type ConfigurationKeys = Static<typeof FileKeys>
export type MqttSection = Static<typeof MqttKeys>
export type HistorySection = Static<typeof HistoryKeys>
export type McpSection = Static<typeof McpKeys>

/**
 * The JSON Schema (draft 2020-12) of a configuration with devices of these types. The keys of a device depend on
 * its type by `if` and `then`: an editor then completes and explains the keys of that type alone, where `oneOf`
 * would offer those of all types and blame all of them.
 */
export function jsonSchema(types: ConfigurableTypes): JsonSchema {
  const device = {
    type: 'object',
    description: 'A device: what it is, on which port, and how it is treated.',
    properties: {
      ...DeviceKeys.properties,
      // A choice of nothing is no valid schema.
      type: { ...DeviceKeys.properties.type, ...(types.size > 0 ? { enum: [...types.keys()].sort() } : {}) },
    },
    required: DeviceKeys.required,
    allOf: [...types.values()].map(keysOfType),
  }
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Baudway configuration',
    ...FileKeys,
    properties: {
      ...FileKeys.properties,
      devices: { ...FileKeys.properties.devices, items: device },
    },
  }
  // Plain data: TypeBox hides marks of its own in its objects.
  return JSON.parse(JSON.stringify(whole))
}

/** The text of the published file. */
export function jsonSchemaText(types: ConfigurableTypes): string {
  return `${JSON.stringify(jsonSchema(types), null, 2)}\n`
}

function keysOfType({ type, title, options }: ConfigurableType): JsonSchema {
  const { type: _, properties, additionalProperties = false, ...rest } = closeObjects(options)
  const own = (properties ?? {}) as JsonSchema
  for (const key of Object.keys(own)) {
    assert(!DEVICE_KEY_NAMES.has(key), `device type ${type}: the key "${key}" belongs to every device`)
  }
  const common = Object.fromEntries([...DEVICE_KEY_NAMES].map((key) => [key, true]))
  return {
    if: { properties: { type: { const: type } }, required: ['type'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: {
      title,
      ...rest,
      properties: { ...common, ...own },
      additionalProperties,
    },
  }
}

/** Keywords whose value is a schema, a list of schemas or schemas by name, and which do not compose one object. */
const NESTED = ['items', 'additionalProperties', 'anyOf', 'oneOf', 'prefixItems'] as const
const NESTED_BY_NAME = ['properties', 'patternProperties'] as const

/**
 * The same schema, its objects closed: an unknown key is an error at any depth. What is composed by `allOf` stays
 * open, since each part of it sees the keys of the others.
 */
function closeObjects(schema: JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema }
  for (const keyword of NESTED) {
    if (keyword in copy) copy[keyword] = closeNested(copy[keyword])
  }
  for (const keyword of NESTED_BY_NAME) {
    const named = copy[keyword]
    if (typeof named !== 'object' || named === null) continue
    copy[keyword] = Object.fromEntries(
      Object.entries(named).map(([name, value]) => [name, closeNested(value)]),
    )
  }
  if ('properties' in copy && !('allOf' in copy)) copy.additionalProperties ??= false
  return copy
}

function closeNested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeNested)
  return typeof value === 'object' && value !== null ? closeObjects(value as JsonSchema) : value
}
