/** A tool made of a request and a reply in hex, as a configuration writes it. */
import { type TProperties, Type } from 'typebox'
import { assert, GatewayError } from '../errors.ts'
import { bytesOfFormat, integerRange, isFloat } from './byte-format.ts'
import { type ByteFraming, checksumWidth, sealAt } from './byte-framing.ts'
import {
  type ByteTemplate,
  fillTemplate,
  type Numbers,
  numbersIn,
  readTemplate,
  shapeOfTemplate,
} from './byte-template.ts'
import { type Command, command } from './command.ts'
import { nullable } from './define-device.ts'
import type { Correlation, Exchange, ReadBack } from './device-type.ts'
import { exchangeOf, type FrameKind, refused, unanswered, uncorrelated, value } from './exchange.ts'
import { NO_REPLY, type TextToolSpec } from './text-tool.ts'

export interface ByteParameter {
  readonly type: 'integer' | 'number' | 'boolean'
  readonly description?: string
  readonly enum?: readonly number[]
  readonly minimum?: number
  readonly maximum?: number
}

/** The keys of a tool of text, but in hex: what the numbers of the reply are, their formats say. */
export interface ByteToolSpec
  extends Omit<TextToolSpec, 'command' | 'parameters' | 'returns' | 'readBack' | 'reply' | 'refuse'> {
  readonly request: string
  readonly parameters?: Readonly<Record<string, ByteParameter>>
  /** A template, or `none`: no acknowledgement by design. */
  readonly reply: string
  readonly refuse?: string
  /** Expected is a number, or `{parameter}`. */
  readonly readBack?: { readonly tool: string; readonly expect: Readonly<Record<string, number | string>> }
}

export type ByteTools = Readonly<Record<string, ByteToolSpec>>
type Fields = Readonly<Record<string, number | null>>
type Arguments = Readonly<Record<string, unknown>>

/** All tools of a checked configuration. */
export function byteTools(tools: ByteTools, framing: ByteFraming): Record<string, Command> {
  const commands: Record<string, Command> = {}
  for (const [name, tool] of Object.entries(tools)) {
    const shownBy = tool.readBack && tools[tool.readBack.tool]
    const shown = shownBy && byteExchange(shownBy, framing)
    commands[name] = command({
      ...described(name, tool),
      parameters: Type.Object(parametersOf(tool, framing)),
      returns: Type.Object(byteReturns(tool, framing)),
      exchange: byteExchange(tool, framing),
      ...(shown && { readBack: (args: Arguments) => readBackOf(tool, shown, args) }),
      correlates: byteCorrelation(tool, framing),
    })
  }
  return commands
}

/** A template that has been found usable before. */
export function usableTemplate(source: string, framing: ByteFraming): ByteTemplate {
  const read = readTemplate(source, checksumWidth(framing))
  assert('template' in read, `the template ${source} was not checked`)
  return read.template
}

/** A reply that starts with what the request fixes is named by it in part; else any frame could be it. */
export function byteCorrelation(tool: ByteToolSpec, framing: ByteFraming): Correlation {
  if (tool.correlates !== undefined) return tool.correlates
  if (tool.reply === NO_REPLY) return 'none'
  const [first] = usableTemplate(tool.reply, framing).parts
  const isBound = first?.kind === 'number' && Object.hasOwn(tool.parameters ?? {}, first.name)
  return first?.kind === 'byte' || isBound ? 'shape' : 'none'
}

/** The numbers of the reply that no argument fixes. */
export function byteReturns(tool: ByteToolSpec, framing: ByteFraming): TProperties {
  const properties: TProperties = {}
  if (tool.reply === NO_REPLY) return properties
  for (const { name, format } of usableTemplate(tool.reply, framing).numbers) {
    if (Object.hasOwn(tool.parameters ?? {}, name)) continue
    properties[name] = isFloat(format) ? nullable(Type.Number()) : Type.Integer()
  }
  return properties
}

/** One transaction for each set of arguments. */
export function byteExchange(
  tool: ByteToolSpec,
  framing: ByteFraming,
): (args: Arguments) => Exchange<Fields> {
  const request = usableTemplate(tool.request, framing)
  const reply = tool.reply === NO_REPLY ? undefined : usableTemplate(tool.reply, framing)
  const refusal = tool.refuse === undefined ? undefined : usableTemplate(tool.refuse, framing)
  const correlation = byteCorrelation(tool, framing)
  return (args) => {
    const numbers = numbersOf(tool, args)
    const filled = fillTemplate(request, numbers)
    if ('unfit' in filled) throw unfit(filled.unfit)
    const bytes = request.checksumAt === undefined ? filled.bytes : sealed(framing, request, filled.bytes)
    if (!reply) return unanswered(bytes)
    const kinds: FrameKind<Fields>[] = refusal ? [refusalKind(refusal, numbers)] : []
    kinds.push({
      shape: boundShape(reply, numbers),
      verdict: (frame) => value(numbersIn(reply, numbers, frame)),
    })
    const exchange = exchangeOf(bytes, kinds)
    if (correlation !== 'none' || exchange.reply === null) return exchange
    return { request: exchange.request, reply: uncorrelated(exchange.reply) }
  }
}

function sealed(framing: ByteFraming, template: ByteTemplate, bytes: Uint8Array): Uint8Array {
  return template.checksumAt === undefined ? bytes : sealAt(framing, bytes, template.checksumAt)
}

/** A number of the reply that an argument fixes must fit there as it fits into the request. */
function boundShape(template: ByteTemplate, numbers: Numbers) {
  const shape = shapeOfTemplate(template, numbers)
  const bound = template.numbers.filter(({ name }) => Object.hasOwn(numbers, name))
  const fixed = template.parts.filter(({ kind }) => kind === 'byte').length
  const width = bound.reduce((sum, { format }) => sum + bytesOfFormat(format), 0)
  const [first] = bound
  if (first && shape.bytes.length !== fixed + width) throw unfit(first.name)
  return shape
}

function unfit(name: string): GatewayError {
  return new GatewayError('invalid_arguments', `${name}: it does not fit into its place in the frame`, {
    field: `/${name}`,
  })
}

/** The number called `code`, if there is one, is the device's own code; nothing proves that nothing was done. */
function refusalKind(template: ByteTemplate, numbers: Numbers): FrameKind<never> {
  return {
    shape: boundShape(template, numbers),
    verdict(frame) {
      const hex = frame.toString('hex').replaceAll(/..(?!$)/g, '$& ')
      const { code } = numbersIn(template, numbers, frame)
      return refused(code ?? hex, `the device answered "${hex}"`)
    },
  }
}

/** False and true are 0 and 1 on the wire. */
function numbersOf(tool: ByteToolSpec, args: Arguments): Numbers {
  return Object.fromEntries(Object.keys(tool.parameters ?? {}).map((name) => [name, Number(args[name])]))
}

/** What the formats hold, and what the configuration allows of it. */
function parametersOf(tool: ByteToolSpec, framing: ByteFraming): TProperties {
  const { numbers } = usableTemplate(tool.request, framing)
  const properties: TProperties = {}
  for (const [name, parameter] of Object.entries(tool.parameters ?? {})) {
    const ranges = numbers.flatMap((part) => (part.name === name ? (integerRange(part.format) ?? []) : []))
    const isNumber = parameter.type !== 'boolean' && parameter.enum === undefined
    const minimum = Math.max(...ranges.map(({ min }) => min), parameter.minimum ?? -Infinity)
    const maximum = Math.min(...ranges.map(({ max }) => max), parameter.maximum ?? Infinity)
    const bounds = {
      ...(Number.isFinite(minimum) ? { minimum } : {}),
      ...(Number.isFinite(maximum) ? { maximum } : {}),
    }
    properties[name] = Type.Unsafe<number | boolean>({ ...parameter, ...(isNumber ? bounds : {}) })
  }
  return properties
}

/** The parameters of the tool that reads are arguments of the same name of the one that sets. */
function readBackOf(
  tool: ByteToolSpec,
  shown: (args: Arguments) => Exchange<Fields>,
  args: Arguments,
): ReadBack {
  const numbers = numbersOf(tool, args)
  const wanted = Object.entries(tool.readBack?.expect ?? {}).map(
    ([field, expected]) =>
      [field, typeof expected === 'number' ? expected : numbers[parameterIn(expected) ?? '']] as const,
  )
  return {
    exchange: shown(args),
    confirms: (fields) =>
      typeof fields === 'object' &&
      fields !== null &&
      wanted.every(([field, number]) => number !== undefined && Reflect.get(fields, field) === number),
  }
}

/** `{level}` names the parameter level. */
export function parameterIn(expected: string): string | undefined {
  return /^\{([a-zA-Z_][a-zA-Z0-9_]*)\}$/.exec(expected)?.[1]
}

function described(name: string, tool: ByteToolSpec) {
  const { title, dangerous, because, claims, timeoutMs, effect, serial, parallelSafe } = tool
  const words = name.replaceAll('_', ' ')
  const sentence = words.charAt(0).toUpperCase() + words.slice(1)
  return {
    ...(title === undefined ? {} : { title }),
    description: tool.description ?? `${sentence}: sends the bytes ${tool.request}.`,
    ...(dangerous === undefined ? {} : { dangerous }),
    ...(because === undefined ? {} : { because }),
    ...(claims === undefined ? {} : { claims }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    effect,
    ...(serial === undefined ? {} : { serial }),
    ...(parallelSafe === undefined ? {} : { parallelSafe }),
  }
}
