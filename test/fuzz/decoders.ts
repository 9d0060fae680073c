/**
 * Every decoder of the catalogue is total: a frame that is foreign, damaged or noise is no reply, or a refusal, or a
 * value that the tool's own schema describes; nothing is thrown.
 */
import assert from 'node:assert/strict'
import { Ajv, type ValidateFunction } from 'ajv'
import fc from 'fast-check'
import { bytesOf, exampleFrames, framesOf } from '../../src/driver/contract-vectors.ts'
import type {
  DeviceDescription,
  DeviceSession,
  Example,
  Exchange,
  PushedFields,
  ToolSpec,
  Verdict,
} from '../../src/driver/device-type.ts'
import { GatewayError } from '../../src/errors.ts'
import { type FuzzDevice, STILL_WORLD } from './devices.ts'
import { fitting, NO_PARAMETERS } from './fitting.ts'
import type { FuzzProperty } from './fuzz-property.ts'
import { mutated } from './mutation.ts'

const ajv = new Ajv({ strict: false, allErrors: true })

type Arguments = Record<string, unknown>

interface Subject {
  readonly name: string
  readonly device: DeviceDescription
  readonly tool: ToolSpec
  readonly examples: readonly Example[]
}

/** The value is what JSON can say, and fits the schema. */
function checkValue(value: unknown, fits: ValidateFunction | undefined): void {
  assertJson(value, '')
  if (fits) assert.ok(fits(value), `${JSON.stringify(value)}: ${ajv.errorsText(fits.errors)}`)
}

function assertJson(value: unknown, place: string): void {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return
  if (typeof value === 'number') {
    assert.ok(Number.isFinite(value), `${place} is ${value}`)
    return
  }
  assert.equal(typeof value, 'object', `${place} is no JSON: ${String(value)}`)
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null || Array.isArray(value)
  assert.ok(isPlain, `${place} is no plain object`)
  for (const [key, one] of Object.entries(value ?? {})) assertJson(one, `${place}/${key}`)
}

function checkVerdict(verdict: Verdict<unknown> | undefined, fits: ValidateFunction | undefined): void {
  switch (verdict?.kind) {
    case 'value':
      checkValue(verdict.value, fits)
      return
    case 'refused':
      assert.ok(['string', 'number'].includes(typeof verdict.deviceCode))
      assert.equal(typeof verdict.message, 'string')
      return
    case 'busy':
      assert.equal(typeof verdict.message, 'string')
  }
}

/** A line whose every frame is one of those given, in turn; the tool's own refusals are its right. */
async function checkRun(tool: ToolSpec & { run: object }, args: Arguments, frames: readonly Uint8Array[]) {
  const fits = tool.returns && ajv.compile(tool.returns)
  const left = [...frames]
  const noReply = new Error('no reply')
  const session: DeviceSession = {
    async exchange<V>({ reply }: Exchange<V>) {
      if (!reply) return null as V
      for (let frame = left.shift(); frame !== undefined; frame = left.shift()) {
        const verdict = reply.match(frame)
        checkVerdict(verdict, undefined)
        if (verdict?.kind === 'value') return verdict.value
        if (verdict) break
      }
      throw noReply
    },
  }
  let value: unknown
  try {
    value = await tool.run(session, args)
  } catch (thrown) {
    if (thrown !== noReply && !(thrown instanceof GatewayError)) throw thrown
    return
  }
  checkValue(value, fits)
}

function checkGet(
  tool: ToolSpec & { get: object },
  device: DeviceDescription,
  args: Arguments,
  frames: Uint8Array[],
) {
  const fields: Record<string, unknown> = {}
  for (const frame of frames) Object.assign(fields, device.pushed?.fields(frame))
  checkValue(tool.get(fields satisfies PushedFields, args), tool.returns && ajv.compile(tool.returns))
}

function decodes({ name, device, tool, examples }: Subject): FuzzProperty {
  const fits = tool.returns && ajv.compile(tool.returns)
  const replies = examples.flatMap(({ reply, exchanges = [] }) => [
    ...(reply === undefined ? [] : [reply]),
    ...exchanges.map((step) => step.reply),
  ])
  const whole = replies.flatMap((reply) => [...exampleFrames(device.framing, reply), bytesOf(reply)])
  // Always the same few, so that a seed tells the whole input.
  const given = fc.sample(fitting(tool.parameters ?? NO_PARAMETERS), { seed: 1, numRuns: 4 })
  const simulated = given.flatMap((args) => simulatedReplies(device, tool, args))
  const args = fc.constantFrom(...examples.map((example) => example.arguments ?? {}), ...given)
  const originals = [...whole, ...simulated, new Uint8Array(0)]
  const frame = fc.oneof(mutated(originals), fc.uint8Array({ maxLength: 300 }))
  const frames = fc.array(frame, { minLength: 1, maxLength: 6 })
  const property = fc.asyncProperty(args, frames, async (given, tried) => {
    if (tool.run) return checkRun(tool, given, tried)
    if (tool.get) return checkGet(tool, device, given, tried)
    const exchange = exchangeOf(tool, given)
    for (const one of exchange ? tried : []) checkVerdict(exchange?.reply?.match(one), fits)
    const readBack = exchange && tool.readBack?.(given)
    for (const one of readBack ? tried : []) {
      const verdict = readBack?.exchange.reply?.match(one)
      checkVerdict(verdict, undefined)
      if (verdict?.kind === 'value') assert.equal(typeof readBack?.confirms(verdict.value), 'boolean')
    }
  })
  return { name: `decoder: ${name}`, runs: 60, check: (runs) => fc.assert(property, runs) }
}

/** Undefined: the tool refuses the arguments. */
function exchangeOf(tool: ToolSpec, args: Record<string, unknown>): Exchange<unknown> | undefined {
  try {
    return tool.exchange?.(args)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/** What the type's own simulator answers to one transaction, frame by frame. */
function simulatedReplies(
  device: DeviceDescription,
  tool: ToolSpec,
  args: Record<string, unknown>,
): Uint8Array[] {
  const simulator = device.simulator?.(STILL_WORLD)
  const exchange = exchangeOf(tool, args)
  if (!simulator || !exchange) return []
  const answers = framesOf(simulator.framing, [exchange.request]).flatMap(
    (one) => simulator.receive(one) ?? [],
  )
  const pieces = answers.map(({ bytes }) => bytes)
  return framesOf(device.framing, pieces)
}

/** What the device says of its own accord; a frame of another kind says nothing. */
function hears(type: string, device: DeviceDescription, known: readonly Uint8Array[]): FuzzProperty {
  const frame = fc.oneof(mutated([...known, new Uint8Array(0)]), fc.uint8Array({ maxLength: 300 }))
  const property = fc.property(frame, (one) => {
    for (const said of [
      device.pushed?.fields(one),
      ...(device.events ?? []).map(({ match }) => match(one)),
    ]) {
      if (said !== undefined) checkValue(said, undefined)
    }
    assert.ok(['boolean', 'undefined'].includes(typeof device.boot?.banner?.(one)))
  })
  return {
    name: `decoder: what ${type} says unasked`,
    runs: 200,
    check: async (runs) => fc.assert(property, runs),
  }
}

/** Of every tool of every device. */
export function decoders(devices: readonly FuzzDevice[]): readonly FuzzProperty[] {
  return devices.flatMap(({ name, device, examplesOf }) => {
    const tools = Object.entries(device.tools)
    const known = tools.flatMap(([tool]) =>
      examplesOf(tool).flatMap(({ reply }) => (reply ? exampleFrames(device.framing, reply) : [])),
    )
    return [
      ...tools.map(([tool, spec]) =>
        decodes({ name: `${name} ${tool}`, device, tool: spec, examples: examplesOf(tool) }),
      ),
      hears(name, device, known),
    ]
  })
}
