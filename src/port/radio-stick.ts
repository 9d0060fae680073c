/**
 * Zigbee, Z-Wave and Thread sticks are serial ports too, and each belongs to a program that needs it alone: a
 * gateway that opens one resets it and takes a home's network down. They are known by what they call themselves and,
 * where the number is theirs alone, by their USB ids: those of a mere bridge say nothing about what is behind it.
 */
import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { HOST_ROOTS, type HostRoots } from './host-roots.ts'
import { readStableLinks } from './stable-links.ts'
import { readHardware, terminalFolder, type UsbIdentity } from './usb-identity.ts'

export interface RadioStick {
  readonly name: string
  readonly radio: 'Zigbee' | 'Z-Wave' | 'Thread' | 'Zigbee and Z-Wave' | 'Zigbee or Thread'
  /** The programs that it belongs to. */
  readonly owner: string
}

const OWNERS: Readonly<Record<RadioStick['radio'], string>> = {
  Zigbee: 'zigbee2mqtt or ZHA',
  'Z-Wave': 'zwave-js',
  Thread: 'the OpenThread border router',
  'Zigbee and Z-Wave': 'zigbee2mqtt or ZHA, and zwave-js',
  'Zigbee or Thread': 'zigbee2mqtt, ZHA or the OpenThread border router',
}

const stick = (name: string, radio: RadioStick['radio']): RadioStick => ({
  name,
  radio,
  owner: OWNERS[radio],
})

/** USB ids that belong to one kind of stick. */
const BY_ID: Readonly<Record<string, RadioStick>> = {
  '1cf1:0030': stick('ConBee II', 'Zigbee'),
  '0658:0200': stick('Z-Stick or UZB', 'Z-Wave'),
  '10c4:8a2a': stick('HUSBZB-1', 'Zigbee and Z-Wave'),
  '10c4:8b34': stick('Bitron Video AV2010/10', 'Zigbee'),
  '0451:16a8': stick('CC2531', 'Zigbee'),
  '0451:16c8': stick('CC2538', 'Zigbee'),
}

/** What such sticks are called, in lower case and with spaces for underscores; the first that fits. */
const BY_NAME: readonly (readonly [RegExp, RadioStick])[] = [
  [/conbee iii/, stick('ConBee III', 'Zigbee or Thread')],
  [/conbee|raspbee/, stick('ConBee', 'Zigbee')],
  [/skyconnect/, stick('Home Assistant SkyConnect', 'Zigbee or Thread')],
  [/\bzwa-?2\b/, stick('Home Assistant Connect ZWA-2', 'Z-Wave')],
  [/home assistant connect|\bzbt-?[12]\b/, stick('Home Assistant Connect', 'Zigbee or Thread')],
  [/husbzb|\bhubz\b/, stick('HUSBZB-1', 'Zigbee and Z-Wave')],
  [/\bz[- ]?stick/, stick('Z-Stick', 'Z-Wave')],
  [/\bz[- ]?wave|\buzb\d?\b/, stick('Z-Wave stick', 'Z-Wave')],
  [/sonoff.*(zigbee|dongle)/, stick('Sonoff Zigbee dongle', 'Zigbee or Thread')],
  [/slzb|smlight/, stick('SMLIGHT SLZB', 'Zigbee or Thread')],
  [/tubeszb/, stick('TubesZB', 'Zigbee')],
  [/zigstar/, stick('ZigStar', 'Zigbee')],
  [/zigate/, stick('ZiGate', 'Zigbee')],
  [/electrolama/, stick('Electrolama zzh', 'Zigbee')],
  [/\bcc(2531|2538|2652|1352)/, stick('Texas Instruments CC radio', 'Zigbee')],
  [/zigbee/, stick('Zigbee stick', 'Zigbee')],
  [/open ?thread/, stick('Thread stick', 'Thread')],
]

/** The radio stick that USB ids or one of the names speak of. */
export function recogniseRadioStick(
  usb: UsbIdentity | null,
  names: readonly string[],
): RadioStick | undefined {
  const said = [usb?.manufacturer, usb?.product].filter((text) => typeof text === 'string')
  // Manufacturer and product as one text, as they stand in a by-id name.
  for (const text of [...names, said.join(' ')]) {
    const name = text.toLowerCase().replaceAll('_', ' ')
    const known = BY_NAME.find(([pattern]) => pattern.test(name))
    if (known) return known[1]
  }
  return usb ? BY_ID[`${usb.vendorId}:${usb.productId}`] : undefined
}

/** The radio stick behind a path, whatever link it is; undefined: none that is known. Opens nothing. */
export async function findRadioStick(
  path: string,
  roots: HostRoots = HOST_ROOTS,
): Promise<RadioStick | undefined> {
  const node = await realpath(path).catch(() => undefined)
  if (node === undefined) return undefined
  const [links, hardware] = await Promise.all([
    readStableLinks(roots),
    terminalFolder(node, roots).then(readHardware),
  ])
  const names = [path, ...(links.get(node)?.byId ?? [])].map((name) => basename(name))
  return recogniseRadioStick(hardware?.usb ?? null, names)
}

export async function isRadioStick(path: string, roots: HostRoots = HOST_ROOTS): Promise<boolean> {
  return (await findRadioStick(path, roots)) !== undefined
}
