/**
 * Whatever arguments fit a tool's parameters: a request that the far end takes as one frame, however it comes, or a
 * refusal that says which arguments are wrong; and what its simulator answers is a value that the tool promises.
 */
import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { framesOf } from '../../src/driver/contract-vectors.ts'
import type {
  DeviceDescription,
  DeviceSession,
  DeviceSimulator,
  Exchange,
  ToolSpec,
} from '../../src/driver/device-type.ts'
import { GatewayError } from '../../src/errors.ts'
import { type FuzzDevice, STILL_WORLD } from './devices.ts'
import { fitting, NO_PARAMETERS } from './fitting.ts'
import type { FuzzProperty } from './fuzz-property.ts'

type Arguments = Readonly<Record<string, unknown>>

const ajv = new Ajv({ strict: false })

function checkRequest({ framing }: DeviceSimulator, { request }: Exchange<unknown>): void {
  const whole = framesOf(framing, [request])
  const shown = Buffer.from(request).toString('hex')
  assert.equal(whole.length, 1, `${whole.length} frames in the request ${shown}`)
  const single = framesOf(
    framing,
    Array.from(request, (byte) => Uint8Array.of(byte)),
  )
  assert.deepEqual(single, whole, `cut in bytes, the request ${shown} is another`)
}

/** The exchanges of a tool, answered by the simulator; a reply by design that does not come ends them. */
async function run(tool: ToolSpec, device: DeviceDescription, simulator: DeviceSimulator, args: Arguments) {
  const unanswered = new Error('the simulator did not answer')
  const session: DeviceSession = {
    async exchange<V>(exchange: Exchange<V>) {
      checkRequest(simulator, exchange)
      const answers = framesOf(simulator.framing, [exchange.request]).flatMap(
        (one) => simulator.receive(one) ?? [],
      )
      for (const frame of framesOf(
        device.framing,
        answers.map(({ bytes }) => bytes),
      )) {
        const verdict = exchange.reply?.match(frame)
        if (verdict?.kind === 'value') return verdict.value
      }
      if (exchange.reply) throw unanswered
      return null as V
    },
  }
  try {
    if (tool.run) return await tool.run(session, args)
    if (tool.get) return tool.get({}, args)
    const value = await session.exchange(tool.exchange(args))
    const readBack = tool.readBack?.(args)
    if (readBack) await session.exchange(readBack.exchange)
    return value
  } catch (thrown) {
    if (thrown === unanswered) return undefined
    if (!(thrown instanceof GatewayError)) throw thrown
    assert.equal(thrown.code, 'invalid_arguments')
    return undefined
  }
}

export function requests(devices: readonly FuzzDevice[]): readonly FuzzProperty[] {
  return devices.flatMap(({ name, device }) =>
    Object.entries(device.tools).flatMap(([command, tool]) => {
      if (tool.get || !device.simulator) return []
      const { simulator } = device
      const fits = tool.returns && ajv.compile(tool.returns)
      const property = fc.asyncProperty(fitting(tool.parameters ?? NO_PARAMETERS), async (args) => {
        const value = await run(tool, device, simulator(STILL_WORLD), args)
        if (value === undefined || value === null || !fits) return
        assert.ok(fits(value), `${JSON.stringify(value)}: ${ajv.errorsText(fits.errors)}`)
      })
      const hasArguments = Object.keys(tool.parameters?.properties ?? {}).length > 0
      return [
        {
          name: `request: ${name} ${command}`,
          runs: hasArguments ? 60 : 1,
          check: (runs) => fc.assert(property, runs),
        },
      ]
    }),
  )
}
