/** What a schema cannot say about one device: its id, its type, its times and its tools. */
import type { ConfigurableTypes } from './configurable-type.ts'
import { RETRIES_MAX } from './device-keys.ts'
import type { Draft, DraftDevice } from './draft.ts'
import { errorAt, type Finding, quoted } from './fault.ts'
import { didYouMean } from './near-names.ts'
import { isId, parseDuration } from './notation.ts'
import { childPointer, isMapping } from './pointer.ts'

const TOOL_NAME_LENGTH_MAX = 64
const POLL_MIN_MS = 10
const POLL_MAX_MS = 7 * 86_400_000

export function deviceFindings({ devices }: Draft, types: ConfigurableTypes): Finding[] {
  const single = devices.flatMap((device) => [
    ...typeFindings(device, types),
    ...timeFindings(device),
    ...retriesFindings(device),
    ...toolNameFindings(device),
    ...stopFindings(device),
  ])
  return [...idFindings(devices), ...single]
}

/** `<device id>__<command>`: the name under which a tool is called. */
export function toolName(deviceId: string, command: string): string {
  return `${deviceId}__${command}`
}

function idFindings(devices: readonly DraftDevice[]): Finding[] {
  const first = new Map<string, DraftDevice>()
  const findings: Finding[] = []
  for (const device of devices) {
    if (device.id === undefined) continue
    const other = first.get(device.id)
    if (!other) {
      first.set(device.id, device)
      continue
    }
    const position = Number(other.pointer.slice('/devices/'.length)) + 1
    const message = `the id ${quoted(device.id)} is taken by item ${position} of "devices"`
    findings.push(errorAt(childPointer(device.pointer, 'id'), message))
  }
  return findings
}

function typeFindings({ keys, type, pointer }: DraftDevice, types: ConfigurableTypes): Finding[] {
  if (type || typeof keys.type !== 'string') return []
  const hint = didYouMean(keys.type, types.keys()) ?? '`baudway types` lists them'
  return [errorAt(childPointer(pointer, 'type'), `unknown device type ${quoted(keys.type)}`, { hint })]
}

function timeFindings({ keys, pointer, facts }: DraftDevice): Finding[] {
  const findings: Finding[] = []
  const pollMs = typeof keys.poll === 'string' ? parseDuration(keys.poll) : undefined
  if (pollMs !== undefined && (pollMs < POLL_MIN_MS || pollMs > POLL_MAX_MS)) {
    const message = `"poll" must be between 10ms and 7d, not ${quoted(String(keys.poll))}`
    findings.push(errorAt(childPointer(pointer, 'poll'), message))
  }
  const { replyLatencyMaxMs } = keys
  const timeoutMs = keys.timeoutMs ?? facts?.timeoutMs
  if (
    typeof replyLatencyMaxMs === 'number' &&
    typeof timeoutMs === 'number' &&
    replyLatencyMaxMs < timeoutMs
  ) {
    const whose = keys.timeoutMs === undefined ? 'the timeout of the device type' : '"timeoutMs"'
    const message = `"replyLatencyMaxMs" must not be below ${whose}, ${timeoutMs}`
    findings.push(errorAt(childPointer(pointer, 'replyLatencyMaxMs'), message))
  }
  return findings
}

function retriesFindings({ keys, pointer, facts }: DraftDevice): Finding[] {
  const { retries } = keys
  if (typeof retries !== 'number' || !facts || facts.tools.length === 0) return []
  const retriesMax = Math.max(...facts.tools.map(({ effect }) => RETRIES_MAX[effect]))
  if (retries <= retriesMax || retries > RETRIES_MAX.read) return []
  const message =
    retriesMax === 0
      ? '"retries" must be 0 here: no tool of this device may be repeated'
      : `"retries" must be at most ${retriesMax} here: this device has no reads, and a set is tried again once`
  return [errorAt(childPointer(pointer, 'retries'), message)]
}

function toolNameFindings({ id, pointer, facts }: DraftDevice): Finding[] {
  if (id === undefined || !isId(id) || !facts) return []
  return facts.tools
    .map(({ command }) => toolName(id, command))
    .filter((name) => name.length > TOOL_NAME_LENGTH_MAX)
    .map((name) => {
      const message = `the tool name ${JSON.stringify(name)} has ${name.length} characters; at most ${TOOL_NAME_LENGTH_MAX} are allowed`
      return errorAt(childPointer(pointer, 'id'), message, { hint: 'shorten the id, or the name behind it' })
    })
}

/** The command of an entry of `stop`, which may also be the whole name of a tool of this device. */
export function stopCommand(id: string | undefined, tool: string): string {
  const prefix = id === undefined ? '' : toolName(id, '')
  return tool.startsWith(prefix) ? tool.slice(prefix.length) : tool
}

function stopFindings({ id, keys, pointer, facts }: DraftDevice): Finding[] {
  if (!Array.isArray(keys.stop) || !facts) return []
  const commands = facts.tools.map(({ command }) => command)
  const known = new Set(commands)
  return keys.stop.flatMap((entry, index) => {
    const place = childPointer(childPointer(pointer, 'stop'), index)
    const tool = isMapping(entry) ? entry.tool : entry
    if (typeof tool !== 'string' || known.has(stopCommand(id, tool))) return []
    const hint = didYouMean(stopCommand(id, tool), commands)
    const message = `unknown tool ${quoted(tool)}: this device has none of that name`
    return [errorAt(isMapping(entry) ? childPointer(place, 'tool') : place, message, { hint })]
  })
}
