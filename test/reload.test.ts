/** Another configuration, applied to a gateway under load. */
import { describe, expect, it } from 'vitest'
import { validateConfiguration } from '../src/config/load.ts'
import { configurableTypes } from '../src/configurable-types.ts'
import type { CallResult } from '../src/tool/shapes.ts'
import { type GatewayBench, gatewayBench } from './gateway-fixture.ts'
import { ScriptedDevice } from './port/fixture.ts'

const READ = (unit: 1 | 2) => (unit === 1 ? '01 03 00 00 00 01 84 0a' : '02 03 00 00 00 01 84 39')
const REPLY = (unit: 1 | 2) => (unit === 1 ? '01 03 02 00 11 78 48' : '02 03 02 00 05 3c 47')

const board = (id: string, port: string, address: 1 | 2, more: object = {}) => ({
  id,
  type: 'modbus',
  port,
  address,
  poll: 'off',
  registers: [{ name: 'value', register: 0, kind: 'holding', format: 'uint16' }],
  ...more,
})
const config = (ports: readonly string[], devices: readonly object[]) => ({
  ports: Object.fromEntries(ports.map((id) => [id, { path: `/dev/${id}` }])),
  devices,
})

async function apply(bench: GatewayBench, object: object) {
  const types = configurableTypes(bench.gateway.types)
  const { configuration, faults } = validateConfiguration(object, types)
  if (!configuration) throw new Error(JSON.stringify(faults))
  for (const { path, settings } of configuration.ports) {
    if (!bench.binding.wire(path))
      answering(new ScriptedDevice(bench.binding.addWire(path, { settings }), bench.clock))
  }
  return bench.gateway.apply(configuration)
}

function answering(device: ScriptedDevice): void {
  for (const unit of [1, 2] as const) device.answer(READ(unit), { hex: REPLY(unit), afterMs: 5 })
}

describe('a reload', () => {
  it('that adds, changes and removes devices under load loses no call, and leaves other ports open', async () => {
    const before = config(
      ['a', 'b', 'c'],
      [board('stays', 'a', 1), board('changes', 'b', 1), board('goes', 'c', 1)],
    )
    const bench = await gatewayBench(before)
    for (const path of ['/dev/a', '/dev/b', '/dev/c']) answering(bench.device(path))
    const results: CallResult[] = []
    let asked = 0
    const load = (name: string) => {
      asked += 1
      void bench.gateway.call({ name }).then((result) => results.push(result))
    }
    const reload = { done: false }
    for (let round = 0; round < 60; round += 1) {
      for (const name of [
        'stays__read_value',
        'changes__read_value',
        'goes__read_value',
        'comes__read_value',
      ])
        load(name)
      if (round === 20) {
        const after = config(
          ['a', 'b', 'd'],
          [board('stays', 'a', 1), board('changes', 'b', 2), board('comes', 'd', 2)],
        )
        void apply(bench, after).then(() => {
          reload.done = true
        })
      }
      await bench.clock.advance(40)
    }
    await bench.clock.advance(30_000)
    expect(reload.done).toBe(true)
    expect(results).toHaveLength(asked)
    const right = results.filter(({ status }) => status === 'ok')
    for (const { name, value } of right) {
      if (name === 'stays__read_value') expect(value).toEqual({ value: 17 })
      if (name === 'comes__read_value') expect(value).toEqual({ value: 5 })
    }
    expect(right.filter(({ name }) => name === 'stays__read_value')).toHaveLength(60)
    const failures = results.filter(({ status }) => status === 'error')
    for (const { error, outcome } of failures) {
      expect(outcome).toBe('not_executed')
      expect(['unknown_tool', 'device_unavailable']).toContain(error?.code)
    }
    // Both addresses were really asked on the port whose device changed.
    const heard = bench.device('/dev/b').heard.map(({ hex }) => hex.slice(0, 2))
    expect(new Set(heard)).toEqual(new Set(['01', '02']))
    expect(bench.gateway.ports().map(({ id }) => id)).toEqual(['a', 'b', 'd'])
    expect(bench.gateway.ports().find(({ id }) => id === 'a')?.counters.opens).toBe(1)
    expect(bench.gateway.tools().map(({ device }) => device)).not.toContain('goes')
    await bench.gateway.close()
  })

  it('finishes what runs on a port that changes before it opens the new one', async () => {
    const bench = await gatewayBench(config(['a'], [board('one', 'a', 1)]))
    bench.device('/dev/a').answer(READ(1), { hex: REPLY(1), afterMs: 400 })
    let result: CallResult | undefined
    void bench.gateway.call({ name: 'one__read_value' }).then((settled) => {
      result = settled
    })
    await bench.clock.advance(50)
    const next = {
      ...config(['a'], [board('one', 'a', 1)]),
      ports: { a: { path: '/dev/a', baudRate: 19_200 } },
    }
    void apply(bench, next)
    await bench.clock.advance(2_000)
    expect(result).toMatchObject({ outcome: 'executed', value: { value: 17 } })
    expect(bench.gateway.ports()).toMatchObject([{ id: 'a', state: 'open', settings: { baudRate: 19_200 } }])
    await bench.gateway.close()
  })

  it.each([
    ['other settings', { a: { path: '/dev/a', hupcl: false } }, 'a'],
    ['another name', { b: { path: '/dev/a' } }, 'b'],
  ])('that opens a port with %s still expects the replies that are late', async (_what, ports, port) => {
    const bench = await gatewayBench(config(['a'], [board('one', 'a', 1, { timeoutMs: 300 })]))
    bench.device('/dev/a').answer(READ(1), { hex: REPLY(1), afterMs: 900 })
    let late: CallResult | undefined
    void bench.gateway.call({ name: 'one__read_value' }).then((settled) => {
      late = settled
    })
    await bench.clock.advance(320)
    expect(late).toMatchObject({ error: { code: 'timeout' } })
    await apply(bench, { ports, devices: [board('one', port, 1, { timeoutMs: 300 })] })
    // The late reply comes while the next one is waited for.
    bench.device('/dev/a').answer(READ(1), { hex: '01 03 02 00 22 38 5d', afterMs: 250 })
    await bench.clock.advance(400)
    let next: CallResult | undefined
    void bench.gateway.call({ name: 'one__read_value' }).then((settled) => {
      next = settled
    })
    await bench.clock.advance(5_000)
    expect(next).toMatchObject({ status: 'ok', value: { value: 34 } })
    await bench.gateway.close()
  })

  it('keeps the values of a device that it does not change', async () => {
    const bench = await gatewayBench(config(['a'], [board('one', 'a', 1)]))
    answering(bench.device('/dev/a'))
    void bench.gateway.call({ name: 'one__read_value' })
    await bench.clock.advance(100)
    await apply(bench, config(['a'], [board('one', 'a', 1), board('two', 'a', 2)]))
    expect(bench.gateway.device('one')?.readings.value).toMatchObject({ value: 17 })
    let second: CallResult | undefined
    void bench.gateway.call({ name: 'two__read_value' }).then((settled) => {
      second = settled
    })
    await bench.clock.advance(200)
    expect(second).toMatchObject({ value: { value: 5 } })
    await bench.gateway.close()
  })
})
