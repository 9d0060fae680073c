/** Raw sends, releases, types and the configuration as JSON Schemas. */
import { Type } from 'typebox'
import { RELEASE_MAX_MS } from '../../../limits.ts'
import { CallError, Outcome } from './call.ts'
import { anyObject, nullable, strict } from './parts.ts'
import { Effect } from './status.ts'

export const SEND_BYTES_MAX = 1_024
const SEND_WAIT_MAX_MS = 10_000
export const SEND_WAIT_DEFAULT_MS = 1_000

export const SendBody = Type.Object(
  {
    hex: Type.Optional(
      Type.String({
        // Two digits a byte, and at most one space between two bytes.
        maxLength: 3 * SEND_BYTES_MAX,
        pattern: '^[0-9A-Fa-f]{2}(?: ?[0-9A-Fa-f]{2})*$',
        description: 'The bytes as pairs of hexadecimal digits, with or without a space between them',
      }),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: SEND_BYTES_MAX,
        description: 'The bytes as text, sent in UTF-8 exactly as it is: no line end is added',
      }),
    ),
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SEND_WAIT_MAX_MS,
        description: `How long to listen for the answer. Left out: ${SEND_WAIT_DEFAULT_MS}`,
      }),
    ),
  },
  { ...strict, title: 'SendRequest', description: 'Exactly one of hex and text' },
)

export const SendResult = Type.Object(
  {
    outcome: Outcome,
    error: Type.Optional(CallError),
    received: Type.Object(
      { hex: Type.String(), text: Type.String() },
      { description: 'What came while it listened, whosever it was' },
    ),
  },
  { title: 'SendResult' },
)

export const ReleaseBody = Type.Object(
  {
    forMs: Type.Integer({
      minimum: 1,
      maximum: RELEASE_MAX_MS,
      description: 'How long the port stays closed',
    }),
  },
  { ...strict, title: 'ReleaseRequest' },
)

const TypeView = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    description: nullable(Type.String()),
    addressed: Type.Boolean({ description: 'Several of them may share a line' }),
    toolsConfigured: Type.Boolean({ description: 'Its tools are written in the configuration' }),
    grade: nullable(Type.Enum(['bronze', 'silver', 'gold', 'platinum'])),
    uart: anyObject({ description: 'Default line settings' }),
    options: anyObject({ description: "JSON Schema of the type's own keys" }),
    tools: Type.Array(
      Type.Object({
        command: Type.String(),
        title: Type.String(),
        description: Type.String(),
        effect: Effect,
        dangerous: Type.Boolean(),
      }),
    ),
    readings: Type.Array(Type.Object({ field: Type.String(), unit: nullable(Type.String()) })),
  },
  { title: 'DeviceType' },
)
export const TypeList = Type.Object({ types: Type.Array(TypeView) }, { title: 'DeviceTypeList' })

export const ConfigurationBody = Type.Object(
  { text: Type.String({ description: 'The whole file, in YAML' }) },
  { ...strict, title: 'ConfigurationRequest' },
)

export const ConfigurationText = Type.Object(
  { text: Type.String(), path: Type.String(), version: Type.String({ description: 'The ETag' }) },
  { title: 'Configuration' },
)

const Faults = Type.Array(
  Type.Object(
    {
      message: Type.String(),
      hint: Type.Optional(Type.String()),
      pointer: Type.String({ description: 'JSON pointer' }),
      file: Type.Optional(Type.String()),
      line: Type.Optional(Type.Integer()),
      column: Type.Optional(Type.Integer()),
    },
    { title: 'ConfigurationFault' },
  ),
)
const REPORT = { valid: Type.Boolean(), faults: Faults, warnings: Faults }
export const ConfigurationReport = Type.Object(REPORT, { title: 'ConfigurationReport' })

const ids = () => Type.Array(Type.String())
const ChangedIds = Type.Object(
  { added: ids(), changed: ids(), removed: ids(), untouched: ids() },
  { title: 'ChangedIds' },
)
export const ReloadReport = Type.Object(
  {
    ...REPORT,
    applied: Type.Boolean(),
    ports: ChangedIds,
    devices: ChangedIds,
    needsRestart: Type.Array(Type.String(), { description: 'Keys that count from the next start on' }),
  },
  { title: 'ReloadReport' },
)
