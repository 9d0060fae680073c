/**
 * A simulated device of binary frames. It answers the requests of its tools with frames of their replies, and
 * remembers: what a tool sets is what a tool reads, by the name of the parameter or by what the read-back expects.
 */
import { type FrameRule, frameSearch, NO_FRAME, UNDECIDED } from '../port/framer/frame-search.ts'
import type { Framing } from '../port/framing.ts'
import { integerRange } from './byte-format.ts'
import { type ByteFraming, checksumPlace, hexBytes, sealAt } from './byte-framing.ts'
import { type ByteTemplate, fillTemplate, type Numbers, numbersIn, shapeOfTemplate } from './byte-template.ts'
import { type ByteToolSpec, type ByteTools, parameterIn, usableTemplate } from './byte-tool.ts'
import type { DeviceSimulator, SimulatedReply, SimulatedWorld } from './device-type.ts'
import { hasShape } from './exchange.ts'
import { NO_REPLY } from './text-tool.ts'

/** Of a number that nobody has set. */
const NUMBER_DEFAULT = 42

interface SimulatedTool {
  readonly name: string
  readonly tool: ByteToolSpec
  readonly request: ByteTemplate
}

export function byteSimulator(
  tools: ByteTools,
  framing: ByteFraming,
  world: SimulatedWorld,
): DeviceSimulator {
  const state: Record<string, number> = {}
  const known = Object.entries(tools).map(([name, tool]) => ({
    name,
    tool,
    request: usableTemplate(tool.request, framing),
  }))
  return {
    framing: requestFraming(known, framing),
    receive(frame): SimulatedReply | undefined {
      const found = known.find(({ request }) => isRequest(request, framing, frame))
      if (!found) return undefined
      const { name, tool, request } = found
      const numbers = finite(numbersIn(request, {}, frame))
      remember(state, tool, numbers)
      world.executed(name, numbers)
      if (tool.reply === NO_REPLY) return undefined
      const reply = replyOf(usableTemplate(tool.reply, framing), framing, { ...state, ...numbers })
      return reply && { bytes: reply, afterMs: 5 + 10 * world.random() }
    },
  }
}

/** Requests have no framing of their own: a frame is what has the form of one of them, the longest first. */
function requestFraming(tools: readonly SimulatedTool[], framing: ByteFraming): Framing {
  const requests = tools.map(({ request }) => request).sort((one, other) => other.length - one.length)
  const frameLengthMax = Math.max(...requests.map(({ length }) => length))
  const rule: FrameRule = {
    lengthAt(bytes, offset) {
      const rest = bytes.subarray(offset, offset + frameLengthMax)
      const possible = requests.filter((request) =>
        isRequest(request, framing, rest.subarray(0, request.length)),
      )
      const whole = possible.find(({ length }) => length <= rest.length)
      return whole?.length ?? (possible.length > 0 ? UNDECIDED : NO_FRAME)
    },
    valid: (frame) => requests.some((request) => isRequest(request, framing, frame)),
  }
  return {
    key: `requests:${JSON.stringify(tools.map(({ tool }) => tool.request))}`,
    frameLengthMax,
    silenceEndsFrame: true,
    create: (sink) => frameSearch(rule, sink),
  }
}

/** Whether the bytes are the request or, if they are fewer, may become it. */
function isRequest(request: ByteTemplate, framing: ByteFraming, bytes: Uint8Array): boolean {
  if (bytes.length > request.length) return false
  const { bytes: fixed } = shapeOfTemplate(request, {})
  const shape = { bytes: fixed.filter(([offset]) => offset < bytes.length) }
  if (!hasShape(bytes, shape)) return false
  if (bytes.length < request.length || request.checksumAt === undefined) return true
  return Buffer.from(sealAt(framing, bytes, request.checksumAt)).equals(bytes)
}

function remember(state: Record<string, number>, tool: ByteToolSpec, numbers: Numbers): void {
  if (tool.effect === 'read') return
  Object.assign(state, numbers)
  for (const [field, expected] of Object.entries(tool.readBack?.expect ?? {})) {
    const number = typeof expected === 'number' ? expected : numbers[parameterIn(expected) ?? '']
    if (number !== undefined) state[field] = number
  }
}

/** Undefined: the state holds a number that has no room in the reply. */
function replyOf(template: ByteTemplate, framing: ByteFraming, state: Numbers): Uint8Array | undefined {
  const defaults = template.numbers.map(
    ({ name, format }) =>
      [name, Math.min(NUMBER_DEFAULT, integerRange(format)?.max ?? NUMBER_DEFAULT)] as const,
  )
  const filled = fillTemplate(template, { ...Object.fromEntries(defaults), ...state })
  if ('unfit' in filled) return undefined
  const { bytes } = filled
  fixForm(bytes, template, framing)
  const place = checksumPlace(framing, bytes.length)
  return place === undefined ? bytes : sealAt(framing, bytes, place)
}

/** What the template leaves open and the framing does not: the start, the end and the length. */
function fixForm(bytes: Uint8Array, { length }: ByteTemplate, framing: ByteFraming): void {
  const { lengthAt, lengthFormat = 'uint8', lengthPlus = 0 } = framing
  bytes.set(hexBytes(framing.start))
  const end = hexBytes(framing.end)
  bytes.set(end, length - end.length)
  if (lengthAt === undefined) return
  const count = length - lengthPlus
  const counted = lengthFormat === 'uint8' ? [count] : [count >> 8, count & 0xff]
  bytes.set(lengthFormat === 'uint16le' ? counted.reverse() : counted, lengthAt)
}

function finite(numbers: Readonly<Record<string, number | null>>): Numbers {
  return Object.fromEntries(
    Object.entries(numbers).flatMap(([name, number]) => (number === null ? [] : [[name, number] as const])),
  )
}
