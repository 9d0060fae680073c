/** The emergency stop on a whole gateway, with what the devices really heard. */

import { Type } from 'typebox'
import { beforeEach, describe, expect, it } from 'vitest'
import { defineTool } from '../src/tool/define-tool.ts'
import type { CallResult, StopStatus } from '../src/tool/shapes.ts'
import { type GatewayBench, gatewayBench } from './gateway-fixture.ts'

/** Frames of the Modbus specification; CRCs as on the wire of a relay board. */
const READ_0 = '01 03 00 00 00 01 84 0a'
const PUMP_OFF = '01 05 00 00 00 00 cd ca'
const PUMP_ON = '01 05 00 00 ff 00 8c 3a'

const CONFIG = {
  ports: { bus1: { path: '/dev/bus1' } },
  devices: [
    {
      id: 'board',
      type: 'modbus',
      port: 'bus1',
      address: 1,
      timeoutMs: 5_000,
      stop: [{ tool: 'set_pump', arguments: { value: false } }],
      registers: [{ name: 'value', register: 0, kind: 'holding', format: 'uint16' }],
      coils: [{ name: 'pump', coil: 0, writable: true }],
    },
  ],
  never: [{ tool: 'board__set_pump', minimumGapMs: 3_600_000 }],
}

function watched<T>(work: Promise<T>): { result?: T } {
  const watch: { result?: T } = {}
  void work.then((result) => {
    watch.result = result
  })
  return watch
}

describe('the emergency stop', () => {
  let bench: GatewayBench

  const admin = async (method: 'POST' | 'DELETE'): Promise<StopStatus> => {
    const principal = { id: 'a', name: 'admin', role: 'admin' as const }
    const { emergencyStop } = bench.gateway
    if (method === 'DELETE') return emergencyStop.release(principal)
    const stop = watched(emergencyStop.engage(principal))
    await bench.clock.advance(1_000)
    if (!stop.result) throw new Error('the stop does not end')
    return stop.result
  }

  beforeEach(async () => {
    bench = await gatewayBench(CONFIG, {
      tools: [
        defineTool({ name: 'count', effect: 'act', returns: Type.Object({}), run: () => ({}) }),
        defineTool({ name: 'look', effect: 'read', run: () => ({}), parallelSafe: true }),
      ],
    })
    bench
      .device('/dev/bus1')
      .answer(READ_0)
      .answer(PUMP_OFF, { hex: PUMP_OFF, afterMs: 5 })
      .answer(PUMP_ON, { hex: PUMP_ON, afterMs: 5 })
  })

  it('ends what runs after 250 ms, answers what waits, and sends the stop command at once on the suspect line', async () => {
    const running = watched(bench.gateway.call({ name: 'board__read_value' }))
    const waiting = watched(bench.gateway.call({ name: 'board__read_value' }))
    await bench.clock.advance(100)
    const status = await admin('POST')
    expect(running.result).toMatchObject({ outcome: 'unknown', error: { code: 'stopped' } })
    expect(waiting.result).toMatchObject({ outcome: 'not_executed', error: { code: 'stopped' } })
    expect(status).toMatchObject({ stopped: true, by: 'admin', commands: [{ name: 'board__set_pump' }] })
    const heard = bench.device('/dev/bus1').heard.at(-1)
    expect(heard?.hex).toBe(PUMP_OFF.replaceAll(' ', ''))
    // The read that was stopped may still be answered, and its answer is no acknowledgement: nothing else delays it.
    expect(heard?.at).toBeLessThan(100 + 250 + 100)
  })

  it('is held by no interlock, and by no waiting call', async () => {
    const on = watched(bench.gateway.call({ name: 'board__set_pump', arguments: { value: true } }))
    await bench.clock.advance(200)
    expect(on.result).toMatchObject({ outcome: 'executed' })
    const status = await admin('POST')
    expect(status.commands).toMatchObject([{ status: 'ok', outcome: 'executed' }])
  })

  it('takes nothing for a proof that could be the late reply to another command', async () => {
    // The same command is asked first, and answered only after the stop has sent its own.
    bench.device('/dev/bus1').answer(PUMP_OFF, { hex: PUMP_OFF, afterMs: 400 })
    const off = watched(bench.gateway.call({ name: 'board__set_pump', arguments: { value: false } }))
    await bench.clock.advance(100)
    const status = await admin('POST')
    expect(off.result).toMatchObject({ outcome: 'unknown', error: { code: 'stopped' } })
    expect(status.commands).toMatchObject([{ status: 'ok', outcome: 'unknown', sent: true }])
  })

  it('stays latched: what changes something is stopped, what reads goes on, until it is released', async () => {
    await admin('POST')
    const results: Record<string, { result?: CallResult }> = {}
    for (const name of ['count', 'look', 'board__set_pump']) {
      const args = name === 'board__set_pump' ? { value: true } : {}
      results[name] = watched(bench.gateway.call({ name, arguments: args }))
    }
    await bench.clock.advance(100)
    expect(results.count?.result).toMatchObject({ outcome: 'not_executed', error: { code: 'stopped' } })
    expect(results.board__set_pump?.result).toMatchObject({ error: { code: 'stopped' } })
    expect(results.look?.result).toMatchObject({ outcome: 'executed' })
    expect(await admin('DELETE')).toMatchObject({ stopped: false, since: null, commands: [] })
    const after = watched(bench.gateway.call({ name: 'count' }))
    await bench.clock.advance(100)
    expect(after.result).toMatchObject({ outcome: 'executed' })
  })

  it('lets nothing of an open lane through that was added before it', async () => {
    const lane = bench.gateway.lane()
    const first = watched(lane.add({ name: 'board__read_value' }))
    const second = watched(lane.add({ name: 'count' }))
    await bench.clock.advance(100)
    await admin('POST')
    await bench.clock.advance(10_000)
    expect(first.result).toMatchObject({ error: { code: 'stopped' } })
    expect(second.result).toMatchObject({ outcome: 'not_executed', error: { code: 'stopped' } })
  })
})
