import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { enumeratePorts, type FoundPort } from '../../src/port/enumeration.ts'
import { CH340, CONBEE, FTDI, Machine } from './machine.ts'

let machine: Machine

beforeEach(async () => {
  machine = await Machine.create()
})

afterEach(() => machine.remove())

const everybody = () => Promise.resolve(true)

async function find(isPermitted = everybody): Promise<readonly FoundPort[]> {
  return (await enumeratePorts(machine.roots, isPermitted)).ports
}

/** The one port of the machine. */
async function findOne(isPermitted = everybody): Promise<FoundPort> {
  const [port, ...others] = await find(isPermitted)
  expect(others).toEqual([])
  if (!port) throw new Error('there is no port')
  return port
}

describe('which ports there are', () => {
  it('finds nothing on a machine without serial ports, or that is no Linux', async () => {
    expect(await enumeratePorts(machine.roots)).toEqual({ ports: [], unseenProcesses: 0 })
    await rm(machine.roots.sys, { recursive: true })
    await rm(machine.roots.proc, { recursive: true })
    expect(await enumeratePorts(machine.roots)).toEqual({ ports: [], unseenProcesses: 0 })
  })

  it('lists neither pseudo-terminals nor consoles nor UARTs that are only numbers', async () => {
    for (const name of ['tty', 'tty0', 'console', 'ptmx', 'ttyprintk']) await machine.addVirtual(name)
    await machine.addOnBoard('ttyS0', 'serial8250', 4)
    for (const name of ['ttyS1', 'ttyS2', 'ttyS3']) await machine.addOnBoard(name, 'serial8250', 0)
    expect((await find()).map(({ path }) => path)).toEqual([machine.node('ttyS0')])
  })

  it('tells all that is known of a USB adapter', async () => {
    await machine.addUsb(FTDI)
    expect(await findOne()).toEqual({
      path: machine.node('ttyUSB0'),
      byId: [machine.node('serial/by-id/usb-FTDI_FT232R_USB_UART_A10K4XYZ-if00-port0')],
      byPath: [machine.node('serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0')],
      aliases: [],
      stablePath: machine.node('serial/by-id/usb-FTDI_FT232R_USB_UART_A10K4XYZ-if00-port0'),
      usb: {
        vendorId: '0403',
        productId: '6001',
        manufacturer: 'FTDI',
        product: 'FT232R USB UART',
        serialNumber: 'A10K4XYZ',
        interfaceNumber: '00',
        portNumber: '0',
      },
      driver: 'ftdi_sio',
      what: 'FTDI FT232 bridge',
      holder: null,
      obstacles: [],
    })
  })

  it('sorts by number, not by digit', async () => {
    for (const [name, socket] of [
      ['ttyUSB10', '1-1'],
      ['ttyUSB9', '1-2'],
      ['ttyUSB1', '1-4'],
    ] as const) {
      await machine.addUsb({ ...FTDI, name, socket, serial: name, byId: name, byPath: socket })
    }
    expect((await find()).map(({ path }) => path)).toEqual(
      ['ttyUSB1', 'ttyUSB9', 'ttyUSB10'].map((name) => machine.node(name)),
    )
  })

  it('knows the UARTs of a Raspberry Pi, and the alias of the one on the pins', async () => {
    await machine.write('sys/firmware/devicetree/base/model', 'Raspberry Pi 4 Model B Rev 1.4\0')
    await machine.write('boot/firmware/config.txt', 'enable_uart=1\n')
    await machine.addOnBoard('ttyAMA0', 'uart-pl011', 32)
    await machine.addOnBoard('ttyS0', 'bcm2835-aux-uart', 4)
    await machine.link('dev/serial0', 'ttyAMA0')
    await machine.link('dev/serial1', 'ttyS0')
    const [pl011, miniUart] = await find()
    expect(pl011).toMatchObject({
      what: 'Raspberry Pi on-board UART (PL011)',
      driver: 'uart-pl011',
      aliases: [machine.node('serial0')],
      stablePath: machine.node('serial0'),
      obstacles: [],
    })
    expect(miniUart).toMatchObject({ what: 'Raspberry Pi on-board mini-UART', obstacles: [] })
  })

  it.each([
    [{ vendorId: '1A86', productId: '7523', product: 'USB Serial', driver: 'ch341-uart' }, 'CH340 bridge'],
    [
      {
        vendorId: '10c4',
        productId: 'ea60',
        product: 'CP2102 USB to UART Bridge Controller',
        driver: 'cp210x',
      },
      'CP210x bridge',
    ],
    [
      { vendorId: '067b', productId: '2303', product: 'USB-Serial Controller', driver: 'pl2303' },
      'Prolific PL2303 bridge',
    ],
    [
      { vendorId: '0403', productId: '6015', product: 'VE Direct cable', driver: 'ftdi_sio' },
      'VE Direct cable (FTDI FT-X bridge)',
    ],
    [
      { vendorId: '0483', productId: '5740', product: 'Flipper', driver: 'cdc_acm' },
      'Flipper (USB device with a serial port of its own (CDC ACM))',
    ],
    [{ vendorId: 'abcd', productId: '0001', driver: 'unheard_of' }, 'USB serial port abcd:0001'],
  ])('says what %j probably is', async (usb, what) => {
    await machine.addUsb({ name: 'ttyX0', ...usb })
    expect((await findOne()).what).toBe(what)
  })
})

describe('adapters that share one by-id link', () => {
  const second = { ...CH340, name: 'ttyUSB2', socket: '1-4', byPath: 'pci-0000:00:14.0-usb-0:4:1.0-port0' }

  it('are named as such, each with the by-path link that tells it from the other', async () => {
    await machine.addUsb(CH340)
    const { byId: _taken, ...without } = second
    await machine.addUsb(without)
    const [one, other] = await find()
    expect(one?.obstacles).toMatchObject([{ kind: 'shared_link', blocking: false }])
    expect(one?.obstacles[0]?.reason).toContain(machine.node('ttyUSB2'))
    expect(other?.obstacles[0]?.reason).toContain(machine.node('ttyUSB1'))
    expect([one?.stablePath, other?.stablePath]).toEqual([
      machine.node('serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0'),
      machine.node('serial/by-path/pci-0000:00:14.0-usb-0:4:1.0-port0'),
    ])
  })

  it('are not those with serial numbers, nor two functions of one adapter', async () => {
    await machine.addUsb(FTDI)
    await machine.addUsb({ ...FTDI, name: 'ttyUSB1', socket: '1-2', serial: 'B2', byId: 'b', byPath: 'c' })
    const dual = { ...FTDI, productId: '6010', product: 'Dual RS232', serial: 'D1', socket: '1-4' }
    await machine.addUsb({ ...dual, name: 'ttyUSB2', interfaceNumber: '00', byId: 'd0', byPath: 'd0' })
    await machine.addUsb({ ...dual, name: 'ttyUSB3', interfaceNumber: '01', byId: 'd1', byPath: 'd1' })
    expect((await find()).flatMap(({ obstacles }) => obstacles)).toEqual([])
  })
})

describe('a radio stick', () => {
  it('is named, with the programs that it belongs to and the way round', async () => {
    await machine.addUsb(CONBEE)
    const { what, obstacles } = await findOne()
    expect(what).toBe('Zigbee radio stick (ConBee)')
    expect(obstacles).toMatchObject([{ kind: 'radio_stick', blocking: true }])
    expect(obstacles[0]?.cure).toContain('zigbee2mqtt')
    expect(obstacles[0]?.cure).toContain('force: true')
  })
})
