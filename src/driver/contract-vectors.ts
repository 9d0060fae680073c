/** Plays the examples of a device type, and its simulator, against its own tools: no port, no time. */
import { isDeepStrictEqual } from 'node:util'
import { modbusRtu } from '../port/framer/modbus-rtu.ts'
import type { Framing } from '../port/framing.ts'
import type {
  DeviceDescription,
  DeviceSession,
  DeviceSimulator,
  Example,
  ExampleBytes,
  Exchange,
  PushedFields,
  SimulatedWorld,
  ToolSpec,
  Verdict,
} from './device-type.ts'

type Arguments = Readonly<Record<string, unknown>>

export function bytesOf(example: ExampleBytes): Uint8Array {
  return typeof example === 'string'
    ? Buffer.from(example.replaceAll(/\s/g, ''), 'hex')
    : Buffer.from(example.text)
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replaceAll(/..(?!$)/g, '$& ')
}

/** The frames in some bytes, pushed in the given pieces; default: all at once. */
export function framesOf(framing: Framing, pieces: readonly Uint8Array[]): Uint8Array[] {
  const frames: Uint8Array[] = []
  const framer = framing.create({ frame: (frame) => frames.push(frame), error: () => {} })
  for (const piece of pieces) framer.push(piece)
  framer.idle()
  return frames
}

/** The frames of an example's reply; text may leave its terminator out. */
export function exampleFrames(framing: Framing, reply: ExampleBytes): Uint8Array[] {
  const frames = framesOf(framing, [bytesOf(reply)])
  if (typeof reply === 'string' || frames.length > 0) return frames
  return framesOf(framing, [bytesOf(reply), Buffer.from('\r\n')])
}

/** What is wrong with an example, or undefined. */
export async function exampleFault(
  tool: ToolSpec,
  device: Pick<DeviceDescription, 'framing' | 'pushed'>,
  example: Example,
): Promise<string | undefined> {
  const { framing } = device
  const args = example.arguments ?? {}
  if (tool.get) {
    const pushed = pushedFields(device, example.reply ?? '')
    return pushedFault(pushed, tool.get(pushed, args), example)
  }
  if (tool.exchange) return exchangeFault(tool.exchange(args), framing, example)
  const steps = [...(example.exchanges ?? [])]
  const faults: string[] = []
  const session: DeviceSession = {
    async exchange<V>(exchange: Exchange<V>) {
      const step = steps.shift()
      if (!step) throw new Error('the tool asks more than the example answers')
      const fault = requestFault(exchange, step.request)
      if (fault) faults.push(fault)
      return valueFrom(exchange, exampleFrames(framing, step.reply), bytesOf(step.reply))
    },
  }
  const value = await tool.run(session, args)
  if (steps.length > 0) faults.push(`${steps.length} exchanges were not asked for`)
  if (!isDeepStrictEqual(value, example.value)) faults.push(differs(value, example.value))
  return faults[0]
}

/** The fields after everything that comes from the line. */
export function pushedFields(
  { framing, pushed }: Pick<DeviceDescription, 'framing' | 'pushed'>,
  bytes: ExampleBytes,
): PushedFields {
  const fields: Record<string, unknown> = {}
  for (const frame of exampleFrames(framing, bytes)) Object.assign(fields, pushed?.fields(frame))
  return fields
}

function pushedFault(pushed: PushedFields, value: unknown, example: Example): string | undefined {
  if (example.ignored) {
    return Object.keys(pushed).length > 0 ? `taken for a value: ${JSON.stringify(pushed)}` : undefined
  }
  return isDeepStrictEqual(value, example.value) ? undefined : differs(value, example.value)
}

function exchangeFault(exchange: Exchange<unknown>, framing: Framing, example: Example): string | undefined {
  const { request, reply, value, refused, busy, ignored } = example
  const fault = request === undefined ? undefined : requestFault(exchange, request)
  if (fault || reply === undefined) return fault
  const frames = exampleFrames(framing, reply)
  const verdict = verdictOf(exchange, frames)
  if (ignored) return verdict && `taken for a reply: ${JSON.stringify(verdict)}`
  if (!verdict) return notTaken(frames, bytesOf(reply))
  if (busy) return verdict.kind === 'busy' ? undefined : differs(verdict, 'busy')
  if (refused !== undefined) {
    return verdict.kind === 'refused' && verdict.deviceCode === refused
      ? undefined
      : differs(verdict, refused)
  }
  const decoded = verdict.kind === 'value' ? verdict.value : verdict
  return isDeepStrictEqual(decoded, value) ? undefined : differs(decoded, value)
}

/** Plays the examples' world: what a simulator pushes is heard once for every interval that it asked for. */
export function pushedBySimulator(
  device: DeviceDescription,
  world: SimulatedWorld,
): { readonly simulator: DeviceSimulator | undefined; readonly fields: PushedFields } {
  const callbacks: (() => void)[] = []
  const sent: Uint8Array[] = []
  const simulator = device.simulator?.({
    ...world,
    send: (bytes) => sent.push(bytes),
    every: (_, callback) => callbacks.push(callback),
  })
  for (const callback of callbacks) callback()
  const bytes = Buffer.concat(sent).toString('hex')
  return { simulator, fields: pushedFields(device, bytes) }
}

/** What a tool returns when the simulator is at the other end; null where it has no reply by design. */
export async function simulatedValue(
  description: DeviceDescription,
  simulated: { readonly simulator: DeviceSimulator; readonly fields: PushedFields },
  tool: ToolSpec,
  args: Arguments,
): Promise<unknown> {
  const { simulator, fields } = simulated
  if (tool.get) return tool.get(fields, args)
  const session: DeviceSession = {
    async exchange<V>(exchange: Exchange<V>) {
      const requests = framesOf(simulator.framing, [exchange.request])
      const asked = hexOf(exchange.request)
      if (requests.length === 0) {
        throw new Error(
          `the framing of the simulator finds no frame in the request ${asked}${requestsHint(simulator)}`,
        )
      }
      const answers = requests.flatMap((frame) => simulator.receive(frame) ?? [])
      // Without a reply by design the value is null, as it is to a device type's own run.
      if (!exchange.reply) return null as V
      if (answers.length === 0) throw new Error(`the simulator does not answer the request ${asked}`)
      const pieces = answers.map(({ bytes }) => bytes)
      return valueFrom(exchange, framesOf(description.framing, pieces), Buffer.concat(pieces))
    },
  }
  if (!tool.exchange) return tool.run(session, args)
  const value = await session.exchange(tool.exchange(args))
  const readBack = tool.readBack?.(args)
  if (readBack && !readBack.confirms(await session.exchange(readBack.exchange))) {
    throw new Error('the read-back does not confirm it')
  }
  return value
}

function verdictOf<V>(exchange: Exchange<V>, frames: readonly Uint8Array[]): Verdict<V> | undefined {
  for (const frame of frames) {
    const verdict = exchange.reply?.match(frame)
    if (verdict) return verdict
  }
  return undefined
}

/** `bytes`: what the frames were found in. */
function valueFrom<V>(exchange: Exchange<V>, frames: readonly Uint8Array[], bytes: Uint8Array): V {
  const verdict = verdictOf(exchange, frames)
  if (verdict?.kind === 'value') return verdict.value
  throw new Error(verdict ? verdict.message : notTaken(frames, bytes))
}

function notTaken(frames: readonly Uint8Array[], bytes: Uint8Array): string {
  return frames.length === 0
    ? `the framing finds no frame in the reply ${hexOf(bytes)}`
    : `the frame ${frames.map(hexOf).join(', ')} is not taken for the reply`
}

/** The mistake that is made most: of Modbus, requests and replies differ in their lengths. */
function requestsHint({ framing }: DeviceSimulator): string {
  return framing.key === modbusRtu().key ? ': a simulator needs modbusRtuRequests()' : ''
}

function requestFault(exchange: Exchange<unknown>, expected: ExampleBytes): string | undefined {
  const sent = hexOf(exchange.request)
  const wanted = hexOf(bytesOf(expected))
  return sent === wanted ? undefined : `the request is ${sent}, not ${wanted}`
}

function differs(got: unknown, expected: unknown): string {
  return `${JSON.stringify(got)}, not ${JSON.stringify(expected)}`
}
