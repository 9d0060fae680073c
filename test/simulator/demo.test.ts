import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import modbus from '../../devices/modbus.ts'
import { demoConfiguration } from '../../src/simulator/demo.ts'

const { devices, ports } = demoConfiguration()
const modbusDevices = devices.filter((device) => device.type === 'modbus')

describe('the demo', () => {
  test('has simulated ports only', () => {
    const paths = [...Object.values(ports), ...devices.map(({ port }) => port)].flatMap((port) =>
      typeof port === 'string' ? [] : [port.path],
    )
    expect(new Set(paths)).toEqual(new Set(['simulated']))
  })

  test('names every device once, in a form that a tool name may have', () => {
    const ids = devices.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
  })

  test('puts several devices on one bus, each at its own address', () => {
    expect(modbusDevices.map((device) => [device.id, device.port, device.address])).toEqual([
      ['heat_pump', 'bus1', 1],
      ['grid_meter', 'bus1', 2],
      ['relays', 'bus1', 3],
    ])
    expect(Object.keys(ports)).toEqual(['bus1'])
  })

  test('every device has a name, an area and what it polls or tells', () => {
    for (const device of devices) {
      expect(device).toMatchObject({ name: expect.any(String), area: expect.any(String) })
      expect('poll' in device || 'events' in device).toBe(true)
    }
  })

  test.each(modbusDevices.map((device) => [device.id, device] as const))(
    'the register map of %s is one that the type takes',
    (_, device) => {
      const { id, name, area, type, port, poll, ...options } = device
      expect([...Value.Errors(modbus.options, options)]).toEqual([])
      expect(modbus.faults?.(options as never) ?? []).toEqual([])
    },
  )

  test('is a new object each time: who changes it changes nobody else’s', () => {
    const before = demoConfiguration()
    Object.assign(demoConfiguration().devices[0] ?? {}, { address: 77 })
    expect(demoConfiguration()).toEqual(before)
  })
})
