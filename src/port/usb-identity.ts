/**
 * What the kernel knows of the hardware behind a terminal: the driver, and what a USB adapter says of itself. All of
 * it is read from sysfs, whose folders lie in each other as the hardware does; nothing is opened or asked.
 */
import { readFile, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { HostRoots } from './host-roots.ts'

export interface UsbIdentity {
  /** Four hexadecimal digits, in lower case. */
  readonly vendorId: string
  readonly productId: string
  readonly manufacturer: string | null
  readonly product: string | null
  readonly serialNumber: string | null
  /** Which function of the adapter, where it has several; two hexadecimal digits. */
  readonly interfaceNumber: string | null
  /** Which port of that function, where it has several. */
  readonly portNumber: string | null
}

export interface Hardware {
  /** The name of the kernel's driver. */
  readonly driver: string | null
  readonly usb: UsbIdentity | null
}

/** From a terminal up to its USB adapter there are five folders at most; from there up nothing is of interest. */
const FOLDERS_MAX = 8
/** A USB string has 126 characters at most. */
const ATTRIBUTE_LENGTH_MAX = 128
/** Since Linux 6.5 every UART has two folders of the serial core between the terminal and the real driver. */
const SERIAL_CORE_DRIVERS: readonly string[] = ['port', 'ctrl']

/** The hardware of the terminal `/sys/class/tty/<name>`; undefined: there is none behind it. */
export async function readHardware(terminalFolder: string): Promise<Hardware | undefined> {
  let folder = await realpath(join(terminalFolder, 'device')).catch(() => undefined)
  if (folder === undefined) return undefined
  let driver: string | null = null
  let interfaceNumber: string | null = null
  let portNumber: string | null = null
  for (let depth = 0; depth < FOLDERS_MAX && basename(folder) !== 'devices'; depth += 1) {
    driver ??= await driverOf(folder)
    interfaceNumber ??= await attribute(folder, 'bInterfaceNumber')
    portNumber ??= await attribute(folder, 'port_number')
    const usb = await readIdentity(folder, interfaceNumber, portNumber)
    if (usb) return { driver, usb }
    folder = dirname(folder)
  }
  return { driver, usb: null }
}

/**
 * The folder in sysfs of a device node. It is looked for by the number of the device first: a container may show a
 * node under another name than the kernel's.
 */
export async function terminalFolder(nodePath: string, { sys }: HostRoots): Promise<string> {
  const node = await stat(nodePath).catch(() => undefined)
  if (node?.isCharacterDevice()) {
    const byNumber = join(sys, 'dev/char', `${majorOf(node.rdev)}:${minorOf(node.rdev)}`)
    const folder = await realpath(byNumber).catch(() => undefined)
    if (folder !== undefined) return folder
  }
  return join(sys, 'class/tty', basename(nodePath))
}

/** Linux packs device numbers as makedev(3) does. */
export function majorOf(device: number): number {
  return Math.floor(device / 256) % 4096
}

export function minorOf(device: number): number {
  return (device % 256) + Math.floor(device / 0x10_0000) * 256
}

/** One line of sysfs; null where there is none. */
export async function attribute(folder: string, name: string): Promise<string | null> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '')
  return text.trim().slice(0, ATTRIBUTE_LENGTH_MAX) || null
}

async function readIdentity(
  folder: string,
  interfaceNumber: string | null,
  portNumber: string | null,
): Promise<UsbIdentity | undefined> {
  const vendorId = await attribute(folder, 'idVendor')
  const productId = await attribute(folder, 'idProduct')
  if (vendorId === null || productId === null) return undefined
  const [manufacturer, product, serialNumber] = await Promise.all([
    attribute(folder, 'manufacturer'),
    attribute(folder, 'product'),
    attribute(folder, 'serial'),
  ])
  return {
    vendorId: vendorId.toLowerCase(),
    productId: productId.toLowerCase(),
    manufacturer,
    product,
    serialNumber,
    interfaceNumber,
    portNumber,
  }
}

async function driverOf(folder: string): Promise<string | null> {
  const driver = await readlink(join(folder, 'driver')).then(basename, () => null)
  return driver === null || SERIAL_CORE_DRIVERS.includes(driver) ? null : driver
}
