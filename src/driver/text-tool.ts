/** A tool made of a command of text and the patterns of its replies, as a configuration writes it. */
import { type TProperties, Type } from 'typebox'
import { type Effect, GatewayError } from '../errors.ts'
import { LINE_BYTES_MAX } from '../limits.ts'
import { ANY_SHAPE } from '../port/reply.ts'
import type { Claim } from './claim.ts'
import { type Command, command } from './command.ts'
import type { Correlation, Exchange, ReadBack } from './device-type.ts'
import { exchangeOf, type FrameKind, refused, unanswered, uncorrelated, value } from './exchange.ts'
import { bindingsOf, textCommand } from './text-command.ts'
import { type FieldType, type FieldValue, fieldOf, fieldSchema, fieldsOf } from './text-field.ts'
import { type Bindings, type TextPattern, textOf, usablePattern } from './text-pattern.ts'

export interface TextParameter {
  readonly type: FieldType
  readonly description?: string
  readonly enum?: readonly (string | number)[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
}

export interface TextToolSpec {
  readonly title?: string
  readonly description?: string
  readonly command: string
  readonly parameters?: Readonly<Record<string, TextParameter>>
  /** A pattern, or `none`: no acknowledgement by design. */
  readonly reply: string
  readonly refuse?: string
  readonly returns?: Readonly<Record<string, FieldType>>
  readonly readBack?: { readonly tool: string; readonly expect: Readonly<Record<string, FieldValue>> }
  readonly dangerous?: boolean
  readonly because?: string
  readonly claims?: readonly Claim[]
  readonly timeoutMs?: number
  readonly correlates?: Correlation
  readonly effect: Effect
  readonly serial?: boolean
  readonly parallelSafe?: boolean
}

export type TextTools = Readonly<Record<string, TextToolSpec>>
type Fields = Readonly<Record<string, FieldValue>>
type Arguments = Readonly<Record<string, unknown>>

/** How the device is written to. */
export interface TextLine {
  /** Appended to every command. */
  readonly send: string
  /** Texts that would end a command early. */
  readonly ends: readonly string[]
}

export const NO_REPLY = 'none'
/** Of a text argument that says nothing of its own length. */
const ARGUMENT_LENGTH_MAX = 256

/** All tools of a checked configuration. */
export function textTools(tools: TextTools, line: TextLine): Record<string, Command> {
  const exchanges = new Map<string, (args: Arguments) => Exchange<Fields>>()
  for (const [name, tool] of Object.entries(tools)) exchanges.set(name, textExchange(tool, line))
  const commands: Record<string, Command> = {}
  for (const [name, tool] of Object.entries(tools)) {
    const exchange = exchanges.get(name)
    const shown = tool.readBack && exchanges.get(tool.readBack.tool)
    if (!exchange) continue
    const readBack = tool.readBack && shown && readBackOf(tool, tools[tool.readBack.tool], shown, line)
    commands[name] = command({
      ...described(name, tool),
      parameters: Type.Object(parametersOf(tool)),
      returns: Type.Object(returnsOf(tool)),
      exchange,
      ...(readBack && { readBack }),
      correlates: correlationOf(tool),
    })
  }
  return commands
}

/** One transaction with a pattern for its reply: a probe, an identity. */
export function textQuery(text: string, reply: string, send: string): Exchange<Fields> {
  return exchangeOf(Buffer.from(text + send), [replyKind(usablePattern(reply), {}, {})])
}

/** What the tool's reply fixes: that names the request in part; without anything fixed any line could be it. */
export function correlationOf(tool: TextToolSpec): Correlation {
  if (tool.correlates !== undefined) return tool.correlates
  if (tool.reply === NO_REPLY) return 'none'
  const { shape } = usablePattern(tool.reply).bind({})
  return shape === ANY_SHAPE ? 'none' : 'shape'
}

/** The fields of a tool's value, with the type of each; those that a match may leave out are optional. */
export function returnsOf(tool: TextToolSpec): TProperties {
  const properties: TProperties = {}
  if (tool.reply === NO_REPLY) return properties
  const { groups, certainGroups } = usablePattern(tool.reply)
  for (const group of groups) {
    const schema = fieldSchema(tool.returns?.[group] ?? 'string')
    if (schema) properties[group] = certainGroups.has(group) ? schema : Type.Optional(schema)
  }
  return properties
}

function described(name: string, tool: TextToolSpec) {
  const { title, dangerous, because, claims, timeoutMs, effect, serial, parallelSafe } = tool
  return {
    ...(title === undefined ? {} : { title }),
    description: tool.description ?? `${sentence(name)}: sends "${tool.command}".`,
    ...(dangerous === undefined ? {} : { dangerous }),
    ...(because === undefined ? {} : { because }),
    ...(claims === undefined ? {} : { claims }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    effect,
    ...(serial === undefined ? {} : { serial }),
    ...(parallelSafe === undefined ? {} : { parallelSafe }),
  }
}

function parametersOf(tool: TextToolSpec): TProperties {
  const properties: TProperties = {}
  for (const [name, parameter] of Object.entries(tool.parameters ?? {})) {
    const length = parameter.type === 'string' ? { maxLength: ARGUMENT_LENGTH_MAX } : {}
    properties[name] = Type.Unsafe<FieldValue>({ ...length, ...parameter })
  }
  return properties
}

/** One transaction for each set of arguments. */
export function textExchange(tool: TextToolSpec, line: TextLine): (args: Arguments) => Exchange<Fields> {
  const template = textCommand(tool.command)
  const reply = tool.reply === NO_REPLY ? undefined : usablePattern(tool.reply)
  const refusal = tool.refuse === undefined ? undefined : usablePattern(tool.refuse)
  const names = Object.keys(tool.parameters ?? {})
  const correlation = correlationOf(tool)
  return (args) => {
    const bindings = bindingsOf(args, names, line.ends)
    const request = Buffer.from(template.text(bindings) + line.send)
    if (request.length > LINE_BYTES_MAX) {
      throw new GatewayError('invalid_arguments', `the command is longer than ${LINE_BYTES_MAX} bytes`)
    }
    if (!reply) return unanswered(request)
    const kinds: FrameKind<Fields>[] = refusal ? [refusalKind(refusal, bindings)] : []
    kinds.push(replyKind(reply, bindings, tool.returns ?? {}))
    const exchange = exchangeOf(request, kinds)
    if (correlation !== 'none' || exchange.reply === null) return exchange
    return { request: exchange.request, reply: uncorrelated(exchange.reply) }
  }
}

function replyKind(
  pattern: TextPattern,
  bindings: Bindings,
  types: Readonly<Record<string, FieldType>>,
): FrameKind<Fields> {
  const bound = pattern.bind(bindings)
  return {
    shape: bound.shape,
    verdict(frame) {
      const groups = bound.match(textOf(frame))
      const fields = groups && fieldsOf(groups, types)
      return fields && value(fields)
    },
  }
}

/** The group `code`, if there is one, is the device's own code; nothing proves that nothing was done. */
function refusalKind(pattern: TextPattern, bindings: Bindings): FrameKind<never> {
  const bound = pattern.bind(bindings)
  return {
    shape: bound.shape,
    verdict(frame) {
      const text = textOf(frame)
      const groups = bound.match(text)
      return groups && refused(groups.code ?? text, `the device answered "${text}"`)
    },
  }
}

/** The parameters of the tool that reads are arguments of the same name of the one that sets. */
function readBackOf(
  tool: TextToolSpec,
  shownBy: TextToolSpec | undefined,
  shown: (args: Arguments) => Exchange<Fields>,
  line: TextLine,
): (args: Arguments) => ReadBack {
  const expect = Object.entries(tool.readBack?.expect ?? {})
  return (args) => {
    const bindings = bindingsOf(args, Object.keys(tool.parameters ?? {}), line.ends)
    const wanted = expect.map(([field, expected]) => {
      const type = shownBy?.returns?.[field] ?? 'string'
      return [field, fieldOf(textCommand(String(expected)).text(bindings), type)] as const
    })
    return {
      exchange: shown(args),
      confirms: (fields) => wanted.every(([field, expected]) => has(fields, field, expected)),
    }
  }
}

function has(fields: unknown, field: string, expected: FieldValue | undefined): boolean {
  if (typeof fields !== 'object' || fields === null || expected === undefined) return false
  return Object.hasOwn(fields, field) && Reflect.get(fields, field) === expected
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
