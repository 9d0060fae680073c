/** What a schema cannot say about the other sections: what looks unsafe, and what has no effect. */
import { isIP } from 'node:net'
import { toolName } from './device-checks.ts'
import type { Draft } from './draft.ts'
import { type Finding, quoted, warningAt } from './fault.ts'
import { didYouMean } from './near-names.ts'
import { childPointer, isMapping, pointersLike, valueAt } from './pointer.ts'
import { SECRET_POINTERS } from './secret.ts'

export function fileFindings(draft: Draft, worldReadable: boolean): Finding[] {
  return [
    ...hostFindings(draft),
    ...interlockFindings(draft),
    ...(worldReadable ? secretFindings(draft) : []),
  ]
}

function hostFindings({ data: { http } }: Draft): Finding[] {
  const host = isMapping(http) ? http.host : undefined
  if (typeof host !== 'string' || host === '' || isLoopback(host)) return []
  const message = `on ${quoted(host)} the gateway can be reached from the network`
  return [
    warningAt('/http/host', message, { hint: 'tokens cross it in the clear without a TLS proxy in front' }),
  ]
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.')
  return host === '::1' || host.toLowerCase() === 'localhost'
}

/** An interlock that holds nothing back is worse than none, since somebody relies on it. */
function interlockFindings({ data: { never }, devices }: Draft): Finding[] {
  if (!Array.isArray(never) || devices.some(({ facts }) => facts === undefined)) return []
  const names = devices.flatMap(({ id = '', facts }) =>
    (facts?.tools ?? []).map(({ command }) => toolName(id, command)),
  )
  return never.flatMap((rule, index) => {
    const pattern = isMapping(rule) ? rule.tool : undefined
    if (typeof pattern !== 'string' || pattern === '') return []
    if (names.some((name) => fitsPattern(name, pattern))) return []
    const pointer = childPointer(childPointer('/never', index), 'tool')
    return [
      warningAt(pointer, `no tool of these devices fits ${quoted(pattern)}`, {
        hint: didYouMean(pattern, names),
      }),
    ]
  })
}

/** `*` stands for any characters; the parts between are taken where they first come, so that nothing is tried twice. */
function fitsPattern(name: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  for (const part of parts) {
    const found = name.indexOf(part, from)
    if (found === -1) return false
    from = found + part.length
  }
  return from <= name.length - last.length
}

function secretFindings({ data }: Draft): Finding[] {
  return SECRET_POINTERS.flatMap((pattern) => pointersLike(data, pattern))
    .filter((pointer) => typeof valueAt(data, pointer) === 'string')
    .map((pointer) =>
      warningAt(pointer, 'a secret stands here, and everybody on this machine may read the file', {
        hint: 'write { env: NAME } or { file: PATH }, or take the right to read from others',
      }),
    )
}
