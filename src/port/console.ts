/** Which terminals the kernel writes its messages to: a device there is sent text that nobody meant for it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostRoots } from './host-roots.ts'

/** Their names, as in `/dev`; aliases such as `serial0` among them. */
export async function readConsoles({ proc, sys }: HostRoots): Promise<ReadonlySet<string>> {
  const [commandLine, active] = await Promise.all([
    readFile(join(proc, 'cmdline'), 'utf8').catch(() => ''),
    // Also those that the machine's device tree chose.
    readFile(join(sys, 'class/tty/console/active'), 'utf8').catch(() => ''),
  ])
  const asked = Array.from(commandLine.matchAll(/(?:^|\s)console=([^\s,]+)/g), (match) => match[1] ?? '')
  return new Set([...asked, ...active.trim().split(/\s+/)].filter((name) => name !== ''))
}
