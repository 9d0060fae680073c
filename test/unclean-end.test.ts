/**
 * A gateway that starts after another one was killed: what a device still answers to the dead one is nobody's value.
 * The bytes are those of pymodbus issue 2636.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { validateConfiguration } from '../src/config/load.ts'
import { configurableTypes } from '../src/configurable-types.ts'
import { loadCatalogue } from '../src/driver/catalogue.ts'
import { Gateway } from '../src/gateway.ts'
import { createSimulatedBinding } from '../src/simulator/binding.ts'
import { ScriptedDevice } from './port/fixture.ts'
import { VirtualClock } from './virtual-clock.ts'

const PATH = '/dev/bus1'
const READ_16 = '01 03 00 10 00 01 85 cf'
const IS_17 = '01 03 02 00 11 78 48'
const IS_34 = '01 03 02 00 22 38 5d'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'baudway-unclean-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

const marker = () => existsSync(join(directory, 'running'))

/** Starts a gateway over the state directory, with its device on a wire of its own. */
async function start({ isOpened = true } = {}) {
  const clock = new VirtualClock()
  const binding = createSimulatedBinding({ clock })
  const types = await loadCatalogue()
  const { configuration, faults } = validateConfiguration(
    {
      state: directory,
      devices: [
        {
          id: 'boiler',
          type: 'modbus',
          port: { path: PATH },
          address: 1,
          poll: 'off',
          timeoutMs: 500,
          replyLatencyMaxMs: 2_000,
          registers: [{ name: 'sixteen', register: 16, kind: 'holding', format: 'uint16' }],
        },
      ],
    },
    configurableTypes(types),
  )
  if (!configuration) throw new Error(JSON.stringify(faults))
  const port = configuration.ports[0]
  if (!port) throw new Error('no port')
  const device = new ScriptedDevice(binding.addWire(PATH, { settings: port.settings }), clock)
  device.answer(READ_16, { hex: IS_34, afterMs: 300 })
  const gateway = await Gateway.create({ configuration, types, binding, host: binding.host, clock })
  if (isOpened) gateway.open()
  await clock.advance(1)
  return { clock, device, gateway, wire: binding.wire(PATH) }
}

describe('a start after an unclean end', () => {
  it('takes no late reply of the dead process for the value of its own first read', async () => {
    // Never closed: the process was killed.
    await start()
    expect(marker()).toBe(true)
    const { clock, device, gateway } = await start()
    const read = gateway.call({ name: 'boiler__read_sixteen' })
    // What the dead process asked for: register 0.
    clock.after(100, () => device.send(IS_17))
    await clock.advance(5_000)
    expect(await read).toMatchObject({ status: 'ok', value: { sixteen: 34 } })
    await gateway.close()
  })

  it('waits for as long as the device may be late, and says suspect meanwhile', async () => {
    await start()
    const { clock, device, gateway } = await start()
    void gateway.call({ name: 'boiler__read_sixteen' })
    await clock.advance(1_990)
    expect(gateway.ports()[0]?.state).toBe('suspect')
    expect(device.heard).toEqual([])
    await clock.advance(100)
    expect(device.heard).toHaveLength(1)
    await clock.advance(1_000)
    await gateway.close()
  })

  it('is none after a close: the first request goes out at once', async () => {
    const first = await start()
    await first.gateway.close()
    expect(marker()).toBe(false)
    const { clock, device, gateway } = await start()
    void gateway.call({ name: 'boiler__read_sixteen' })
    await clock.advance(50)
    expect(device.heard).toHaveLength(1)
    await clock.advance(1_000)
    await gateway.close()
  })

  it('is one too where the port with the open reply was given up before the close', async () => {
    const first = await start()
    first.device.answer(READ_16)
    void first.gateway.call({ name: 'boiler__read_sixteen' })
    await first.clock.advance(600)
    await first.gateway.port('boiler')?.release(60_000)
    await first.gateway.close()
    expect(marker()).toBe(true)
  })

  it('is still one after a start that came to nothing', async () => {
    await start()
    const failed = await start({ isOpened: false })
    await failed.gateway.close()
    expect(marker()).toBe(true)
  })

  it('is one too where the close left a reply behind that may still come', async () => {
    const first = await start()
    first.device.answer(READ_16)
    void first.gateway.call({ name: 'boiler__read_sixteen' })
    await first.clock.advance(600)
    expect(first.gateway.ports()[0]?.state).toBe('suspect')
    await first.gateway.close()
    expect(marker()).toBe(true)
  })
})
