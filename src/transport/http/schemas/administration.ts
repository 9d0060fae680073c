/** Raw sends, releases, types and the configuration as JSON Schemas. */
import { Type } from 'typebox'
import { RELEASE_MAX_MS } from '../../../limits.ts'
import { CallError, Outcome } from './call.ts'
import { anyObject, choice, flag, nullable, strict, text } from './parts.ts'
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
  {
    ...strict,
    title: 'SendRequest',
    description: 'Exactly one of hex and text',
    examples: [{ hex: 'ff 01 86 00 00 00 00 00 79', waitMs: 500 }],
  },
)

export const SendResult = Type.Object(
  {
    outcome: Outcome,
    error: Type.Optional(CallError),
    received: Type.Object(
      {
        hex: text('The bytes as pairs of hexadecimal digits'),
        text: text('Printable ASCII; anything else is a dot'),
      },
      { title: 'ReceivedBytes', description: 'What came while it listened, whosever it was' },
    ),
  },
  { title: 'SendResult', description: 'What became of raw bytes' },
)

export const ReleaseBody = Type.Object(
  {
    forMs: Type.Integer({
      minimum: 1,
      maximum: RELEASE_MAX_MS,
      description: 'How long the port stays closed',
    }),
  },
  {
    ...strict,
    title: 'ReleaseRequest',
    description: 'For how long a port is given up',
    examples: [{ forMs: 600_000 }],
  },
)

const TypeTool = Type.Object(
  {
    command: text('The name of the tool behind that of its device'),
    title: text('A short name for people'),
    description: text('What it does, for a person or a model'),
    effect: Effect,
    dangerous: flag('It needs a confirmation'),
  },
  { title: 'DeviceTypeTool', description: 'A tool that every device of the type has' },
)

const TypeReading = Type.Object(
  { field: text('The name of the reading'), unit: nullable(Type.String(), 'Null: it has none') },
  { title: 'DeviceTypeReading', description: 'A value that every device of the type has' },
)

const TypeView = Type.Object(
  {
    type: text('Its name, as a configuration has it'),
    title: text('What it is, in a few words'),
    description: nullable(Type.String(), 'More of it, if there is more to say'),
    addressed: flag('Several of them may share a line'),
    toolsConfigured: flag('Its tools are written in the configuration'),
    grade: nullable(choice(['bronze', 'silver', 'gold', 'platinum']), 'How well it is tested'),
    uart: anyObject({ description: 'Default line settings' }),
    options: anyObject({ description: "JSON Schema of the type's own keys" }),
    tools: Type.Array(TypeTool, {
      description: 'Its tools, as far as they do not depend on a configuration',
    }),
    readings: Type.Array(TypeReading, {
      description: 'Its readings, as far as they do not depend on a configuration',
    }),
  },
  { title: 'DeviceType', description: 'A kind of device that the gateway knows' },
)
export const TypeList = Type.Object(
  { types: Type.Array(TypeView, { description: 'The whole catalogue' }) },
  { title: 'DeviceTypeList', description: 'The device types' },
)

export const ConfigurationBody = Type.Object(
  { text: text('The whole file, in YAML') },
  {
    ...strict,
    title: 'ConfigurationRequest',
    description: 'A configuration that is checked or written',
    examples: [
      { text: 'devices:\n  - { id: office_co2, type: mh-z19, port: { path: /dev/ttyAMA0 }, poll: 30s }\n' },
    ],
  },
)

export const ConfigurationText = Type.Object(
  {
    text: text('The whole file, in YAML'),
    path: text('Where the file is'),
    version: text('It changes with every change of the text; the ETag of the response'),
  },
  { title: 'Configuration', description: 'The configuration file' },
)

const Faults = (description: string) =>
  Type.Array(
    Type.Object(
      {
        message: text('What is wrong'),
        hint: Type.Optional(text('What to do about it')),
        pointer: text('JSON pointer to the place'),
        file: Type.Optional(text('The file that it stands in')),
        line: Type.Optional(Type.Integer({ minimum: 1, description: 'Its line in the file' })),
        column: Type.Optional(Type.Integer({ minimum: 1, description: 'Its column in that line' })),
      },
      { title: 'ConfigurationFault', description: 'One fault of a configuration' },
    ),
    { description },
  )
const REPORT = {
  valid: flag('It could be applied'),
  faults: Faults('What keeps it from being applied'),
  warnings: Faults('What looks wrong or unsafe, and is taken all the same'),
}
export const ConfigurationReport = Type.Object(REPORT, {
  title: 'ConfigurationReport',
  description: 'What is to be said of a configuration',
})

const ids = (description: string) => Type.Array(Type.String(), { description })
const ChangedIds = Type.Object(
  {
    added: ids('New'),
    changed: ids('There before and after, with other settings'),
    removed: ids('Gone'),
    untouched: ids('As before, and never interrupted'),
  },
  { title: 'ChangedIds', description: 'Ids of ports or of devices, by what a reload did to them' },
)
export const ReloadReport = Type.Object(
  {
    ...REPORT,
    applied: flag('It is in force now'),
    ports: ChangedIds,
    devices: ChangedIds,
    needsRestart: ids('Keys that count from the next start on'),
  },
  { title: 'ReloadReport', description: 'What a reload changed' },
)
