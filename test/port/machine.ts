/** A made-up machine in a folder: `/sys`, `/dev`, `/proc` and `/boot` as Linux shows them, with files for nodes. */
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HostRoots } from '../../src/port/host-roots.ts'

export interface UsbPort {
  readonly name: string
  readonly driver: string
  readonly vendorId: string
  readonly productId: string
  readonly manufacturer?: string
  readonly product?: string
  readonly serial?: string
  /** The socket, as the kernel names it: `1-1.2`. */
  readonly socket?: string
  readonly interfaceNumber?: string
  readonly byId?: string
  readonly byPath?: string
}

export class Machine {
  readonly roots: HostRoots
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
    const at = (name: string) => join(folder, name)
    this.roots = { dev: at('dev'), sys: at('sys'), proc: at('proc'), boot: at('boot') }
  }

  static async create(): Promise<Machine> {
    const machine = new Machine(await mkdtemp(join(tmpdir(), 'baudway-machine-')))
    for (const root of Object.values(machine.roots)) await mkdir(root)
    await mkdir(join(machine.roots.sys, 'class/tty'), { recursive: true })
    await machine.write('proc/cmdline', 'quiet root=/dev/sda1\n')
    await machine.write('proc/locks', '')
    return machine
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true })
  }

  async write(path: string, text: string): Promise<void> {
    const file = join(this.folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }

  async link(path: string, target: string): Promise<void> {
    const file = join(this.folder, path)
    await mkdir(dirname(file), { recursive: true })
    await symlink(target, file)
  }

  node(name: string): string {
    return join(this.roots.dev, name)
  }

  /** An adapter of the usb-serial kind, or with `cdc_acm` one whose terminal hangs at the interface itself. */
  async addUsb(port: UsbPort): Promise<void> {
    const { name, driver, socket = '1-1', interfaceNumber = '00' } = port
    const adapter = `sys/devices/pci0000:00/0000:00:14.0/usb1/${socket}`
    const usbInterface = `${adapter}/${socket}:1.${Number(interfaceNumber)}`
    const device = driver === 'cdc_acm' ? usbInterface : `${usbInterface}/${name}`
    const attributes = {
      idVendor: port.vendorId,
      idProduct: port.productId,
      manufacturer: port.manufacturer,
      product: port.product,
      serial: port.serial,
    }
    for (const [attribute, value] of Object.entries(attributes))
      if (value !== undefined) await this.write(`${adapter}/${attribute}`, `${value}\n`)
    await this.write(`${usbInterface}/bInterfaceNumber`, `${interfaceNumber}\n`)
    if (driver !== 'cdc_acm') await this.write(`${device}/port_number`, '0\n')
    await this.addTerminal(name, device, driver)
    if (port.byId !== undefined) await this.link(`dev/serial/by-id/${port.byId}`, `../../${name}`)
    if (port.byPath !== undefined) await this.link(`dev/serial/by-path/${port.byPath}`, `../../${name}`)
  }

  /** `type`: the kernel's number of the UART's kind; 0: there is none. */
  async addOnBoard(name: string, driver: string, type: number): Promise<void> {
    const platform = `sys/devices/platform/${name}.serial`
    const device = `${platform}/${name}.serial:0/${name}.serial:0.0`
    await this.link(`${platform}/driver`, join(this.roots.sys, 'bus/platform/drivers', driver))
    await this.addTerminal(name, device, 'port')
    await this.write(`${device}/tty/${name}/type`, `${type}\n`)
  }

  async addVirtual(name: string): Promise<void> {
    await this.write(`sys/devices/virtual/tty/${name}/dev`, '5:0\n')
    await this.link(`sys/class/tty/${name}`, `../../devices/virtual/tty/${name}`)
    await this.write(`dev/${name}`, '')
  }

  async addProcess(pid: number, comm: string, options: { opens?: string[]; words?: string[] } = {}) {
    await this.write(`proc/${pid}/comm`, `${comm}\n`)
    await this.write(`proc/${pid}/cmdline`, (options.words ?? [comm]).map((word) => `${word}\0`).join(''))
    await mkdir(join(this.roots.proc, `${pid}/fd`))
    for (const [index, target] of ['/dev/null', 'socket:[99]', ...(options.opens ?? [])].entries())
      await this.link(`proc/${pid}/fd/${index}`, target)
  }

  /** A lock as `/proc/locks` lists it. */
  async lock(name: string, pid: number): Promise<void> {
    const { dev, ino } = await stat(this.node(name))
    const hex = (value: number) => value.toString(16).padStart(2, '0')
    const device = `${hex((dev >> 8) & 0xfff)}:${hex((dev & 0xff) | ((dev >>> 12) & 0xfff00))}`
    await this.write('proc/locks', `1: FLOCK  ADVISORY  WRITE ${pid} ${device}:${ino} 0 EOF\n`)
  }

  private async addTerminal(name: string, device: string, driver: string): Promise<void> {
    await this.write(`${device}/tty/${name}/dev`, '188:0\n')
    await this.link(`${device}/driver`, join(this.roots.sys, 'bus/drivers', driver))
    await this.link(`${device}/tty/${name}/device`, join(this.folder, device))
    await this.link(`sys/class/tty/${name}`, join(this.folder, device, 'tty', name))
    await this.write(`dev/${name}`, '')
    await chmod(this.node(name), 0o660)
  }
}

/** Adapters as they are sold; names and numbers are those of their by-id links. */
export const FTDI: UsbPort = {
  name: 'ttyUSB0',
  driver: 'ftdi_sio',
  vendorId: '0403',
  productId: '6001',
  manufacturer: 'FTDI',
  product: 'FT232R USB UART',
  serial: 'A10K4XYZ',
  byId: 'usb-FTDI_FT232R_USB_UART_A10K4XYZ-if00-port0',
  byPath: 'pci-0000:00:14.0-usb-0:1:1.0-port0',
}

export const CH340: UsbPort = {
  name: 'ttyUSB1',
  driver: 'ch341-uart',
  vendorId: '1a86',
  productId: '7523',
  product: 'USB Serial',
  socket: '1-2',
  byId: 'usb-1a86_USB_Serial-if00-port0',
  byPath: 'pci-0000:00:14.0-usb-0:2:1.0-port0',
}

export const CONBEE: UsbPort = {
  name: 'ttyACM0',
  driver: 'cdc_acm',
  vendorId: '1cf1',
  productId: '0030',
  manufacturer: 'dresden elektronik ingenieurtechnik GmbH',
  product: 'ConBee II',
  serial: 'DE2132111',
  socket: '1-3',
  byId: 'usb-dresden_elektronik_ingenieurtechnik_GmbH_ConBee_II_DE2132111-if00',
  byPath: 'pci-0000:00:14.0-usb-0:3:1.0',
}
