/**
 * The serial ports of this machine, and what is in the way of each. Read from sysfs, `/dev` and `/proc` alone:
 * no port is opened, since that would reset what is behind it, and no udev has to be there. A configured path opens
 * whether or not it is found here.
 */
import type { Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readConsoles } from './console.ts'
import { type HolderScan, nodeKey, scanHolders } from './holder-scan.ts'
import { deniedReason, groupNameOf, lockHolder, mayOpen } from './host.ts'
import { HOST_ROOTS, type HostRoots } from './host-roots.ts'
import { isCoreClockLoose, isMiniUart } from './mini-uart.ts'
import {
  inUse,
  locked,
  miniUartObstacle,
  modemManagerObstacle,
  noNode,
  noPermission,
  type Obstacle,
  radioStickObstacle,
  serialConsole,
  sharedLink,
} from './obstacle.ts'
import { type RadioStick, recogniseRadioStick } from './radio-stick.ts'
import { describeHardware } from './serial-chip.ts'
import { NO_LINKS, readStableLinks, type StableLinks } from './stable-links.ts'
import type { PortHolder } from './status.ts'
import { attribute, type Hardware, readHardware, type UsbIdentity } from './usb-identity.ts'

export interface FoundPort extends StableLinks {
  readonly path: string
  /** The link to write into a configuration; null: there is only the path. */
  readonly stablePath: string | null
  readonly usb: UsbIdentity | null
  readonly driver: string | null
  /** What it probably is, in words. */
  readonly what: string
  /** Best effort: the process that has locked it, else one that has it open. */
  readonly holder: PortHolder | null
  readonly obstacles: readonly Obstacle[]
}

export interface Enumeration {
  /** In the order of their names. */
  readonly ports: readonly FoundPort[]
  /** Processes whose open files could not be seen: a holder may be among them. */
  readonly unseenProcesses: number
}

/** A terminal with hardware behind it. */
interface Terminal {
  readonly path: string
  /** Undefined: the kernel has it, and there is no node for it. */
  readonly node: Stats | undefined
  readonly hardware: Hardware
  readonly links: StableLinks
  readonly stick: RadioStick | undefined
  /** The paths of those whose adapters say the same of themselves. */
  readonly twins: readonly string[]
}

/** What is equal for every port of the machine. */
interface Surroundings {
  readonly roots: HostRoots
  readonly scan: HolderScan
  readonly consoles: ReadonlySet<string>
  /** The model of the board, where it says one. */
  readonly board: string | null
  readonly isPermitted: (nodePath: string) => Promise<boolean>
}

const TERMINALS_MAX = 512
/** `PORT_UNKNOWN` of the kernel: a number for a UART that is not there. */
const NO_UART = '0'

/** `isPermitted`: whether this process may read and write a node. */
export async function enumeratePorts(
  roots: HostRoots = HOST_ROOTS,
  isPermitted: Surroundings['isPermitted'] = mayOpen,
): Promise<Enumeration> {
  const [terminals, scan, consoles, board] = await Promise.all([
    findTerminals(roots),
    scanHolders(roots.proc),
    readConsoles(roots),
    attribute(join(roots.sys, 'firmware/devicetree/base'), 'model'),
  ])
  const surroundings = { roots, scan, consoles, board, isPermitted }
  const ports = await Promise.all(terminals.map((terminal) => describe(terminal, surroundings)))
  return { ports, unseenProcesses: scan.unseenProcesses }
}

async function findTerminals(roots: HostRoots): Promise<Terminal[]> {
  const folder = join(roots.sys, 'class/tty')
  const names = await readdir(folder).catch(() => [])
  const [links, found] = await Promise.all([
    readStableLinks(roots),
    Promise.all(
      names.slice(0, TERMINALS_MAX).map(async (name) => {
        const hardware = await readHardware(join(folder, name))
        const exists = hardware !== undefined && (await attribute(join(folder, name), 'type')) !== NO_UART
        return exists ? [{ name, hardware }] : []
      }),
    ),
  ])
  const byNumber = new Intl.Collator('en', { numeric: true })
  const existing = found.flat().sort((one, other) => byNumber.compare(one.name, other.name))
  const twins = findTwins(existing)
  return Promise.all(
    existing.map(async ({ name, hardware }) => {
      const path = join(roots.dev, name)
      const node = await stat(path).catch(() => undefined)
      const itsLinks = links.get(await realpath(path).catch(() => path)) ?? NO_LINKS
      const stick = recogniseRadioStick(hardware.usb, itsLinks.byId.map(linkName))
      const itsTwins = (twins.get(identityKey(hardware.usb)) ?? []).filter((twin) => twin !== name)
      return {
        path,
        node,
        hardware,
        links: itsLinks,
        stick,
        twins: itsTwins.map((twin) => join(roots.dev, twin)),
      }
    }),
  )
}

function linkName(link: string): string {
  return basename(link)
}

/** The names of terminals by what their adapters say of themselves: a by-id link is made of nothing else. */
function findTwins(terminals: readonly { name: string; hardware: Hardware }[]): Map<string, string[]> {
  const twins = new Map<string, string[]>()
  for (const { name, hardware } of terminals) {
    if (hardware.usb === null) continue
    const key = identityKey(hardware.usb)
    const others = twins.get(key)
    if (others) others.push(name)
    else twins.set(key, [name])
  }
  return twins
}

function identityKey(usb: UsbIdentity | null): string {
  return usb === null ? '' : JSON.stringify(Object.values(usb))
}

async function describe(terminal: Terminal, surroundings: Surroundings): Promise<FoundPort> {
  const { path, node, hardware, links, stick, twins } = terminal
  const { roots, scan, board } = surroundings
  const lock = node && (await lockHolder(node, roots.proc))
  const openers = (node && scan.openers.get(nodeKey(node))) ?? []
  const preferred = twins.length > 0 ? [] : links.byId
  return {
    path,
    ...links,
    stablePath: preferred[0] ?? links.byPath[0] ?? links.aliases[0] ?? null,
    usb: hardware.usb,
    driver: hardware.driver,
    what: stick ? `${stick.radio} radio stick (${stick.name})` : describeHardware(hardware, board),
    holder: lock ?? openers[0] ?? null,
    obstacles: await obstaclesOf(terminal, lock, openers, surroundings),
  }
}

async function obstaclesOf(
  { path, node, hardware, links, stick, twins }: Terminal,
  lock: PortHolder | undefined,
  openers: readonly PortHolder[],
  { roots, scan, consoles, board, isPermitted }: Surroundings,
): Promise<Obstacle[]> {
  const name = basename(path)
  const names = [name, ...links.aliases.map(linkName)]
  const login = scan.logins.find(
    ({ pid, words }) =>
      openers.some((opener) => opener.pid === pid) ||
      words.some((word) => names.includes(word.replace(/^\/dev\//, ''))),
  )
  const others = openers.filter(({ pid }) => pid !== lock?.pid && pid !== login?.pid)
  const obstacles: Obstacle[] = []
  if (stick) obstacles.push(radioStickObstacle(stick))
  if (node === undefined) obstacles.push(noNode(path))
  else if (!(await isPermitted(path))) {
    const reason = await deniedReason(path, node)
    obstacles.push(noPermission(reason, node.gid, await groupNameOf(node.gid)))
  }
  if (login || names.some((alias) => consoles.has(alias))) {
    obstacles.push(serialConsole(name, board?.startsWith('Raspberry Pi') ?? false, login))
  }
  if (lock && lock.pid !== login?.pid) obstacles.push(locked(lock))
  if (others.length > 0) obstacles.push(inUse(others))
  if (hardware.usb && scan.modemManager) obstacles.push(modemManagerObstacle(scan.modemManager))
  if (twins.length > 0) obstacles.push(sharedLink(twins, links.byPath[0]))
  if (isMiniUart(hardware) && (await isCoreClockLoose(roots))) obstacles.push(miniUartObstacle())
  return obstacles
}
