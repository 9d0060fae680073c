/**
 * What a caller may conclude when something goes wrong before, during and after every single byte of a command. The
 * truth is the execution log of the simulated device, never what the gateway says of itself: `executed` is claimed
 * only of what it did, `not_executed` only of what it did not do.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadCatalogue } from '../src/driver/catalogue.ts'
import { attachSimulators } from '../src/simulator/host.ts'
import type { SimulatedWire } from '../src/simulator/wire.ts'
import type { CallRequest, CallResult } from '../src/tool/shapes.ts'
import { gatewayBench } from './gateway-fixture.ts'
import type { VirtualClock } from './virtual-clock.ts'

const PATH = '/dev/bus1'
/** 8N1 at 10,000 Bd: one character a millisecond. */
const CHARACTER_MS = 1
/** FC 05 and FC 06: requests and acknowledgements all have eight bytes. */
const BYTES = 8
const REPLY_DEADLINE_MS = 60
const OVER_MS = 400

const OPTIONS = {
  address: 1,
  registers: [
    { name: 'setpoint', register: 32, kind: 'holding', format: 'uint16', writable: true },
    { name: 'level', register: 16, kind: 'holding', format: 'uint16' },
  ],
  coils: [{ name: 'pump', coil: 0, writable: true, toggle: true }],
}
const CONFIG = {
  ports: { bus1: { path: PATH, baudRate: 10_000 } },
  devices: [
    { id: 'boiler', type: 'modbus', port: 'bus1', timeoutMs: 100, replyLatencyMaxMs: 200, ...OPTIONS },
  ],
}

const COMMANDS: readonly (readonly [what: string, call: CallRequest])[] = [
  ['a set of a coil (FC 05)', { name: 'boiler__set_pump', arguments: { value: true } }],
  ['a set of a register (FC 06)', { name: 'boiler__set_setpoint', arguments: { value: 215 } }],
  ['a toggle (FC 05)', { name: 'boiler__toggle_pump' }],
]

async function bench(seed = 1) {
  const made = await gatewayBench(CONFIG, { seed })
  const wire = made.wire(PATH)
  const type = (await loadCatalogue()).get('modbus')
  const simulator = type?.describe(OPTIONS).simulator
  if (!simulator) throw new Error('the type has no simulator')
  const { log } = attachSimulators(wire, [{ id: 'boiler', simulator }])
  const ask = (call: CallRequest) => {
    const asked: { result?: CallResult } = {}
    void made.gateway.call(call).then((result) => {
      asked.result = result
    })
    return asked
  }
  const writes = () => log.executions.filter(({ command }) => command.startsWith('write')).length
  return { ...made, wire, ask, writes }
}

/** Lets time pass until so many bytes of the reply are with the gateway. */
async function untilReplied(clock: VirtualClock, wire: SimulatedWire, bytes: number): Promise<void> {
  for (let step = 0; step < 4 * REPLY_DEADLINE_MS; step += 1) {
    if (wire.counters.bytesToHost >= bytes) return
    await clock.advance(CHARACTER_MS / 4)
  }
  throw new Error('the device does not answer')
}

function expectHonest(result: CallResult | undefined, truth: { writes: number; bytesSent: number }): void {
  expect(result).toBeDefined()
  if (result?.outcome === 'executed') expect(truth.writes).toBe(1)
  if (result?.outcome === 'not_executed') expect(truth).toEqual({ writes: 0, bytesSent: 0 })
}

for (const [what, call] of COMMANDS) {
  describe(`${what} whose port is pulled out`, () => {
    it('before the call is not executed, and is not sent when the port is back', async () => {
      const { clock, wire, ask, writes, gateway } = await bench()
      wire.unplug()
      await clock.advance(300)
      const asked = ask(call)
      await clock.advance(1)
      expect(asked.result).toMatchObject({ outcome: 'not_executed', error: { code: 'device_unavailable' } })
      wire.replug()
      await clock.advance(2_000)
      expect(writes()).toBe(0)
      await gateway.close()
    })

    it('while it waits for silence on the line is not executed', async () => {
      const { clock, wire, ask, writes, gateway } = await bench()
      wire.send(Uint8Array.of(0), { talker: 'noise' })
      await clock.advance(2)
      const asked = ask(call)
      await clock.advance(2)
      wire.unplug()
      await clock.advance(1)
      expect(asked.result).toMatchObject({ outcome: 'not_executed', error: { code: 'port_lost' } })
      expectHonest(asked.result, { writes: writes(), bytesSent: wire.counters.bytesToFarEnd })
      await gateway.close()
    })

    it('while it waits for another call is not executed', async () => {
      const { clock, wire, ask, writes, gateway } = await bench()
      const first = ask({ name: 'boiler__read_level' })
      const second = ask(call)
      await clock.advance(4)
      wire.unplug()
      await clock.advance(1)
      expect(first.result).toMatchObject({ outcome: 'unknown', error: { code: 'port_lost' } })
      expect(second.result).toMatchObject({ outcome: 'not_executed', error: { code: 'device_unavailable' } })
      wire.replug()
      await clock.advance(2_000)
      expect(writes()).toBe(0)
      await gateway.close()
    })

    for (let sent = 0; sent <= BYTES; sent += 1) {
      it(`after ${sent} bytes of the request is unknown, whatever the device made of them`, async () => {
        const { clock, wire, ask, writes, gateway } = await bench()
        const asked = ask(call)
        await clock.advance((sent + 0.5) * CHARACTER_MS)
        wire.unplug()
        await clock.advance(OVER_MS)
        expect(wire.counters.bytesToFarEnd).toBe(sent)
        expect(writes()).toBe(sent === BYTES ? 1 : 0)
        expect(asked.result).toMatchObject({
          outcome: 'unknown',
          error: { code: 'port_lost', retryable: false },
        })
        expectHonest(asked.result, { writes: writes(), bytesSent: sent })
        await gateway.close()
      })
    }

    for (let received = 1; received <= BYTES; received += 1) {
      const isWhole = received === BYTES
      it(`after ${received} bytes of the reply is ${isWhole ? 'executed' : 'unknown'}`, async () => {
        const { clock, wire, ask, writes, gateway } = await bench()
        wire.faults = { chunkBytes: () => 1 }
        const asked = ask(call)
        await untilReplied(clock, wire, received)
        wire.unplug()
        await clock.advance(OVER_MS)
        expect(wire.counters.bytesToHost).toBe(received)
        expect(writes()).toBe(1)
        expect(asked.result?.outcome).toBe(isWhole ? 'executed' : 'unknown')
        expectHonest(asked.result, { writes: 1, bytesSent: BYTES })
        await gateway.close()
      })
    }
  })

  describe(`${what} on a line that spoils a byte`, () => {
    for (const heading of ['to_far_end', 'to_host'] as const) {
      const whose = heading === 'to_far_end' ? 'request' : 'reply'
      for (const fate of ['lost', 'changed'] as const) {
        it(`is unknown when any byte of the ${whose} is ${fate}`, async () => {
          for (let index = 0; index < BYTES; index += 1) {
            const { clock, wire, ask, writes, gateway } = await bench()
            let seen = 0
            wire.faults = {
              byte: (towards, byte) => {
                if (towards !== heading || seen++ !== index) return byte
                return fate === 'lost' ? null : byte ^ 0x10
              },
            }
            const asked = ask(call)
            await clock.advance(OVER_MS)
            expect(writes(), `byte ${index}`).toBe(heading === 'to_far_end' ? 0 : 1)
            expect(asked.result, `byte ${index}`).toMatchObject({ outcome: 'unknown' })
            expect(['timeout', 'bad_reply']).toContain(asked.result?.error?.code)
            expectHonest(asked.result, { writes: writes(), bytesSent: BYTES })
            await gateway.close()
          }
        })
      }
    }
  })
}

describe('any command on any bad line', () => {
  const trouble = fc.record({
    command: fc.nat({ max: COMMANDS.length - 1 }),
    unplugAfterMs: fc.option(fc.double({ min: 0, max: 40, noNaN: true }), { nil: undefined, freq: 2 }),
    spoil: fc.option(fc.nat({ max: 2 * BYTES }), { nil: undefined, freq: 2 }),
    lose: fc.option(fc.nat({ max: 2 * BYTES }), { nil: undefined, freq: 2 }),
    chunkBytes: fc.integer({ min: 1, max: 16 }),
    /** The line is not silent, so that the command has to wait. */
    noise: fc.boolean(),
  })

  it('is never claimed to be executed or not executed against the log of the device', async () => {
    const outcomes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(trouble, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async (troubles, seed) => {
          const { clock, wire, ask, writes, gateway } = await bench(seed)
          for (const { command, unplugAfterMs, spoil, lose, chunkBytes, noise } of troubles) {
            if (noise) {
              wire.send(Uint8Array.of(0), { talker: 'noise' })
              await clock.advance(2)
            }
            const before = { writes: writes(), bytes: wire.counters.bytesToFarEnd }
            let seen = 0
            wire.faults = {
              chunkBytes: () => chunkBytes,
              byte: (_towards, byte) => {
                const index = seen++
                if (index === lose) return null
                return index === spoil ? byte ^ 0x20 : byte
              },
            }
            const asked = ask(COMMANDS[command]?.[1] ?? { name: '' })
            if (unplugAfterMs !== undefined) {
              await clock.advance(unplugAfterMs)
              wire.unplug()
            }
            await clock.advance(OVER_MS)
            wire.replug()
            // Long enough for the port to be back and for no late reply to be expected any more.
            await clock.advance(15_000)
            outcomes.add(asked.result?.outcome ?? 'none')
            const bytesSent = wire.counters.bytesToFarEnd - before.bytes
            expectHonest(asked.result, { writes: writes() - before.writes, bytesSent })
          }
          await gateway.close()
        },
      ),
      { numRuns: 40 },
    )
    expect([...outcomes].sort()).toEqual(['executed', 'not_executed', 'unknown'])
  }, 60_000)
})
