import { crc16modbus } from 'crc'
import { describe, expect, test } from 'vitest'
import modbus from '../../devices/modbus.ts'
import type { Log } from '../../src/log.ts'
import { silentLog } from '../../src/log.ts'
import { demoConfiguration } from '../../src/simulator/demo.ts'
import type { SimulatedDevice } from '../../src/simulator/host.ts'
import { createSimulation } from '../../src/simulator/simulated.ts'
import { settle, VirtualClock } from '../virtual-clock.ts'
import { LINE_9600, Reader } from './fixture.ts'

/** A request of Modbus RTU: unit, function, address, count or value, and the checksum, its low byte first. */
function rtu(...bytes: number[]): Buffer {
  const checksum = crc16modbus(Buffer.from(bytes))
  return Buffer.from([...bytes, checksum & 0xff, checksum >> 8])
}

function modbusDevices(): SimulatedDevice[] {
  return demoConfiguration().devices.flatMap((device) => {
    if (device.type !== 'modbus') return []
    const { id, name, area, type, port, poll, ...options } = device
    const { simulator } = modbus.describe(options as never)
    return simulator ? [{ id, simulator }] : []
  })
}

function simulation(log: Log = silentLog) {
  const clock = new VirtualClock()
  return { clock, ...createSimulation({ clock, log }) }
}

describe('a simulation', () => {
  test('puts the devices of a bus behind the port of that name, and logs what they did', async () => {
    const { binding, clock, log, plug } = simulation()
    expect(modbusDevices()).toHaveLength(3)
    plug('bus1', LINE_9600, modbusDevices())
    const port = await binding.open({ path: 'bus1', ...LINE_9600 })
    const reader = new Reader(port, () => clock.now())
    // Relay board at 3: coil 1 on. A write of one coil is answered by its own bytes.
    const request = rtu(3, 5, 0, 1, 0xff, 0)
    await port.write(request)
    await clock.advance(100)
    expect(reader.bytes).toEqual([...request])
    expect(log.executions).toMatchObject([
      { device: 'relays', command: 'write_bits', detail: { address: 1, bits: [true] } },
    ])
    // The request takes 8 characters of 10 bits at 9600.
    expect(log.executions[0]?.at).toBeCloseTo((8 * 10) / 9.6, 6)
  })

  test('an address that nobody has is answered by nobody', async () => {
    const { binding, clock, log, plug } = simulation()
    const { counters } = plug('bus1', LINE_9600, modbusDevices())
    const port = await binding.open({ path: 'bus1', ...LINE_9600 })
    const reader = new Reader(port, () => clock.now())
    await port.write(rtu(9, 3, 0, 0, 0, 1))
    await clock.advance(1000)
    expect(reader.bytes).toEqual([])
    expect(log.executions).toEqual([])
    expect(counters()).toMatchObject({ bytes: 8, frames: { heat_pump: 1, grid_meter: 1, relays: 1 } })
  })

  test('new devices take the place of the old ones under an open port', async () => {
    const { binding, clock, log, plug, wire } = simulation()
    plug('bus1', LINE_9600, modbusDevices())
    const before = wire('bus1')
    const port = await binding.open({ path: 'bus1', ...LINE_9600 })
    const reader = new Reader(port, () => clock.now())
    plug(
      'bus1',
      LINE_9600,
      modbusDevices().filter(({ id }) => id === 'relays'),
    )
    expect(wire('bus1')).toBe(before)
    await port.write(rtu(1, 1, 0, 0, 0, 1))
    await clock.advance(100)
    expect(reader.bytes).toEqual([])
    await port.write(rtu(3, 1, 0, 0, 0, 1))
    await clock.advance(100)
    expect(reader.bytes.slice(0, 3)).toEqual([3, 1, 1])
    expect(log.executions.map(({ device }) => device)).toEqual(['relays'])
  })

  test('a port that is removed is gone, and leaves nothing behind', async () => {
    const { binding, clock, plug, remove, wire } = simulation()
    const ticking: SimulatedDevice = {
      id: 'clock',
      simulator: (world) => {
        world.every(1000, () => world.send(Uint8Array.of(1)))
        return silentDevice
      },
    }
    plug('one', LINE_9600, [ticking])
    plug('two', LINE_9600, [])
    const port = await binding.open({ path: 'one', ...LINE_9600 })
    const reader = new Reader(port, () => clock.now())
    await clock.advance(2500)
    expect(reader.bytes).toEqual([1, 1])
    remove('one')
    await settle()
    expect(reader.error?.canceled).toBeUndefined()
    expect(wire('one')).toBeUndefined()
    expect(wire('two')).toBeDefined()
    expect(clock.pending).toBe(0)
    await expect(binding.open({ path: 'one', ...LINE_9600 })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('a simulator that fails is an error in the log, not the end of the process', async () => {
    const errors: unknown[] = []
    const log: Log = { ...silentLog, error: (fields, message) => errors.push([fields, message]) }
    const { clock, plug } = simulation(log)
    const broken: SimulatedDevice = {
      id: 'broken',
      simulator: (world) => {
        world.every(10, () => {
          throw new Error('no such register')
        })
        return silentDevice
      },
    }
    plug('one', LINE_9600, [broken])
    await clock.advance(10)
    expect(errors).toEqual([
      [
        { port: 'one', device: 'broken', err: expect.any(Error) },
        'the simulator of broken failed: no such register',
      ],
    ])
  })
})

const silentDevice = {
  framing: {
    key: 'nothing',
    frameLengthMax: 1,
    silenceEndsFrame: true,
    create: () => ({ push: () => {}, idle: () => {}, reset: () => {}, held: 0 }),
  },
  receive: () => undefined,
}
