/** The keys that every configured device has, whatever its type. */
import Type from 'typebox'
import { ID, ID_LENGTH_MAX, PLAIN_TEXT, POLL, TOOL_NAME } from './notation.ts'
import { PortKeys } from './port-keys.ts'

/** Bounds of a device's times; they are there to catch a slip, not to be reached. */
const LINE_TIME_MAX_MS = 600_000
const NAME_LENGTH_MAX = 100

/** Tries after the first one that reads and sets may have; `act` has none. */
export const RETRIES_MAX = { read: 2, set: 1, act: 0 } as const

export interface StopCommand {
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

const StopEntry = Type.Unsafe<string | StopCommand>({
  type: ['string', 'object'],
  description: 'The command of a tool of this device, or the tool with its arguments.',
  if: { type: 'string' },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { pattern: TOOL_NAME.pattern },
  else: {
    properties: {
      tool: {
        type: 'string',
        pattern: TOOL_NAME.pattern,
        description: 'The command of a tool of this device.',
      },
      arguments: { type: 'object', description: 'The arguments of the tool.' },
    },
    required: ['tool'],
    additionalProperties: false,
  },
})

export const DeviceKeys = Type.Object({
  id: Type.String({
    pattern: ID.pattern,
    maxLength: ID_LENGTH_MAX,
    description:
      'The name of the device in tools, topics and paths: lower-case words joined by underscores, at most 31 characters.',
    examples: ['office_co2'],
  }),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_LENGTH_MAX,
      pattern: PLAIN_TEXT.pattern,
      description: 'The name that people see. Default: the id in words.',
    }),
  ),
  area: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_LENGTH_MAX,
      pattern: PLAIN_TEXT.pattern,
      description: 'The room or part of the house.',
    }),
  ),
  type: Type.String({ description: 'The device type; `baudway types` lists them.' }),
  port: Type.Unsafe<string | PortKeys>({
    type: ['string', 'object'],
    description:
      'The name of an entry of `ports`, or a port that this device has for itself and that is called after it.',
    if: { type: 'object' },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: PortKeys,
    else: { minLength: 1 },
  }),
  enabled: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether the device is there to be used. Default: true.' }),
  ),
  poll: Type.Optional(
    Type.String({
      pattern: POLL.pattern,
      description:
        'How often the readings are polled, or `off` for never. Default: the device type’s interval.',
      examples: ['10s', '1m', 'off'],
    }),
  ),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LINE_TIME_MAX_MS,
      description: 'How long a reply may take, counted from the first byte sent. Default: the device type’s.',
    }),
  ),
  replyLatencyMaxMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LINE_TIME_MAX_MS,
      description:
        'How late a reply may still come after a timeout; never below timeoutMs. Default: the device type’s, else 2 × timeoutMs + 1000.',
    }),
  ),
  gapMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LINE_TIME_MAX_MS,
      description: 'Silence on the line before a request. Default: the device type’s.',
    }),
  ),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: RETRIES_MAX.read,
      default: 0,
      description:
        'Further tries after a timeout: reads at most 2, sets at most 1 whatever stands here, anything else never. Default: 0.',
    }),
  ),
  stop: Type.Optional(
    Type.Array(StopEntry, {
      maxItems: 32,
      description: 'Tools of this device that an emergency stop runs, in this order.',
    }),
  ),
})

export type DeviceKeys = Type.Static<typeof DeviceKeys>

/** The names of the common keys; a device type's own keys are all others. */
export const DEVICE_KEY_NAMES: ReadonlySet<string> = new Set(Object.keys(DeviceKeys.properties))
