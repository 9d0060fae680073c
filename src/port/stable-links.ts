/** The names of a port that outlive a restart and another socket: links that udev, or its owner's rules, made. */
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostRoots } from './host-roots.ts'

export interface StableLinks {
  /** Named after what the adapter says of itself. */
  readonly byId: readonly string[]
  /** Named after the socket that it is plugged into. */
  readonly byPath: readonly string[]
  /** Other links directly in `/dev`: `/dev/serial0` of a Raspberry Pi, and those of the owner's own udev rules. */
  readonly aliases: readonly string[]
}

export const NO_LINKS: StableLinks = { byId: [], byPath: [], aliases: [] }

/** Links of one folder that are followed. */
const LINKS_MAX = 1_024

/** All links, by the device node that they lead to. */
export async function readStableLinks({ dev }: HostRoots): Promise<ReadonlyMap<string, StableLinks>> {
  const [byId, byPath, aliases] = await Promise.all([
    linksOf(join(dev, 'serial/by-id')),
    linksOf(join(dev, 'serial/by-path')),
    linksOf(dev),
  ])
  const nodes = new Set([...byId.keys(), ...byPath.keys(), ...aliases.keys()])
  return new Map(
    Array.from(nodes, (node) => [
      node,
      { byId: byId.get(node) ?? [], byPath: byPath.get(node) ?? [], aliases: aliases.get(node) ?? [] },
    ]),
  )
}

async function linksOf(folder: string): Promise<Map<string, string[]>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const links = entries
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(folder, name))
    .sort()
    .slice(0, LINKS_MAX)
  const found = new Map<string, string[]>()
  const nodes = await Promise.all(links.map((link) => realpath(link).catch(() => undefined)))
  for (const [index, link] of links.entries()) {
    const node = nodes[index]
    if (node === undefined) continue
    const others = found.get(node)
    if (others) others.push(link)
    else found.set(node, [link])
  }
  return found
}
