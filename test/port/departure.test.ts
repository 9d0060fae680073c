/**
 * A request that the operating system has taken over may stay there: behind flow control, or in an adapter that hangs. It
 * reaches the device when nobody waits for it any more, and its reply is late by more than the device is ever slow. The
 * truth is what the device heard.
 */
import { describe, expect, it, vi } from 'vitest'
import { SimulatedPort } from '../../src/simulator/port.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type GatewayBench, gatewayBench } from '../gateway-fixture.ts'

const READ_0 = '01 03 00 00 00 01 84 0a'
const READ_16 = '01 03 00 10 00 01 85 cf'
const UNIT_2_READ_0 = '02 03 00 00 00 01 84 39'
// capture: pymodbus issue 2636
const IS_17 = '01 03 02 00 11 78 48'
const IS_34 = '01 03 02 00 22 38 5d'
const UNIT_2_IS_5 = '02 03 02 00 05 3c 47'

const PATH = '/dev/bus1'
const TIMEOUT_MS = 500
const WINDOW_MS = 1_000

const register = (name: string, address: number) => ({
  name,
  register: address,
  kind: 'holding',
  format: 'uint16',
})
const times = { timeoutMs: TIMEOUT_MS, replyLatencyMaxMs: WINDOW_MS }

const CONFIG = {
  ports: { bus1: { path: PATH, baudRate: 9600 } },
  devices: [
    {
      id: 'boiler',
      type: 'modbus',
      port: 'bus1',
      address: 1,
      ...times,
      registers: [register('zero', 0), register('sixteen', 16)],
    },
    { id: 'meter', type: 'modbus', port: 'bus1', address: 2, ...times, registers: [register('zero', 0)] },
  ],
}

async function bench(): Promise<GatewayBench> {
  const made = await gatewayBench(CONFIG)
  made
    .device(PATH)
    .answer(READ_0, { hex: IS_17, afterMs: 900 })
    .answer(READ_16, { hex: IS_34, afterMs: 10 })
    .answer(UNIT_2_READ_0, { hex: UNIT_2_IS_5, afterMs: 10 })
  return made
}

function ask({ gateway }: GatewayBench, name: string): { result?: CallResult } {
  const asked: { result?: CallResult } = {}
  void gateway.call({ name }).then((result) => {
    asked.result = result
  })
  return asked
}

describe('a request that stays with the operating system', () => {
  it('answers its caller at the timeout, and keeps the line from every other request until it is out', async () => {
    const made = await bench()
    made.wire(PATH).stall('line')
    const first = ask(made, 'boiler__read_zero')
    await made.clock.advance(TIMEOUT_MS + 1)
    expect(first.result).toMatchObject({ outcome: 'unknown', error: { code: 'timeout' } })
    const other = ask(made, 'meter__read_zero')
    // Longer than the second request may take, had it been written behind the first.
    await made.clock.advance(530)
    made.wire(PATH).resume()
    await made.clock.advance(100)
    // The unit of the second call is another one: nothing that may come late keeps it waiting.
    expect(other.result).toMatchObject({ status: 'ok', value: { zero: 5 } })
    expect(made.device(PATH).heard.map(({ hex }) => hex)).toEqual([hex(READ_0), hex(UNIT_2_READ_0)])
    await made.gateway.close()
  })

  it('is answered late by as much, and that reply is nobody else’s value', async () => {
    const made = await bench()
    made.device(PATH).answer(READ_16, { hex: IS_34, afterMs: 450 })
    made.wire(PATH).stall('line')
    const first = ask(made, 'boiler__read_zero')
    await made.clock.advance(900)
    expect(first.result?.error?.code).toBe('timeout')
    made.wire(PATH).resume()
    // Heard at 900 ms, answered at 1,800 ms: after the window that counts from the writing.
    await made.clock.advance(600)
    const second = ask(made, 'boiler__read_sixteen')
    await made.clock.advance(3_000)
    expect(second.result).toMatchObject({ status: 'ok', value: { sixteen: 34 } })
    await made.gateway.close()
  })

  it('is dropped where it stays for longer, and never reaches the device', async () => {
    const made = await bench()
    made.wire(PATH).stall('line')
    const first = ask(made, 'boiler__read_zero')
    await made.clock.advance(5_000)
    expect(first.result?.error?.code).toBe('timeout')
    made.wire(PATH).resume()
    const second = ask(made, 'boiler__read_sixteen')
    await made.clock.advance(5_000)
    expect(second.result).toMatchObject({ status: 'ok', value: { sixteen: 34 } })
    expect(made.device(PATH).heard.map(({ hex }) => hex)).toEqual([hex(READ_16)])
    await made.gateway.close()
  })

  it('holds the line too while the system has not even taken it over, and drops it then', async () => {
    const made = await bench()
    made.wire(PATH).stall('buffer')
    ask(made, 'boiler__read_zero')
    await made.clock.advance(2_000)
    const second = ask(made, 'boiler__read_sixteen')
    await made.clock.advance(1_000)
    made.wire(PATH).resume()
    await made.clock.advance(3_000)
    expect(second.result).toMatchObject({ status: 'ok', value: { sixteen: 34 } })
    expect(made.device(PATH).heard.map((heard) => heard.hex)).toEqual([hex(READ_16)])
    await made.gateway.close()
  })

  it('is none of anybody’s business once its reply has come: no state of the port is told for it', async () => {
    const made = await bench()
    const told: string[] = []
    made.gateway.feed.subscribe(undefined, ({ type }) => told.push(type))
    for (let index = 0; index < 10; index += 1) ask(made, 'meter__read_zero')
    await made.clock.advance(2_000)
    expect(told.filter((type) => type === 'call')).toHaveLength(10)
    expect(told).not.toContain('port')
    await made.gateway.close()
  })

  it('costs a device that answers at once nothing: the system is not asked', async () => {
    const drains = vi.spyOn(SimulatedPort.prototype, 'drain')
    const made = await bench()
    const port = made.gateway.port('bus1')
    for (let index = 0; index < 10; index += 1) ask(made, 'meter__read_zero')
    await made.clock.advance(2_000)
    expect(port?.status().counters).toMatchObject({ transactions: 10, timeouts: 0 })
    expect(drains).not.toHaveBeenCalled()
    await made.gateway.close()
  })
})

function hex(bytes: string): string {
  return bytes.replaceAll(' ', '')
}
