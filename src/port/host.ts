/**
 * What the operating system knows of a path before it is opened. An open that is refused still changes the line
 * settings of whoever holds the port, and the library's errors carry only text: so everything that can be known
 * is looked up first. The mock and simulated bindings have a host of their own that knows nothing.
 */
import { constants } from 'node:fs'
import { access, readFile, realpath, stat } from 'node:fs/promises'
import type { PortHolder } from './status.ts'

export type Inspection =
  | { readonly kind: 'absent' }
  | { readonly kind: 'denied'; readonly reason: string }
  /** Another process has locked it. */
  | { readonly kind: 'busy'; readonly holder: PortHolder }
  /** It is there, and it is no serial port. */
  | { readonly kind: 'unfit'; readonly reason: string }
  | {
      readonly kind: 'present'
      /** The device node behind all links. */
      readonly resolvedPath: string
      /** Equal for two paths exactly if they lead to one kernel device. */
      readonly deviceKey: string
    }

export interface Host {
  inspect(path: string): Promise<Inspection>
  /** The `deviceKey` behind the path now; undefined: none. */
  deviceKey(path: string): Promise<string | undefined>
}

/** For bindings whose paths are only names. */
export const namesOnlyHost: Host = {
  inspect: (path) => Promise.resolve({ kind: 'present', resolvedPath: path, deviceKey: `name:${path}` }),
  deviceKey: (path) => Promise.resolve(`name:${path}`),
}

export const linuxHost: Host = { inspect, deviceKey }

async function inspect(path: string): Promise<Inspection> {
  const resolvedPath = await realpath(path).catch((error: NodeJS.ErrnoException) => error)
  if (resolvedPath instanceof Error) return unreachable(path, resolvedPath)
  const node = await stat(resolvedPath).catch((error: NodeJS.ErrnoException) => error)
  if (node instanceof Error) return unreachable(path, node)
  if (!node.isCharacterDevice() || !(await isTerminalDevice(node.rdev))) {
    return { kind: 'unfit', reason: `${resolvedPath} is not a serial port` }
  }
  const denied = await access(resolvedPath, constants.R_OK | constants.W_OK).then(
    () => false,
    () => true,
  )
  if (denied) return { kind: 'denied', reason: await deniedReason(resolvedPath, node) }
  const holder = await lockHolder(node)
  if (holder) return { kind: 'busy', holder }
  return { kind: 'present', resolvedPath, deviceKey: keyOf(node.rdev) }
}

async function deviceKey(path: string): Promise<string | undefined> {
  return stat(path).then(
    (node) => keyOf(node.rdev),
    () => undefined,
  )
}

function keyOf(rdev: number): string {
  return `device:${rdev}`
}

function unreachable(path: string, error: NodeJS.ErrnoException): Inspection {
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return { kind: 'denied', reason: `no right to look up ${path}: ${whoAmI()}` }
  }
  return { kind: 'absent' }
}

function whoAmI(): string {
  const user = process.getuid?.()
  const groups = process.getgroups?.() ?? []
  return `the gateway runs as user ${user} with groups ${groups.join(', ') || 'none'}`
}

async function deniedReason(path: string, node: { uid: number; gid: number; mode: number }): Promise<string> {
  const groups = await readFile('/etc/group', 'utf8').catch(() => '')
  const groupName = groups
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(node.gid))?.[0]
  const mode = (node.mode & 0o777).toString(8).padStart(3, '0')
  const group = groupName ? `${groupName} (${node.gid})` : `${node.gid}`
  return `${path} belongs to user ${node.uid} and group ${group} with mode ${mode}; ${whoAmI()}`
}

/** `/proc/tty/drivers` names the device numbers of every terminal driver: `serial /dev/ttyS 4 64-95 serial`. */
async function isTerminalDevice(rdev: number): Promise<boolean> {
  const drivers = await readFile('/proc/tty/drivers', 'utf8').catch(() => undefined)
  // Where the list cannot be read (a hardened service), the open itself has to tell.
  if (drivers === undefined) return true
  const major = majorOf(rdev)
  const minor = minorOf(rdev)
  return drivers.split('\n').some((line) => {
    const [, , driverMajor, minors] = line.trim().split(/\s+/)
    if (driverMajor === undefined || minors === undefined || Number(driverMajor) !== major) return false
    const [first, last] = minors.split('-').map(Number)
    return first !== undefined && minor >= first && minor <= (last ?? first)
  })
}

/** Linux packs device numbers as makedev(3) does. */
function majorOf(device: number): number {
  return Math.floor(device / 256) % 4096
}

function minorOf(device: number): number {
  return (device % 256) + Math.floor(device / 0x10_0000) * 256
}

/** The process that locked the node, from `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 708 00:17:5 0 EOF`. */
async function lockHolder(node: { dev: number; ino: number }): Promise<PortHolder | undefined> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '')
  const major = majorOf(node.dev).toString(16).padStart(2, '0')
  const minor = minorOf(node.dev).toString(16).padStart(2, '0')
  const wanted = `${major}:${minor}:${node.ino}`
  for (const line of locks.split('\n')) {
    const fields = line.trim().split(/\s+/)
    if (fields[1] === 'FLOCK' && fields[5] === wanted) return holderOf(Number(fields[4]))
  }
  return undefined
}

async function holderOf(pid: number): Promise<PortHolder> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').then(
    (text) => text.trim(),
    () => null,
  )
  if (name !== null) return { pid, name }
  return { pid, name: null, hint: 'run `sudo baudway doctor` to see which program that is' }
}
