/**
 * What every device type is held to, as checks that anyone can run: the contract test of the catalogue, and
 * `baudway types` for the grade of a type. The grade is what passes, not what somebody says of it.
 */
import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { messageOf } from '../errors.ts'
import { traitsOf } from '../port/framer/traits.ts'
import type { ReplyShape } from '../port/reply.ts'
import {
  bytesOf,
  exampleFault,
  exampleFrames,
  framesOf,
  hexOf,
  pushedBySimulator,
  simulatedValue,
} from './contract-vectors.ts'
import { COMMAND_LENGTH_MAX, NAME_PATTERN } from './define-device.ts'
import type {
  DeviceDescription,
  DeviceType,
  Example,
  ReadingSpec,
  SimulatedWorld,
  ToolSpec,
} from './device-type.ts'
import { hasShape } from './exchange.ts'

export type Grade = 'bronze' | 'silver' | 'gold' | 'platinum'

export interface Finding {
  readonly rule: string
  /** The grade that the rule belongs to. */
  readonly grade: Grade
  readonly ok: boolean
  /** What is wrong, and with which tool; empty if nothing is. */
  readonly detail: string
}

const GRADES: readonly Grade[] = ['bronze', 'silver', 'gold', 'platinum']

/** Frames that each decoder is tried with. */
const FRAMES_TRIED = 400
const FRAME_TRIED_MAX = 280
const DESCRIPTION_LENGTH_MIN = 10

/** A type with its sample device: what the rules look at. */
interface Subject {
  readonly type: DeviceType
  readonly device: DeviceDescription
  readonly tools: readonly (readonly [name: string, tool: ToolSpec, examples: readonly Example[]])[]
}

/** The faults that a rule finds; none: it holds. */
type Rule = (subject: Subject) => readonly string[] | Promise<readonly string[]>

const RULES: readonly (readonly [rule: string, grade: Grade, check: Rule])[] = [
  ['the sample fits the options', 'bronze', sampleFits],
  ['names are valid', 'bronze', namesValid],
  ['tools and readings are described', 'bronze', described],
  ['effects and concurrency are declared', 'bronze', declared],
  ['numeric readings have bounds', 'bronze', bounded],
  ['an act that could be mistaken is proven', 'bronze', actsProven],
  ['frames survive any chunking', 'bronze', chunking],
  ['decoders take any bytes', 'bronze', decodersTotal],
  ['shapes cover what is matched', 'bronze', shapesCover],
  ['every tool has an example, and it holds', 'silver', examplesHold],
  ['a tool is polled', 'silver', polled],
  ['replies that must not be taken have examples', 'gold', malformedShown],
  ['the simulator answers every tool', 'gold', simulated],
  ['every reply has an example with its request', 'platinum', wholeExamples],
  ['numeric readings have a unit and classes', 'platinum', classified],
]

/** Every rule over the type and its sample device. Never throws for a type that `defineDevice` made. */
export async function contractFindings(type: DeviceType): Promise<readonly Finding[]> {
  const device = type.describe(type.sample)
  const tools = Object.entries(device.tools).map(
    ([name, tool]) =>
      [name, tool, [...(tool.examples ?? []), ...(type.sampleExamples?.[name] ?? [])]] as const,
  )
  const findings: Finding[] = []
  for (const [rule, grade, check] of RULES) {
    let faults: readonly string[]
    try {
      faults = await check({ type, device, tools })
    } catch (thrown) {
      faults = [messageOf(thrown)]
    }
    findings.push({ rule, grade, ok: faults.length === 0, detail: faults.join('; ') })
  }
  return findings
}

/** What keeps a type from this grade: the broken rules of it, and of the grades below it. */
export async function obstaclesTo(grade: Grade, type: DeviceType): Promise<readonly Finding[]> {
  const wanted = GRADES.slice(0, GRADES.indexOf(grade) + 1)
  return (await contractFindings(type)).filter((finding) => !finding.ok && wanted.includes(finding.grade))
}

/** The highest grade of which, and below which, every rule holds; null: not even bronze. */
export async function gradeOf(type: DeviceType): Promise<Grade | null> {
  const broken = new Set((await contractFindings(type)).filter(({ ok }) => !ok).map(({ grade }) => grade))
  const lowestBroken = GRADES.findIndex((grade) => broken.has(grade))
  return (lowestBroken === -1 ? GRADES.at(-1) : GRADES[lowestBroken - 1]) ?? null
}

function sampleFits({ type }: Subject): string[] {
  const faults = (type.faults?.(type.sample) ?? []).filter(({ severity }) => severity !== 'warning')
  const fits = Check(type.options, type.sample)
  return [
    ...(fits ? [] : ['not by the schema']),
    ...faults.map(({ field, message }) => `${field}: ${message}`),
  ]
}

function namesValid({ type, device, tools }: Subject): string[] {
  const valid = new RegExp(NAME_PATTERN)
  const names = [...tools.map(([name]) => name), ...Object.keys(device.readings)]
  const tooLong = tools.filter(([name]) => name.length > COMMAND_LENGTH_MAX)
  return [
    ...(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(type.type)
      ? []
      : [`the type ${type.type} is no words and hyphens`]),
    ...names.filter((name) => !valid.test(name)).map((name) => `${name} is no words and underscores`),
    ...tooLong.map(([name]) => `${name} is too long for a tool name`),
  ]
}

function described({ type, device, tools }: Subject): string[] {
  const blank = Object.entries(device.readings).flatMap(([field, { unit, deviceClass }]) =>
    Object.entries({ unit, deviceClass }).flatMap(([key, given]) =>
      given === '' ? [`${field} has an empty ${key}; null says that there is none`] : [],
    ),
  )
  return [
    ...(type.title.length > 3 ? [] : ['the type has no title']),
    ...tools
      .filter(([, { description }]) => description.length < DESCRIPTION_LENGTH_MIN)
      .map(([name]) => `${name}: its description has under ${DESCRIPTION_LENGTH_MIN} characters`),
    ...blank,
  ]
}

function declared({ type, tools }: Subject): string[] {
  return tools.flatMap(([name, { effect, serial, parallelSafe }]) => {
    if (!['read', 'set', 'act'].includes(effect)) return [`${name}: no effect`]
    if (effect !== 'read') return serial === true ? [] : [`${name}: not serial`]
    const says = serial === true || parallelSafe !== undefined
    return says || type.toolsConfigured ? [] : [`${name}: neither parallelSafe nor serial`]
  })
}

/** The fields that tools return as numbers. */
function numericReadings({ device, tools }: Subject): string[] {
  const numeric = new Set<string>()
  for (const [, { returns }] of tools) {
    for (const [field, schema] of Object.entries(returns?.properties ?? {})) {
      const types = 'type' in schema ? [schema.type].flat() : []
      if (types.some((one) => one === 'number' || one === 'integer')) numeric.add(field)
    }
  }
  return Object.keys(device.readings).filter((field) => numeric.has(field))
}

function bounded(subject: Subject): string[] {
  if (subject.type.toolsConfigured) return []
  return lacking(subject, ({ min, max }) => ({ min, max }))
}

/** "level: no min, no max", for each numeric reading that leaves some of the keys out. */
function lacking(
  subject: Subject,
  keys: (reading: ReadingSpec) => Readonly<Record<string, unknown>>,
): string[] {
  return numericReadings(subject).flatMap((field) => {
    const wanted = Object.entries(keys(subject.device.readings[field] ?? {}))
    const missing = wanted
      .filter(([, given]) => given === undefined || given === '')
      .map(([key]) => `no ${key}`)
    return missing.length > 0 ? [`${field}: ${missing.join(', ')}`] : []
  })
}

/** Without a checksum or without correlation, an acknowledgement of an `act` proves nothing. */
function actsProven({ type, device, tools }: Subject): string[] {
  if (type.toolsConfigured) return []
  const { checked } = traitsOf(device.framing)
  return tools.flatMap(([name, tool, examples]) => {
    if (tool.effect !== 'act' || !tool.exchange || tool.readBack) return []
    const isAnswered = tool.exchange(argumentsOf(tool, examples)).reply !== null
    const isNamed = tool.correlates !== undefined && tool.correlates !== 'none'
    if (!isAnswered || (checked && isNamed)) return []
    const lacks = [
      ...(checked ? [] : ['the framing has no checksum']),
      ...(isNamed ? [] : ['its reply does not name its request']),
    ]
    return [`${name}: ${lacks.join(' and ')}, and there is no readBack`]
  })
}

function chunking({ device, tools }: Subject): string[] {
  const random = seededBytes(1)
  const replies = tools.flatMap(([, , examples]) =>
    examples.flatMap(({ reply }) => (reply === undefined ? [] : [bytesOf(reply), random(5)])),
  )
  const stream = Buffer.concat([random(40), ...replies, random(200)])
  const whole = framesOf(device.framing, [stream]).map(hexOf)
  return [1, 2, 3, 7, 16].flatMap((size) => {
    const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
      stream.subarray(index * size, (index + 1) * size),
    )
    const same = framesOf(device.framing, pieces).map(hexOf).join() === whole.join()
    return same ? [] : [`pieces of ${size} bytes give other frames`]
  })
}

function decodersTotal(subject: Subject): string[] {
  const faults = triedMatches(subject, (match) => {
    try {
      match()
      return undefined
    } catch (thrown) {
      return messageOf(thrown)
    }
  })
  const events = subject.device.events ?? []
  const random = seededBytes(3)
  for (let index = 0; index < FRAMES_TRIED; index += 1) {
    for (const event of events) event.match(random(index))
    subject.device.pushed?.fields(random(index))
  }
  return faults
}

function shapesCover(subject: Subject): string[] {
  return triedMatches(subject, (match, shapes, frame) => {
    const isTaken = match() !== undefined
    const isCovered = shapes.some((shape) => hasShape(frame, shape))
    return isTaken && !isCovered ? `takes ${hexOf(frame)}, which has none of its shapes` : undefined
  })
}

/** Tries every matcher with noise, and with noise that has the shapes and the examples in it. */
function triedMatches(
  { device, tools }: Subject,
  faultOf: (match: () => unknown, shapes: readonly ReplyShape[], frame: Uint8Array) => string | undefined,
): string[] {
  return tools.flatMap(([name, tool, examples]) => {
    const reply = tool.exchange?.(argumentsOf(tool, examples)).reply
    if (!reply) return []
    const known = examples.flatMap(({ reply }) =>
      reply === undefined ? [] : exampleFrames(device.framing, reply),
    )
    const random = seededBytes(2)
    for (let index = 0; index < FRAMES_TRIED; index += 1) {
      const frame = triedFrame(random, index, reply.shapes, known)
      const fault = faultOf(() => reply.match(frame), reply.shapes, frame)
      if (fault !== undefined) return [`${name}: ${fault}`]
    }
    return []
  })
}

function triedFrame(
  random: (length: number) => Uint8Array,
  index: number,
  shapes: readonly ReplyShape[],
  known: readonly Uint8Array[],
): Uint8Array {
  const example = known[index % (known.length + 1)]
  if (example && index % 3 === 0) {
    const frame = Uint8Array.from(example)
    frame.set(random(1), (random(1)[0] ?? 0) % Math.max(1, frame.length - 1))
    return index % 2 === 0 ? frame : frame.subarray(0, index % (frame.length + 1))
  }
  const shape = shapes[index % (shapes.length + 1)]
  const reach = shape?.bytes.reduce((most, [offset]) => Math.max(most, offset + 1), 0) ?? 0
  const frame = random(shape?.length ?? Math.max(reach, index % FRAME_TRIED_MAX))
  for (const [offset, byte] of shape?.bytes ?? []) frame[offset] = byte
  return frame
}

async function examplesHold({ device, tools }: Subject): Promise<string[]> {
  const faults: string[] = []
  for (const [name, tool, examples] of tools) {
    if (examples.length === 0) faults.push(`${name} has none`)
    for (const example of examples) {
      const fault = await exampleFault(tool, device, example)
      if (fault !== undefined) faults.push(`${name}: ${fault}`)
    }
  }
  return faults
}

function polled({ device }: Subject): string[] {
  const spoken = device.poll || device.pushed || device.events?.length
  const silent = Object.keys(device.readings).length > 0 && !spoken
  return silent ? ['its readings are never asked for'] : []
}

function malformedShown({ tools }: Subject): string[] {
  const shown = tools.some(([, , examples]) =>
    examples.some(({ ignored, refused, busy }) => ignored || busy || refused !== undefined),
  )
  return shown ? [] : ['no example of a damaged, foreign or refusing reply']
}

async function simulated({ device, tools }: Subject): Promise<string[]> {
  const { simulator, fields } = pushedBySimulator(device, stillWorld())
  if (!simulator) return ['there is no simulator']
  const faults: string[] = []
  for (const [name, tool, examples] of tools) {
    try {
      const value = await simulatedValue(device, { simulator, fields }, tool, argumentsOf(tool, examples))
      if (value !== null && tool.returns && !Check(tool.returns, value)) {
        faults.push(`${name}: ${JSON.stringify(value)} is not what it returns`)
      }
      for (const [field, one] of Object.entries(value ?? {})) {
        const { min = -Infinity, max = Infinity } = device.readings[field] ?? {}
        if (typeof one === 'number' && (one < min || one > max)) faults.push(`${name}: ${field} is ${one}`)
      }
    } catch (thrown) {
      faults.push(`${name}: ${messageOf(thrown)}`)
    }
  }
  return faults
}

function wholeExamples({ tools }: Subject): string[] {
  return tools.flatMap(([name, tool, examples]) => {
    const isAnswered = !tool.exchange || tool.exchange(argumentsOf(tool, examples)).reply !== null
    const whole = examples.some(({ request, reply, exchanges }) =>
      tool.get ? reply : exchanges || (request && (reply || !isAnswered)),
    )
    return whole ? [] : [`${name}: no example has both its request and its reply`]
  })
}

function classified(subject: Subject): string[] {
  return lacking(subject, ({ unit, deviceClass, stateClass }) => ({ unit, deviceClass, stateClass })).map(
    (fault) => `${fault} (null says that there is none)`,
  )
}

/** Arguments from an example, else the least that the schema takes. */
function argumentsOf(tool: ToolSpec, examples: readonly Example[]): Record<string, unknown> {
  const shown = examples.find((example) => example.arguments)?.arguments
  if (shown) return { ...shown }
  const properties: Readonly<Record<string, TSchema>> = tool.parameters?.properties ?? {}
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, leastOf(schema)]))
}

function leastOf(schema: TSchema): unknown {
  if ('enum' in schema && Array.isArray(schema.enum)) return schema.enum[0]
  if (!('type' in schema)) return null
  if (schema.type === 'boolean') return true
  if (schema.type === 'string') return 'A'
  return 'minimum' in schema ? schema.minimum : 1
}

/** A world in which nothing moves: what a simulator does is then its answer alone. */
function stillWorld(): SimulatedWorld {
  return { now: () => 0, random: () => 0.5, executed: () => {}, send: () => {}, every: () => {} }
}

/** The same bytes on every run: a type's grade must not depend on luck. (Marsaglia's xorshift.) */
function seededBytes(seed: number): (length: number) => Uint8Array {
  let state = seed * 0x9e37_79b9
  return (length) =>
    Uint8Array.from({ length }, () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return state & 0xff
    })
}
