import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLinuxHost } from '../../src/port/host.ts'
import { findRadioStick, isRadioStick, recogniseRadioStick } from '../../src/port/radio-stick.ts'
import { CH340, CONBEE, FTDI, Machine } from './machine.ts'

let machine: Machine

beforeEach(async () => {
  machine = await Machine.create()
})

afterEach(() => machine.remove())

describe('a radio stick is known by its name', () => {
  // by-id links: those that Koenkk/zigbee-herdsman and the Home Assistant documentation list.
  it.each([
    ['usb-dresden_elektronik_ingenieurtechnik_GmbH_ConBee_II_DE2132111-if00', 'Zigbee'],
    ['usb-dresden_elektronik_ConBee_III_DE03188111-if00-port0', 'Zigbee or Thread'],
    ['usb-ITEAD_SONOFF_Zigbee_3.0_USB_Dongle_Plus_V2_20240122184111-if00', 'Zigbee or Thread'],
    ['usb-Silicon_Labs_Sonoff_Zigbee_3.0_USB_Dongle_Plus_0111-if00-port0', 'Zigbee or Thread'],
    ['usb-SONOFF_SONOFF_Dongle_Max_MG24_08965d6b0674ef11b2f4e61e313510fd-if00-port0', 'Zigbee or Thread'],
    ['usb-Nabu_Casa_SkyConnect_v1.0_3abe54797c91ed118fc3cad13b20a111-if00-port0', 'Zigbee or Thread'],
    ['usb-Nabu_Casa_Home_Assistant_Connect_ZBT-1_3abe5479-if00-port0', 'Zigbee or Thread'],
    ['usb-Nabu_Casa_ZWA-2_80B54EE5E010-if00', 'Z-Wave'],
    ['usb-SMLIGHT_SMLIGHT_SLZB-06p10_40df2f3e3977ed11b142f6fafdf7b791-if00-port0', 'Zigbee or Thread'],
    ['usb-Silicon_Labs_HubZ_Smart_Home_Controller_C0F003D3-if01-port0', 'Zigbee and Z-Wave'],
    ['usb-Zooz_800_Z-Wave_Stick_533D004242-if00', 'Z-Wave'],
    ['usb-Texas_Instruments_TI_CC2531_USB_CDC___0X00124B0018ED1111-if00', 'Zigbee'],
    [
      'usb-Silicon_Labs_slae.sh_cc2652rb_stick_-_slaesh_s_iot_stuff_00_12_4B_00_21_A8_EC_79-if00-port0',
      'Zigbee',
    ],
    ['usb-FTDI_ZiGate_ZIGATE+-if00-port0', 'Zigbee'],
    ['usb-ZEPHYR_Zigbee_NCP_54ACCFAFA6DADC49-if00', 'Zigbee'],
  ])('%s', (name, radio) => {
    expect(recogniseRadioStick(null, [name])?.radio).toBe(radio)
  })

  it.each([
    'usb-FTDI_FT232R_USB_UART_A10K4XYZ-if00-port0',
    'usb-1a86_USB_Serial-if00-port0',
    'usb-Silicon_Labs_CP2102_USB_to_UART_Bridge_Controller_0001-if00-port0',
    'usb-Prolific_Technology_Inc._USB-Serial_Controller-if00-port0',
    'usb-RFXCOM_RFXtrx433_A1XZI13O-if00-port0',
    'usb-Arduino__www.arduino.cc__0042_7563331313335141C0D1-if00',
    'usb-VictronEnergy_BV_VE_Direct_cable_VE4XYZ-if00-port0',
    'ttyUSB0',
    'serial0',
  ])('%s is none', (name) => {
    expect(recogniseRadioStick(null, [name])).toBeUndefined()
  })
})

describe('a radio stick is known by its USB ids', () => {
  const usb = (vendorId: string, productId: string) => ({
    vendorId,
    productId,
    manufacturer: null,
    product: null,
    serialNumber: null,
    interfaceNumber: null,
    portNumber: null,
  })

  it.each([
    ['1cf1', '0030', 'Zigbee'],
    ['0658', '0200', 'Z-Wave'],
    ['10c4', '8a2a', 'Zigbee and Z-Wave'],
  ])('%s:%s', (vendorId, productId, radio) => {
    expect(recogniseRadioStick(usb(vendorId, productId), [])?.radio).toBe(radio)
  })

  it.each([
    ['10c4', 'ea60'],
    ['1a86', '7523'],
    ['0403', '6001'],
    ['0403', '6015'],
  ])('not by those of the bridge %s:%s, which say nothing about what is behind it', (vendorId, productId) => {
    expect(recogniseRadioStick(usb(vendorId, productId), [])).toBeUndefined()
    const named = {
      ...usb(vendorId, productId),
      manufacturer: 'ITead',
      product: 'Sonoff Zigbee 3.0 USB Dongle',
    }
    expect(recogniseRadioStick(named, [])?.radio).toBe('Zigbee or Thread')
  })
})

describe('the radio stick behind a path', () => {
  it('is found by node, by link and by the link of a link, and no other port is one', async () => {
    for (const port of [FTDI, CH340, CONBEE]) await machine.addUsb(port)
    await machine.link('dev/coordinator', 'serial/by-path/pci-0000:00:14.0-usb-0:3:1.0')
    for (const name of ['ttyACM0', `serial/by-id/${CONBEE.byId}`, 'coordinator']) {
      expect(await findRadioStick(machine.node(name), machine.roots), name).toMatchObject({ radio: 'Zigbee' })
    }
    for (const name of ['ttyUSB0', 'ttyUSB1', `serial/by-id/${FTDI.byId}`, 'nothing']) {
      expect(await isRadioStick(machine.node(name), machine.roots), name).toBe(false)
    }
  })

  it('is found by the by-id link of its node where USB says nothing', async () => {
    await machine.addOnBoard('ttyX0', 'strange', 4)
    await machine.link('dev/serial/by-id/usb-SMLIGHT_SMLIGHT_SLZB-07_be9faa07-if00-port0', '../../ttyX0')
    expect(await isRadioStick(machine.node('ttyX0'), machine.roots)).toBe(true)
  })
})

describe('a host that is asked to open a radio stick', () => {
  // Character device 5:0, the one terminal that every Linux has, under the name of a stick or with its hardware.
  const host = (force: boolean) => createLinuxHost({ force, roots: machine.roots })

  it('refuses by name, and says how it is opened all the same', async () => {
    const path = machine.node(CONBEE.byId ?? '')
    await symlink('/dev/tty', path)
    const refused = await host(false).inspect(path)
    expect(refused).toMatchObject({ kind: 'unfit' })
    expect(refused.kind === 'unfit' && refused.reason).toMatch(/ConBee.*zigbee2mqtt.*force: true/)
    expect(await host(true).inspect(path)).toMatchObject({ kind: 'present', resolvedPath: '/dev/tty' })
  })

  it('refuses by the hardware behind the number of the node, whatever the node is called', async () => {
    await machine.addUsb(CONBEE)
    const harmless = machine.node('meter')
    await symlink('/dev/tty', harmless)
    expect(await host(false).inspect(harmless)).toMatchObject({ kind: 'present' })
    await machine.link('sys/dev/char/5:0', join(machine.roots.sys, 'class/tty/ttyACM0'))
    expect(await host(false).inspect(harmless)).toMatchObject({ kind: 'unfit' })
    expect(await host(true).inspect(harmless)).toMatchObject({ kind: 'present' })
  })
})
