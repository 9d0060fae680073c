/** What a serial port probably is, in words: the chip, and where it says so, the product that it is built into. */
import type { Hardware, UsbIdentity } from './usb-identity.ts'

const CHIPS: Readonly<Record<string, string>> = {
  '0403:6001': 'FTDI FT232 bridge',
  '0403:6010': 'FTDI FT2232 bridge',
  '0403:6011': 'FTDI FT4232 bridge',
  '0403:6014': 'FTDI FT232H bridge',
  '0403:6015': 'FTDI FT-X bridge',
  '1a86:5523': 'CH341 bridge',
  '1a86:7522': 'CH340 bridge',
  '1a86:7523': 'CH340 bridge',
  '1a86:55d2': 'CH342 bridge',
  '1a86:55d3': 'CH343 bridge',
  '1a86:55d4': 'CH9102 bridge',
  '10c4:ea60': 'CP210x bridge',
  '10c4:ea70': 'CP2105 bridge',
  '10c4:ea71': 'CP2108 bridge',
  '067b:2303': 'Prolific PL2303 bridge',
  '067b:23a3': 'Prolific PL2303 bridge',
  '2341:0042': 'Arduino Mega 2560',
  '2341:0043': 'Arduino Uno',
  '303a:1001': 'Espressif ESP32 by USB',
  '2e8a:000a': 'Raspberry Pi Pico',
  '16c0:0483': 'Teensy',
}

const VENDORS: Readonly<Record<string, string>> = {
  '2341': 'Arduino',
  '2a03': 'Arduino',
  '1546': 'u-blox GPS receiver',
  '303a': 'Espressif ESP32',
  '067b': 'Prolific bridge',
  '0403': 'FTDI bridge',
  '1a86': 'WCH bridge',
}

const DRIVERS: Readonly<Record<string, string>> = {
  ftdi_sio: 'FTDI bridge',
  ch341: 'CH340 bridge',
  cp210x: 'CP210x bridge',
  pl2303: 'Prolific bridge',
  option: 'cellular modem',
  qcserial: 'cellular modem',
  cdc_acm: 'USB device with a serial port of its own (CDC ACM)',
}

const ON_BOARD: Readonly<Record<string, string>> = {
  'uart-pl011': 'on-board UART (PL011)',
  'bcm2835-aux-uart': 'on-board mini-UART',
  serial: 'on-board serial port',
  serial8250: 'on-board serial port',
}

/** Products that are called no more than what the chip is. */
const NO_NAME = /serial|uart|bridge|converter|^ft\w+$|^cp\d+\w*$/i

/** `board`: the model of the machine, where it says one. */
export function describeHardware({ driver, usb }: Hardware, board: string | null): string {
  if (usb) return describeUsb(usb, driver)
  const known = driver === null ? undefined : ON_BOARD[driver]
  const what = known ?? (driver === null ? 'serial port' : `serial port (driver ${driver})`)
  return known !== undefined && board?.startsWith('Raspberry Pi') ? `Raspberry Pi ${what}` : what
}

function describeUsb(usb: UsbIdentity, driver: string | null): string {
  const { vendorId, productId, product } = usb
  const ids = `${vendorId}:${productId}`
  const byDriver = driver === null ? undefined : DRIVERS[driver]
  const chip = CHIPS[ids] ?? VENDORS[vendorId] ?? byDriver ?? `USB serial port ${ids}`
  return product === null || NO_NAME.test(product) || product === chip ? chip : `${product} (${chip})`
}
