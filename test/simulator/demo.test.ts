import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import line from '../../devices/line.ts'
import mhZ19 from '../../devices/mh-z19.ts'
import modbus from '../../devices/modbus.ts'
import { demoConfiguration } from '../../src/simulator/demo.ts'

const { devices, ports } = demoConfiguration()
const TYPES = [line, mhZ19, modbus]
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

  test.each(devices.map((device) => [device.id, device] as const))(
    'the type of %s takes its options, finds no fault in them and can simulate it',
    (_, device) => {
      const { id, name, area, type: typeName, port, poll, ...options } = device
      const type = TYPES.find((each) => each.type === typeName)
      expect(type && [...Value.Errors(type.options, options)]).toEqual([])
      expect(type?.faults?.(options as never) ?? []).toEqual([])
      expect(type?.describe(options as never).simulator).toBeTypeOf('function')
    },
  )

  test('is a new object each time: who changes it changes nobody else’s', () => {
    const before = JSON.stringify(demoConfiguration())
    Object.assign(demoConfiguration().devices[0] ?? {}, { address: 77 })
    expect(JSON.stringify(demoConfiguration())).toBe(before)
  })
})
