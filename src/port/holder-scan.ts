/**
 * Which processes have a terminal open. A lock tells only of those that lock; a login prompt, ModemManager or `cat`
 * does not, and takes half of what the device says. One pass over `/proc`, bounded, and best effort: the open files
 * of other users' processes can be read by root only.
 */
import type { Stats } from 'node:fs'
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PortHolder } from './status.ts'

export interface Login extends PortHolder {
  /** Its command line, which names its terminal. */
  readonly words: readonly string[]
}

export interface HolderScan {
  /** By `nodeKey`. */
  readonly openers: ReadonlyMap<string, readonly PortHolder[]>
  /** The programs that offer a login on some terminal. */
  readonly logins: readonly Login[]
  readonly modemManager: PortHolder | undefined
  /** Processes whose open files this process may not see. */
  readonly unseenProcesses: number
}

const PROCESSES_MAX = 32_768
const FILES_MAX = 4_096
const LOGIN_PROGRAMS: readonly string[] = ['agetty', 'getty', 'mgetty', 'login']
/** The open files that may be a serial port: device nodes other than the pseudo-terminals. */
const DEVICE_NODE = /\/dev\/(?!pts\/|null$|zero$|u?random$|shm\/)/

/** Equal for two paths exactly if they lead to one kernel device, or to one file. */
export function nodeKey(node: Stats): string {
  return node.isCharacterDevice() ? `device:${node.rdev}` : `file:${node.dev}:${node.ino}`
}

export async function scanHolders(proc: string): Promise<HolderScan> {
  const entries = await readdir(proc).catch(() => [])
  const pids = entries.filter((name) => /^\d+$/.test(name)).slice(0, PROCESSES_MAX)
  const openers = new Map<string, PortHolder[]>()
  const logins: Login[] = []
  let modemManager: PortHolder | undefined
  let unseenProcesses = 0
  // One after the other: a thousand processes at once would take every thread that opens ports as well.
  for (const pid of pids) {
    const folder = join(proc, pid)
    const name = await readFile(join(folder, 'comm'), 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    )
    // It has ended meanwhile.
    if (name === undefined) continue
    const holder = { pid: Number(pid), name }
    if (name === 'ModemManager') modemManager = holder
    if (LOGIN_PROGRAMS.includes(name)) logins.push({ ...holder, words: await commandLine(folder) })
    const keys = await openNodes(join(folder, 'fd'))
    if (keys === undefined) unseenProcesses += 1
    for (const key of keys ?? []) {
      const others = openers.get(key)
      if (others) others.push(holder)
      else openers.set(key, [holder])
    }
  }
  return { openers, logins, modemManager, unseenProcesses }
}

/** The device nodes that a process has open; undefined: it may not be looked at. */
async function openNodes(folder: string): Promise<Set<string> | undefined> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => error)
  if (names instanceof Error) return names.code === 'EACCES' ? undefined : new Set()
  const keys = new Set<string>()
  for (const name of names.slice(0, FILES_MAX)) {
    const target = await readlink(join(folder, name)).catch(() => '')
    if (!DEVICE_NODE.test(target)) continue
    // By its number: inside a container the same device often has another name.
    const node = await stat(join(folder, name)).catch(() => undefined)
    if (node) keys.add(nodeKey(node))
  }
  return keys
}

async function commandLine(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'cmdline'), 'utf8').catch(() => '')
  return text.split('\0').filter((word) => word !== '')
}
