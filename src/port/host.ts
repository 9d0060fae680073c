/**
 * What the operating system knows of a path before it is opened. An open that is refused still changes the line
 * settings of whoever holds the port, and the library's errors carry only text: so everything that can be known
 * is looked up first. The mock and simulated bindings have a host of their own that knows nothing.
 */
import { constants } from 'node:fs'
import { access, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HOST_ROOTS, type HostRoots } from './host-roots.ts'
import { findRadioStick } from './radio-stick.ts'
import type { PortHolder } from './status.ts'
import { majorOf, minorOf } from './usb-identity.ts'

export type Inspection =
  | { readonly kind: 'absent' }
  | { readonly kind: 'denied'; readonly reason: string }
  /** Another process has locked it. */
  | { readonly kind: 'busy'; readonly holder: PortHolder }
  /** It is there, and it is no serial port, or one that belongs to another program. */
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

/** Refuses radio sticks. */
export const linuxHost: Host = createLinuxHost({ force: false })

/** For a port whose configuration says `force: true`: opens a radio stick all the same. */
export const forcedLinuxHost: Host = createLinuxHost({ force: true })

export function createLinuxHost(options: { readonly force: boolean; readonly roots?: HostRoots }): Host {
  const { force, roots = HOST_ROOTS } = options
  return { inspect: (path) => inspect(path, force, roots), deviceKey }
}

async function inspect(path: string, force: boolean, roots: HostRoots): Promise<Inspection> {
  const resolvedPath = await realpath(path).catch((error: NodeJS.ErrnoException) => error)
  if (resolvedPath instanceof Error) return unreachable(path, resolvedPath)
  const node = await stat(resolvedPath).catch((error: NodeJS.ErrnoException) => error)
  if (node instanceof Error) return unreachable(path, node)
  if (!node.isCharacterDevice() || !(await isTerminalDevice(node.rdev))) {
    return { kind: 'unfit', reason: `${resolvedPath} is not a serial port` }
  }
  const stick = force ? undefined : await findRadioStick(path, roots)
  if (stick) {
    const whose = `it belongs to ${stick.owner}`
    return {
      kind: 'unfit',
      reason: `${path} is a ${stick.radio} radio stick (${stick.name}): ${whose}; force: true opens it all the same`,
    }
  }
  if (!(await mayOpen(resolvedPath))) {
    return { kind: 'denied', reason: await deniedReason(resolvedPath, node) }
  }
  const holder = await lockHolder(node)
  if (holder) return { kind: 'busy', holder }
  return { kind: 'present', resolvedPath, deviceKey: keyOf(node.rdev) }
}

/** Whether this process may read and write the node. */
export function mayOpen(nodePath: string): Promise<boolean> {
  return access(nodePath, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
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
  return `Baudway runs as user ${user} with groups ${groups.join(', ') || 'none'}`
}

/** Who the node is for, and who this process is. */
export async function deniedReason(
  path: string,
  node: { uid: number; gid: number; mode: number },
): Promise<string> {
  const groupName = await groupNameOf(node.gid)
  const mode = (node.mode & 0o777).toString(8).padStart(3, '0')
  const group = groupName ? `${groupName} (${node.gid})` : `${node.gid}`
  return `${path} belongs to user ${node.uid} and group ${group} with mode ${mode}; ${whoAmI()}`
}

/** The name of a group on this machine; undefined: it has none here, as in many containers. */
export async function groupNameOf(gid: number): Promise<string | undefined> {
  const groups = await readFile('/etc/group', 'utf8').catch(() => '')
  return groups
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(gid))?.[0]
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

/** The process that locked the node, from `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 708 00:17:5 0 EOF`. */
export async function lockHolder(
  node: { dev: number; ino: number },
  proc: string = HOST_ROOTS.proc,
): Promise<PortHolder | undefined> {
  const locks = await readFile(join(proc, 'locks'), 'utf8').catch(() => '')
  const major = majorOf(node.dev).toString(16).padStart(2, '0')
  const minor = minorOf(node.dev).toString(16).padStart(2, '0')
  const wanted = `${major}:${minor}:${node.ino}`
  for (const line of locks.split('\n')) {
    const fields = line.trim().split(/\s+/)
    if (fields[1] === 'FLOCK' && fields[5] === wanted) return holderOf(Number(fields[4]), proc)
  }
  return undefined
}

async function holderOf(pid: number, proc: string): Promise<PortHolder> {
  const name = await readFile(join(proc, `${pid}/comm`), 'utf8').then(
    (text) => text.trim(),
    () => null,
  )
  if (name !== null) return { pid, name }
  return { pid, name: null, hint: 'run `sudo baudway doctor` to see which program that is' }
}
