/**
 * `defineDevice`: the easy form of a device type, checked when the file is loaded. Whatever is wrong here was
 * written by the author of the device file, so it is an assertion that names the type and the tool.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { assert } from '../errors.ts'
import type { Framing } from '../port/framing.ts'
import type { LineSettings } from '../port/request.ts'
import { type Command, toolOf } from './command.ts'
import type {
  BootSpec,
  DeviceDescription,
  DeviceSimulator,
  DeviceType,
  EventSpec,
  Example,
  IdentitySpec,
  LineTimes,
  OptionFault,
  PollSpec,
  PushedSpec,
  ReadingSpec,
  SimulatedWorld,
  ToolSpec,
} from './device-type.ts'

/** Lower-case words joined by single underscores. */
export const NAME_PATTERN = '^[a-z][a-z0-9]*(_[a-z0-9]+)*$'
/** With a device id of 31 characters and the two underscores between, a tool name then has at most 64. */
export const COMMAND_LENGTH_MAX = 31

/** A device of a type: what the file says once, or for each set of options. */
export interface DescriptionSpec {
  readonly framing: Framing
  readonly line: LineTimes
  readonly readings: Readonly<Record<string, ReadingSpec>>
  /** Tools with parameters are written as `command({ … })`, which types their arguments. */
  readonly tools: Readonly<Record<string, Command>>
  /** Settings of the line, where they differ by the options. */
  readonly uart?: Partial<LineSettings>
  readonly events?: readonly EventSpec[]
  readonly pushed?: PushedSpec
  readonly poll?: PollSpec
  readonly boot?: BootSpec
  readonly identity?: IdentitySpec
  simulator?(world: SimulatedWorld): DeviceSimulator
}

interface TypeSpec {
  readonly type: string
  readonly title: string
  readonly description?: string
  /** Settings of the line; the word `serial` only ever means concurrency. */
  readonly uart: Partial<LineSettings>
  /** Its commands never overlap: given to every `set` and `act` tool. */
  readonly serial: boolean
}

/** A type without options. */
export interface StaticDeviceSpec extends TypeSpec, Omit<DescriptionSpec, 'uart'> {
  readonly options?: never
  readonly describe?: never
  readonly toolsConfigured?: never
}

/** A type whose devices differ by what the configuration says of them. */
export interface ConfigurableDeviceSpec<O extends TObject> extends TypeSpec {
  readonly options: O
  readonly addressed?: boolean
  /** Its tools are written in the configuration: a `read` that declares nothing stays undeclared. */
  readonly toolsConfigured?: boolean
  readonly sample: Static<O>
  /** Vectors of the sample's tools, where the tools depend on the options and cannot carry their own. */
  readonly sampleExamples?: Readonly<Record<string, readonly Example[]>>
  faults?(options: Static<O>): readonly OptionFault[]
  describe(options: Static<O>): DescriptionSpec
}

export function defineDevice(spec: StaticDeviceSpec): DeviceType
export function defineDevice<O extends TObject>(spec: ConfigurableDeviceSpec<O>): DeviceType
export function defineDevice(spec: StaticDeviceSpec | ConfigurableDeviceSpec<TObject>): DeviceType {
  const { type } = spec
  assert(typeof type === 'string', 'device type: type is missing')
  assert(
    /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(type),
    `device type "${type}": not lower-case words and hyphens`,
  )
  requireKeys(`device type ${type}`, spec, TYPE_KEYS)
  const isConfigurable = CONFIGURABLE_KEYS.some((key) => key in spec)
  if (isConfigurable) requireKeys(`device type ${type}`, spec, CONFIGURABLE_KEYS)
  const shared = {
    type,
    title: spec.title,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    uart: spec.uart,
    serial: spec.serial,
  }
  if (spec.describe === undefined) {
    const { uart, ...parts } = spec
    const description = checked(spec, parts)
    const options: TObject<TProperties> = Type.Object({})
    return { ...shared, options, addressed: false, sample: {}, describe: () => description }
  }
  assert(
    !spec.addressed || 'address' in spec.options.properties,
    `device type ${type}: it is addressed, and its options have no address`,
  )
  checked(spec, spec.describe(spec.sample))
  return {
    ...shared,
    options: spec.options,
    addressed: spec.addressed ?? false,
    sample: spec.sample,
    sampleExamples: spec.sampleExamples ?? {},
    toolsConfigured: spec.toolsConfigured ?? false,
    faults: (options) => spec.faults?.(options) ?? [],
    describe: (options) => checked(spec, spec.describe(options)),
  }
}

/** The property of a result that may be null, in the plain form that every reader of schemas takes. */
export function nullable<T extends TSchema & { readonly type: string }>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })
}

function checked(
  spec: StaticDeviceSpec | ConfigurableDeviceSpec<TObject>,
  parts: DescriptionSpec,
): DeviceDescription {
  checkDescription(spec, parts)
  const { type, serial } = spec
  const configured = spec.toolsConfigured ?? false
  const tools: Record<string, ToolSpec> = {}
  for (const [name, command] of Object.entries(parts.tools)) {
    const where = `device type ${type}, tool ${name}`
    checkName(where, name)
    checkKeys(where, command)
    checkDeclaration(where, command, { serial, configured })
    tools[name] = toolOf(where, command, parts.framing, serial)
  }
  for (const field of Object.keys(parts.readings)) checkName(`device type ${type}, reading ${field}`, field)
  const { poll } = parts
  assert(!poll || tools[poll.tool], `device type ${type}: it polls ${poll?.tool}, and there is no such tool`)
  assert(!poll || tools[poll.tool]?.effect === 'read', `device type ${type}: a poll must only read`)
  const isPushed = Object.values(tools).some((tool) => tool.get !== undefined)
  assert(!isPushed || parts.pushed, `device type ${type}: a tool with "get" answers from what is "pushed"`)
  const { framing, line, readings, events, pushed, boot, identity, uart } = parts
  return {
    framing,
    line,
    readings,
    tools,
    ...(events === undefined ? {} : { events }),
    ...(pushed === undefined ? {} : { pushed }),
    ...(uart === undefined ? {} : { uart }),
    ...(poll === undefined ? {} : { poll }),
    ...(boot === undefined ? {} : { boot }),
    ...(identity === undefined ? {} : { identity }),
    ...(parts.simulator === undefined ? {} : { simulator: parts.simulator }),
  }
}

const TYPE_KEYS = ['title', 'uart', 'serial'] as const satisfies readonly (keyof TypeSpec)[]
/** Together: a type has all of them or none. */
const CONFIGURABLE_KEYS = ['options', 'sample', 'describe'] as const
const DESCRIPTION_KEYS = ['framing', 'line', 'readings', 'tools'] as const

/** Nobody checks the types of a device file in JavaScript, and vitest not even those in TypeScript. */
function requireKeys(where: string, given: object, keys: readonly string[], place = ''): void {
  const missing = keys.filter((key) => !(key in given) || given[key as keyof typeof given] === undefined)
  assert(
    missing.length === 0,
    `${where}: ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing${place}`,
  )
}

/** What `describe` gives stands nowhere else: beside it, it would never be looked at. */
function checkDescription(
  spec: StaticDeviceSpec | ConfigurableDeviceSpec<TObject>,
  parts: DescriptionSpec,
): void {
  const where = `device type ${spec.type}`
  const isDescribed = spec.describe !== undefined
  const misplaced = isDescribed ? DESCRIPTION_KEYS.filter((key) => key in spec) : []
  assert(
    misplaced.length === 0,
    `${where}: describe must return ${misplaced.join(', ')}, not stand beside it`,
  )
  assert(typeof parts === 'object' && parts !== null, `${where}: describe returns no object`)
  const place = isDescribed ? ' in what describe returns' : ''
  requireKeys(where, parts, DESCRIPTION_KEYS, place)
  requireKeys(where, parts.line, ['timeoutMs'], ' in line')
}

/** What a tool must say however it is written; and that it is written in one of the ways there are. */
function checkKeys(where: string, command: Command): void {
  requireKeys(where, command, ['description', 'effect'])
  const ways = ['request', 'exchange', 'run', 'get'].filter((way) => way in command)
  assert(ways.length > 0, `${where}: request, exchange, run or get is missing`)
  assert(ways.length === 1, `${where}: ${ways.join(' and ')} exclude each other`)
  if (command.request === undefined) return
  requireKeys(where, command, ['reply'])
  if (typeof command.reply === 'object')
    requireKeys(where, command.reply, ['startsWith', 'decode'], ' in reply')
  if (command.refusal) requireKeys(where, command.refusal, ['startsWith', 'verdict'], ' in refusal')
}

function checkName(where: string, name: string): void {
  assert(new RegExp(NAME_PATTERN).test(name), `${where}: a name is lower-case words joined by underscores`)
}

function checkDeclaration(
  where: string,
  command: Command,
  type: { readonly serial: boolean; readonly configured: boolean },
): void {
  const { effect, serial, parallelSafe } = command
  if (effect === 'read') {
    const declared = serial === true || parallelSafe !== undefined
    assert(declared || type.configured, `${where}: a read says "parallelSafe: true" or "serial: true"`)
    return
  }
  assert(command.get === undefined, `${where}: what answers from pushed fields is a read`)
  assert(type.serial || serial === true, `${where}: what changes something is "serial: true"`)
  assert(
    type.configured || parallelSafe === undefined || parallelSafe === false,
    `${where}: what changes something is not parallel-safe`,
  )
}
