/**
 * The one promise that matters most: a reply that comes after its timeout never becomes the value of another call.
 * The bytes are those of pymodbus issue 2636, where the read of register 16 returned 17, the value of register 0.
 */
import { describe, expect, it } from 'vitest'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type GatewayBench, gatewayBench } from '../gateway-fixture.ts'

const READ_0 = '01 03 00 00 00 01 84 0a'
const READ_16 = '01 03 00 10 00 01 85 cf'
const READ_32 = '01 03 00 20 00 01 85 c0'
const IS_17 = '01 03 02 00 11 78 48'
const IS_34 = '01 03 02 00 22 38 5d'
const IS_51 = '01 03 02 00 33 f8 51'
const UNIT_2_READ_0 = '02 03 00 00 00 01 84 39'
const UNIT_2_IS_5 = '02 03 02 00 05 3c 47'

const TIMEOUT_MS = 500
/** The default of `replyLatencyMaxMs`: twice the timeout and a second. */
const WINDOW_MS = 2_000

const register = (name: string, address: number) => ({
  name,
  register: address,
  kind: 'holding',
  format: 'uint16',
})

const CONFIG = {
  ports: { bus1: { path: '/dev/bus1', baudRate: 9600 } },
  devices: [
    {
      id: 'boiler',
      type: 'modbus',
      port: 'bus1',
      address: 1,
      timeoutMs: TIMEOUT_MS,
      registers: [register('zero', 0), register('sixteen', 16), register('thirty_two', 32)],
    },
    {
      id: 'meter',
      type: 'modbus',
      port: 'bus1',
      address: 2,
      timeoutMs: TIMEOUT_MS,
      registers: [register('zero', 0)],
    },
  ],
}

function ask({ gateway }: GatewayBench, name: string): { result?: CallResult } {
  const asked: { result?: CallResult } = {}
  void gateway.call({ name }).then((result) => {
    asked.result = result
  })
  return asked
}

async function benchWithLateReply(delayMs: number, copies: number): Promise<GatewayBench> {
  const bench = await gatewayBench(CONFIG)
  bench
    .device('/dev/bus1')
    .answer(READ_0, ...lateReplies(delayMs, copies))
    .answer(READ_16, { hex: IS_34, afterMs: 10 })
    .answer(READ_32, { hex: IS_51, afterMs: 10 })
    .answer(UNIT_2_READ_0, { hex: UNIT_2_IS_5, afterMs: 10 })
  return bench
}

const lateReplies = (delayMs: number, copies: number) =>
  Array.from({ length: copies }, () => ({ hex: IS_17, afterMs: delayMs }))

/** Every delay from just after the timeout to the end of the window. */
const DELAYS_MS = Array.from({ length: (WINDOW_MS - TIMEOUT_MS) / 50 }, (_, index) => TIMEOUT_MS + 50 * index)

describe('a reply that comes after its timeout', () => {
  for (const copies of [1, 2, 3]) {
    it(`is never the value of another read, at any delay up to the window, ${copies} times`, async () => {
      const bench = await benchWithLateReply(0, 0)
      for (const delayMs of DELAYS_MS) {
        bench.device('/dev/bus1').answer(READ_0, ...lateReplies(delayMs, copies))
        const zero = ask(bench, 'boiler__read_zero')
        await bench.clock.advance(TIMEOUT_MS + 20)
        expect(zero.result, `${delayMs}`).toMatchObject({ outcome: 'unknown', error: { code: 'timeout' } })
        const sixteen = ask(bench, 'boiler__read_sixteen')
        const thirtyTwo = ask(bench, 'boiler__read_thirty_two')
        await bench.clock.advance(5_000)
        expect(sixteen.result, `${delayMs}`).toMatchObject({ status: 'ok', value: { sixteen: 34 } })
        expect(thirtyTwo.result, `${delayMs}`).toMatchObject({ status: 'ok', value: { thirty_two: 51 } })
        expect(bench.gateway.devices()[0]?.readings.zero).toBeUndefined()
      }
      await bench.gateway.close()
    })
  }

  it('slows nobody else down: a second unit of the bus keeps its latency meanwhile', async () => {
    const bench = await benchWithLateReply(1_900, 1)
    const undisturbed = ask(bench, 'meter__read_zero')
    await bench.clock.advance(1_000)
    const usualMs = undisturbed.result?.timing.runMs ?? 0
    ask(bench, 'boiler__read_zero')
    await bench.clock.advance(TIMEOUT_MS + 50)
    const waiting = ask(bench, 'boiler__read_sixteen')
    for (let round = 0; round < 5; round += 1) {
      const meter = ask(bench, 'meter__read_zero')
      await bench.clock.advance(100)
      expect(meter.result).toMatchObject({ status: 'ok', value: { zero: 5 } })
      const { queuedMs = 0, runMs = 0 } = meter.result?.timing ?? {}
      expect(queuedMs + runMs).toBeLessThan(usualMs + 30)
    }
    expect(waiting.result).toBeUndefined()
    await bench.gateway.close()
  })

  it('makes the port suspect until it has come, and is counted', async () => {
    const bench = await benchWithLateReply(700, 1)
    const port = async () => {
      const headers = { authorization: `Bearer ${bench.gateway.adminToken}` }
      return (await bench.gateway.inject({ url: '/v1/ports/bus1', headers })).json()
    }
    ask(bench, 'boiler__read_zero')
    await bench.clock.advance(TIMEOUT_MS + 20)
    expect(await port()).toMatchObject({ state: 'suspect', counters: { timeouts: 1, lateReplies: 0 } })
    await bench.clock.advance(500)
    expect(await port()).toMatchObject({
      state: 'open',
      counters: { timeouts: 1, lateReplies: 1, foreignFrames: 0 },
    })
    await bench.gateway.close()
  })

  it('is still expected after the port was lost and has come back', async () => {
    const bench = await benchWithLateReply(1_500, 1)
    ask(bench, 'boiler__read_zero')
    await bench.clock.advance(TIMEOUT_MS + 20)
    bench.wire('/dev/bus1').unplug()
    await bench.clock.advance(10)
    bench.wire('/dev/bus1').replug()
    await bench.clock.advance(400)
    const sixteen = ask(bench, 'boiler__read_sixteen')
    await bench.clock.advance(400)
    expect(sixteen.result).toBeUndefined()
    await bench.clock.advance(3_000)
    expect(sixteen.result).toMatchObject({ value: { sixteen: 34 } })
    await bench.gateway.close()
  })

  it('that never comes holds a read back until the window is over, and not longer', async () => {
    const bench = await benchWithLateReply(0, 0)
    ask(bench, 'boiler__read_zero')
    await bench.clock.advance(TIMEOUT_MS + 20)
    const sixteen = ask(bench, 'boiler__read_sixteen')
    await bench.clock.advance(WINDOW_MS - TIMEOUT_MS - 50)
    expect(sixteen.result).toBeUndefined()
    await bench.clock.advance(100)
    expect(sixteen.result).toMatchObject({ value: { sixteen: 34 } })
    await bench.gateway.close()
  })
})
