import { describe, expect, test } from 'vitest'
import relay from '../../devices/modbus-relay.ts'
import { contractFindings, gradeOf } from '../../src/driver/contract.ts'
import { simulatedValue } from '../../src/driver/contract-vectors.ts'
import { modbusRtuRequests, readRegisters, writeCoil, writeRegister } from '../../src/driver/device.ts'
import type { DeviceDescription } from '../../src/driver/device-type.ts'
import { writeCoils } from '../../src/driver/modbus.ts'
import { GatewayError } from '../../src/errors.ts'
import { crc16modbus } from '../../src/port/framer/checksum.ts'
import { bytes, hex } from '../port/framer/collected.ts'
import { simulated } from './simulated.ts'

const seal = (body: string) => hex(crc16modbus({ from: 0 }).seal(bytes(`${body} 00 00`)))
const board = (dialect: string, channels = 8) => relay.describe({ address: 1, channels, dialect })

function exchange(device: DeviceDescription, tool: string, args: Record<string, unknown> = {}) {
  const made = device.tools[tool]?.exchange?.(args)
  if (!made) throw new Error(`no tool ${tool}`)
  return made
}

const request = (device: DeviceDescription, tool: string, args: Record<string, unknown> = {}) =>
  hex(exchange(device, tool, args).request)

describe('the dialect of Waveshare and the standard', () => {
  const device = board('waveshare')

  // Waveshare wiki "Modbus RTU Relay"; checksums computed.
  test('switches, toggles, pulses and reads by coils from 0', () => {
    expect(request(device, 'set_relay', { channel: 0, on: true })).toBe('01 05 00 00 ff 00 8c 3a')
    expect(request(device, 'set_relay', { channel: 0, on: false })).toBe('01 05 00 00 00 00 cd ca')
    expect(request(device, 'toggle_relay', { channel: 0 })).toBe('01 05 00 00 55 00 f2 9a')
    expect(request(device, 'pulse_relay', { channel: 0, ms: 700 })).toBe('01 05 02 00 00 07 8d b0')
    expect(request(device, 'read_relays')).toBe('01 01 00 00 00 08 3d cc')
  })

  test('is what a device without a dialect has', () => {
    const plain = relay.describe({ address: 1, channels: 8 })
    expect(request(plain, 'set_relay', { channel: 7, on: true })).toBe(seal('01 05 00 07 ff 00'))
  })

  test('has the frames for a whole board, and for its address', () => {
    expect(hex(writeCoil({ unit: 1, address: 0xff, value: true }).request)).toBe('01 05 00 ff ff 00 bc 0a')
    expect(hex(writeCoil({ unit: 1, address: 0xff, value: false }).request)).toBe('01 05 00 ff 00 00 fd fa')
    const all = writeCoils({ unit: 1, address: 0, values: new Array<boolean>(8).fill(true) })
    expect(hex(all.request)).toBe('01 0f 00 00 00 08 01 ff be d5')
    expect(all.reply?.match(bytes('01 0f 00 00 00 08 54 0d'))).toEqual({ kind: 'value', value: true })
    expect(hex(writeRegister({ unit: 0, address: 0x4000, value: 1 }).request)).toBe('00 06 40 00 00 01 5c 1b')
  })

  test('reads a bitmap with channel 0 in the lowest bit', () => {
    expect(exchange(device, 'read_relays').reply?.match(bytes('01 01 01 05 91 8b'))).toMatchObject({
      value: { relay_0: true, relay_1: false, relay_2: true, relay_7: false },
    })
  })

  test('takes no acknowledgement of anything but what was asked', () => {
    const on = exchange(device, 'set_relay', { channel: 0, on: true })
    expect(on.reply?.match(bytes('01 05 00 00 00 00 cd ca'))).toBeUndefined()
    expect(on.reply?.match(bytes(seal('01 05 00 01 ff 00')))).toBeUndefined()
    const toggle = exchange(device, 'toggle_relay', { channel: 0 })
    expect(toggle.reply?.match(bytes('01 05 00 00 ff 00 8c 3a'))).toBeUndefined()
    const pulse = exchange(device, 'pulse_relay', { channel: 0, ms: 700 })
    expect(pulse.reply?.match(bytes(seal('01 05 02 00 00 08')))).toBeUndefined()
  })

  test('tells a refusal, also of a pulse, which the standard does not know', () => {
    const refusal = { kind: 'refused', deviceCode: 3, provenNotDone: true }
    for (const [tool, args] of [
      ['set_relay', { channel: 0, on: true }],
      ['toggle_relay', { channel: 0 }],
      ['pulse_relay', { channel: 0, ms: 700 }],
    ] as const) {
      expect(exchange(device, tool, args).reply?.match(bytes('01 85 03 02 91')), tool).toMatchObject(refusal)
    }
    expect(
      exchange(device, 'pulse_relay', { channel: 0, ms: 700 }).reply?.match(bytes(seal('01 86 03'))),
    ).toBeUndefined()
  })

  test('pulses for whole tenths of a second only', () => {
    const pulse = (ms: number) => {
      try {
        return request(device, 'pulse_relay', { channel: 0, ms })
      } catch (thrown) {
        return thrown instanceof GatewayError ? [thrown.code, thrown.field] : thrown
      }
    }
    expect(pulse(750)).toEqual(['invalid_arguments', '/ms'])
    expect(pulse(3_276_700)).toBe(seal('01 05 02 00 7f ff'))
    expect(device.tools.pulse_relay?.parameters?.properties.ms).toMatchObject({
      minimum: 100,
      maximum: 3_276_700,
      multipleOf: 100,
    })
  })
})

describe('the dialect of old LC boards', () => {
  const device = board('lc', 4)

  // pastebin mX6PYqsB
  test('switches by coils from 1, with 0100 for on', () => {
    expect(request(device, 'set_relay', { channel: 0, on: true })).toBe('01 05 00 01 01 00 9d 9a')
    expect(request(device, 'set_relay', { channel: 0, on: false })).toBe('01 05 00 01 00 00 9c 0a')
    expect(request(device, 'read_relays')).toBe(seal('01 01 00 01 00 04'))
  })

  test('has no tool for what the boards cannot do', () => {
    expect(Object.keys(device.tools)).toEqual(['read_relays', 'set_relay'])
  })

  test('takes no acknowledgement of anything but what was asked', () => {
    const on = exchange(device, 'set_relay', { channel: 0, on: true })
    expect(on.reply?.match(bytes('01 05 00 01 01 00 9d 9a'))).toEqual({
      kind: 'value',
      value: { channel: 0, on: true },
    })
    expect(on.reply?.match(bytes('01 05 00 01 00 00 9c 0a'))).toBeUndefined()
    expect(on.reply?.match(bytes('01 85 03 02 91'))).toMatchObject({ kind: 'refused', deviceCode: 3 })
  })
})

describe('the dialect of R4D8A08 and its like', () => {
  const device = board('r4d')

  test('switches by commands in holding registers from 1', () => {
    expect(request(device, 'set_relay', { channel: 0, on: true })).toBe(seal('01 06 00 01 01 00'))
    expect(request(device, 'set_relay', { channel: 7, on: false })).toBe(seal('01 06 00 08 02 00'))
    expect(request(device, 'toggle_relay', { channel: 1 })).toBe(seal('01 06 00 02 03 00'))
    expect(request(device, 'pulse_relay', { channel: 1, ms: 10_000 })).toBe(seal('01 06 00 02 06 0a'))
    expect(request(device, 'read_relays')).toBe(
      hex(readRegisters({ unit: 1, kind: 'holding', address: 1, count: 8 }).request),
    )
  })

  test('pulses for whole seconds only', () => {
    expect(device.tools.pulse_relay?.parameters?.properties.ms).toMatchObject({
      minimum: 1000,
      maximum: 255_000,
      multipleOf: 1000,
    })
  })
})

describe('the tools', () => {
  test('declare what they are', () => {
    const { read_relays, set_relay, toggle_relay, pulse_relay } = board('waveshare').tools
    expect(read_relays).toMatchObject({ effect: 'read', parallelSafe: true })
    expect(set_relay).toMatchObject({ effect: 'set', serial: true, correlates: 'request' })
    expect(toggle_relay).toMatchObject({ effect: 'act', serial: true, correlates: 'request' })
    expect(pulse_relay).toMatchObject({ effect: 'act', serial: true, correlates: 'request' })
  })

  test('have one reading for each channel, which setting it sets as well', () => {
    const device = board('waveshare', 3)
    expect(Object.keys(device.readings)).toEqual(['relay_0', 'relay_1', 'relay_2'])
    expect(device.tools.set_relay?.readings?.({ channel: 2, on: true })).toEqual({ relay_2: true })
  })

  test('prove a setting by what the board shows, not by its acknowledgement', () => {
    const readBack = board('waveshare').tools.set_relay
    if (!readBack?.exchange) throw new Error('set_relay is one transaction')
    const proof = readBack.readBack?.({ channel: 2, on: true })
    const shown = (reply: string) => {
      const verdict = proof?.exchange.reply?.match(bytes(reply))
      return verdict?.kind === 'value' && proof?.confirms(verdict.value)
    }
    expect(hex(proof?.exchange.request ?? bytes(''))).toBe('01 01 00 00 00 08 3d cc')
    expect(shown('01 01 01 05 91 8b')).toBe(true)
    expect(shown(seal('01 01 01 01'))).toBe(false)
  })
})

describe.each(['waveshare', 'lc', 'r4d'])('the simulated board of the dialect %s', (dialect) => {
  const device = board(dialect, 4)

  test('does what every tool says, and logs it', async () => {
    const { ask, log, advance } = simulated(device)
    const call = async (tool: string, args: Record<string, unknown> = {}) => {
      const spec = device.tools[tool]
      if (!spec) throw new Error(`no tool ${tool}`)
      const receive = (frame: Uint8Array) => ({ bytes: ask(frame), afterMs: 0 })
      const far = { framing: modbusRtuRequests(), receive }
      return simulatedValue(device, { simulator: far, fields: {} }, spec, args)
    }
    const off = { relay_0: false, relay_1: false, relay_2: false, relay_3: false }
    expect(await call('read_relays')).toEqual(off)
    await call('set_relay', { channel: 2, on: true })
    expect(await call('read_relays')).toEqual({ ...off, relay_2: true })
    await call('set_relay', { channel: 2, on: false })
    const commands = () => log.map(({ command }) => command).filter((command) => command !== 'read_relays')
    expect(commands()).toEqual(['set_relay', 'set_relay'])
    if (device.tools.toggle_relay === undefined) return
    await call('toggle_relay', { channel: 1 })
    expect(await call('read_relays')).toEqual({ ...off, relay_1: true })
    await call('pulse_relay', { channel: 3, ms: 2000 })
    advance(1999)
    expect(await call('read_relays')).toEqual({ ...off, relay_1: true, relay_3: true })
    advance(1)
    expect(await call('read_relays')).toEqual({ ...off, relay_1: true })
    expect(log.at(-3)).toEqual({ command: 'pulse_relay', detail: { channel: 3, ms: 2000 } })
  })

  test('refuses a relay that it does not have, and is silent for other boards', () => {
    const { ask, log } = simulated(device)
    const write = dialect === 'r4d' ? '01 06 00 05 01 00' : '01 05 00 09 00 00'
    expect(hex(ask(bytes(seal(write))))).toBe(seal(dialect === 'r4d' ? '01 86 02' : '01 85 02'))
    expect(hex(ask(bytes(seal('02 05 00 01 00 00'))))).toBe('')
    expect(log).toEqual([])
  })
})

test('it is a platinum type', async () => {
  expect((await contractFindings(relay)).filter(({ ok }) => !ok)).toEqual([])
  expect(await gradeOf(relay)).toBe('platinum')
})
