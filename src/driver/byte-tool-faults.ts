/** What is wrong, or looks unsafe, in tools of bytes that a configuration describes. Fields are JSON pointers. */
import { isFloat } from './byte-format.ts'
import { type ByteFraming, checksumPlace, checksumWidth, hexBytes, lengthMaxOf } from './byte-framing.ts'
import { type ByteTemplate, readTemplate } from './byte-template.ts'
import { type ByteToolSpec, type ByteTools, parameterIn } from './byte-tool.ts'
import { declarationFaults } from './declaration-faults.ts'
import { NAME_PATTERN } from './define-device.ts'
import type { OptionFault } from './device-type.ts'
import { NO_REPLY } from './text-tool.ts'

const FIELD_NAME = new RegExp(NAME_PATTERN)

/** The faults of all tools, in a framing without faults. */
export function* byteToolFaults(tools: ByteTools, framing: ByteFraming): Generator<OptionFault> {
  for (const [name, tool] of Object.entries(tools)) {
    const field = `/tools/${name}`
    yield* requestFaults(field, tool, framing)
    yield* replyFaults(field, tool, framing)
    yield* readBackFaults(field, tool, tools, framing)
    yield* declarationFaults(field, tool)
  }
}

function* templateFaults(
  field: string,
  source: string,
  framing: ByteFraming,
): Generator<OptionFault, ByteTemplate | undefined> {
  const read = readTemplate(source, checksumWidth(framing))
  if ('fault' in read) {
    yield { field, message: `the template cannot be used: ${read.fault}` }
    return undefined
  }
  const { length } = read.template
  if (length > lengthMaxOf(framing)) {
    yield { field, message: `${length} bytes are more than "lengthMax", ${lengthMaxOf(framing)}` }
  }
  return read.template
}

function* requestFaults(field: string, tool: ByteToolSpec, framing: ByteFraming): Generator<OptionFault> {
  const request = yield* templateFaults(`${field}/request`, tool.request, framing)
  if (!request) return
  if (request.parts.some(({ kind }) => kind === 'any')) {
    yield { field: `${field}/request`, message: 'any byte, "..", cannot be sent' }
  }
  const parameters = tool.parameters ?? {}
  for (const { name, format } of request.numbers) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (!parameter) yield { field: `${field}/request`, message: `there is no parameter ${name}` }
    if (parameter?.type === 'number' && !isFloat(format)) {
      yield { field: `${field}/parameters/${name}/type`, message: `${format} holds an integer or a boolean` }
    }
  }
  for (const name of Object.keys(parameters)) {
    if (!request.numbers.some((part) => part.name === name)) {
      yield { field: `${field}/parameters/${name}`, message: 'the request does not contain it' }
    }
  }
}

function* replyFaults(field: string, tool: ByteToolSpec, framing: ByteFraming): Generator<OptionFault> {
  if (tool.reply === NO_REPLY) {
    if (tool.refuse !== undefined) {
      yield { field: `${field}/refuse`, message: 'there is no reply to wait for' }
    }
    return
  }
  const parameters = Object.keys(tool.parameters ?? {})
  for (const key of ['reply', 'refuse'] as const) {
    const source = tool[key]
    const pointer = `${field}/${key}`
    const template = source === undefined ? undefined : yield* templateFaults(pointer, source, framing)
    if (!template) continue
    yield* formFaults(pointer, template, framing)
    yield* fieldFaults(pointer, template, parameters)
    const isShown = template.numbers.some(({ name }) => parameters.includes(name))
    if (key === 'reply' && tool.effect === 'set' && !isShown && !tool.readBack) {
      const message = 'its reply does not show what was set: bind a parameter in it, or give a "readBack"'
      yield { field: pointer, severity: 'warning', message }
    }
  }
}

/** A template that no frame of the framing can have is never answered. */
function* formFaults(field: string, template: ByteTemplate, framing: ByteFraming): Generator<OptionFault> {
  const { length, checksumAt, parts } = template
  if (framing.length !== undefined && length !== framing.length) {
    yield { field, message: `it has ${length} bytes, and the frames have ${framing.length}` }
    return
  }
  const start = hexBytes(framing.start)
  const end = hexBytes(framing.end)
  const fixed = new Map(parts.flatMap((part) => (part.kind === 'byte' ? [[part.at, part.byte]] : [])))
  const differs = (bytes: readonly number[], from: number) =>
    bytes.some((byte, index) => (fixed.get(from + index) ?? byte) !== byte)
  if (length < start.length + end.length) {
    yield { field, message: 'it is shorter than the start and the end of a frame' }
    return
  }
  if (differs(start, 0)) yield { field, message: `the frames start with ${framing.start}` }
  if (differs(end, length - end.length)) yield { field, message: `the frames end with ${framing.end}` }
  const place = checksumPlace(framing, length)
  if (checksumAt !== undefined && checksumAt !== place) {
    yield { field, message: `the checksum of such a frame stands at byte ${place}, not ${checksumAt}` }
  }
  yield* countFaults(field, template, fixed, framing)
}

/** A length that is written out must be the template's own. */
function* countFaults(
  field: string,
  { length }: ByteTemplate,
  fixed: ReadonlyMap<number | undefined, number | undefined>,
  { lengthAt, lengthFormat = 'uint8', lengthPlus = 0 }: ByteFraming,
): Generator<OptionFault> {
  if (lengthAt === undefined) return
  const count = length - lengthPlus
  const bytes = lengthFormat === 'uint8' ? [count] : [count >> 8, count & 0xff]
  if (lengthFormat === 'uint16le') bytes.reverse()
  if (bytes.some((byte, index) => (fixed.get(lengthAt + index) ?? byte) !== byte)) {
    yield { field, message: `the length at byte ${lengthAt} is not that of these ${length} bytes` }
  }
}

function* fieldFaults(
  field: string,
  { numbers }: ByteTemplate,
  parameters: readonly string[],
): Generator<OptionFault> {
  const seen = new Set<string>()
  for (const { name } of numbers) {
    if (parameters.includes(name)) continue
    if (!FIELD_NAME.test(name)) {
      yield { field, message: `${name} is a field: lower-case words joined by underscores` }
    }
    if (seen.has(name)) yield { field, message: `the field ${name} is given twice` }
    seen.add(name)
  }
}

function* readBackFaults(
  field: string,
  tool: ByteToolSpec,
  tools: ByteTools,
  framing: ByteFraming,
): Generator<OptionFault> {
  const { readBack } = tool
  if (!readBack) return
  const shown = Object.hasOwn(tools, readBack.tool) ? tools[readBack.tool] : undefined
  if (shown?.effect !== 'read' || shown.reply === NO_REPLY) {
    yield { field: `${field}/readBack/tool`, message: `${readBack.tool} is no tool that reads` }
    return
  }
  const parameters = Object.keys(tool.parameters ?? {})
  for (const name of Object.keys(shown.parameters ?? {})) {
    if (!parameters.includes(name)) {
      yield { field: `${field}/readBack/tool`, message: `${readBack.tool} needs a parameter ${name}` }
    }
  }
  if (Object.keys(readBack.expect).length === 0) {
    yield { field: `${field}/readBack/expect`, message: 'nothing expected proves nothing' }
  }
  const reply = readTemplate(shown.reply, checksumWidth(framing))
  const bound = Object.keys(shown.parameters ?? {})
  for (const [name, expected] of Object.entries(readBack.expect)) {
    const pointer = `${field}/readBack/expect/${name}`
    const isReturned =
      'template' in reply &&
      reply.template.numbers.some((part) => part.name === name && !bound.includes(name))
    if ('template' in reply && !isReturned) {
      yield { field: pointer, message: `${readBack.tool} returns no ${name}` }
    }
    const wanted = typeof expected === 'string' ? parameterIn(expected) : undefined
    if (typeof expected === 'string' && (wanted === undefined || !parameters.includes(wanted))) {
      yield { field: pointer, message: `neither a number nor a parameter in braces: ${expected}` }
    }
  }
}
