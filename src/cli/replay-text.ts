/** What a replay found, as lines, as counts and as JSON. */
import type { DeviceDescription, Verdict } from '../driver/device-type.ts'
import type { Replayed } from '../driver/replay.ts'
import { spacedHex } from '../port/trace.ts'
import { printable } from './printable.ts'
import { valueText } from './result-text.ts'
import { cut } from './table.ts'
import { type Colour, coloured, type Terminal } from './terminal.ts'
import { ARROWS, localTime } from './trace-text.ts'
import { wrapped } from './wrapped.ts'

const INDENT = ' '.repeat(15)

/** For each frame its bytes, and below them what they say. */
export function replayLines(
  replayed: readonly Replayed[],
  device: DeviceDescription,
  terminal: Pick<Terminal, 'colour' | 'columns'>,
): string[] {
  return replayed.flatMap((one) => {
    const isSent = one.kind === 'request'
    const arrow = coloured(terminal, isSent ? 'yellow' : 'green', isSent ? ARROWS.tx : ARROWS.rx)
    const bytes = 'bytes' in one ? spacedHex(one.bytes) : `(${one.length} bytes)`
    const [said, colour] = meaning(one, device)
    const text = wrapped(said, INDENT, terminal).map(
      (line) => INDENT + painted(line.trim(), colour, terminal),
    )
    return [`${localTime(one.at)} ${arrow} ${cut(bytes, terminal.columns - INDENT.length)}`, ...text]
  })
}

function painted(line: string, colour: Colour | undefined, terminal: Pick<Terminal, 'colour'>): string {
  return coloured(terminal, colour, line)
}

function meaning(one: Replayed, device: DeviceDescription): [string, Colour | undefined] {
  switch (one.kind) {
    case 'request':
      return one.request
        ? [`${one.request.tool}${fieldsText(one.request.arguments, {})}`, undefined]
        : ['no request of this type', 'dim']
    case 'reply':
      return verdictText(one.verdict, one.isAsked ? one.tool : `${one.tool}?`, device)
    case 'event':
      return [`event ${one.name}${fieldsText(one.fields, {})}`, undefined]
    case 'pushed':
      return [`pushed${fieldsText(one.fields, unitsOf(device))}`, undefined]
    case 'unrecognised':
      return ['not recognised', 'dim']
    case 'frame_error':
      return [`no frame: ${one.error}`, 'red']
  }
}

function verdictText(
  verdict: Verdict<unknown>,
  tool: string,
  device: DeviceDescription,
): [string, Colour | undefined] {
  switch (verdict.kind) {
    case 'value':
      return [`${tool}${fieldsText(verdict.value, unitsOf(device))}`, undefined]
    case 'busy':
      return [`${tool} busy: ${verdict.message}`, 'yellow']
    case 'refused':
      return [`${tool} refused (${verdict.deviceCode}): ${verdict.message}`, 'red']
  }
}

function unitsOf({ readings }: DeviceDescription): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(readings).map(([field, { unit }]) => [field, unit ?? undefined]))
}

function fieldsText(value: unknown, units: Readonly<Record<string, string | undefined>>): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `: ${valueText(value)}`
  const fields = Object.entries(value).map(([name, field]) => {
    const unit = units[name]
    return `${name} ${valueText(field)}${unit === undefined ? '' : ` ${unit}`}`
  })
  return fields.length === 0 ? '' : `: ${printable(fields.join(', '))}`
}

export interface ReplayCounts {
  readonly requests: number
  readonly unnamedRequests: number
  readonly replies: number
  readonly events: number
  readonly pushed: number
  readonly unrecognised: number
  readonly frameErrors: Readonly<Record<string, number>>
}

export function replayCounts(replayed: readonly Replayed[]): ReplayCounts {
  const count = (kind: Replayed['kind']) => replayed.filter((one) => one.kind === kind).length
  const frameErrors: Record<string, number> = { checksum: 0, form: 0, overflow: 0, junk: 0 }
  for (const one of replayed) {
    if (one.kind === 'frame_error') frameErrors[one.error] = (frameErrors[one.error] ?? 0) + 1
  }
  const unnamed = replayed.filter((one) => one.kind === 'request' && one.request === undefined)
  return {
    requests: count('request'),
    unnamedRequests: unnamed.length,
    replies: count('reply'),
    events: count('event'),
    pushed: count('pushed'),
    unrecognised: count('unrecognised'),
    frameErrors,
  }
}

export function replayTotals(replayed: readonly Replayed[]): string {
  const { requests, unnamedRequests, replies, events, pushed, unrecognised, frameErrors } =
    replayCounts(replayed)
  const errors = Object.entries(frameErrors).flatMap(([kind, many]) => (many > 0 ? [`${many} ${kind}`] : []))
  const parts = [
    counted(requests, 'request') + (unnamedRequests > 0 ? ` (${unnamedRequests} unnamed)` : ''),
    counted(replies, 'reply', 'replies'),
    ...(events > 0 ? [counted(events, 'event')] : []),
    ...(pushed > 0 ? [`${pushed} pushed`] : []),
    ...(unrecognised > 0 ? [`${unrecognised} not recognised`] : []),
    errors.length > 0 ? `frame errors: ${errors.join(', ')}` : 'no frame errors',
  ]
  return parts.join(', ')
}

function counted(many: number, one: string, several = `${one}s`): string {
  return many === 1 ? `1 ${one}` : `${many} ${several}`
}

/** The same as JSON: bytes in hex. */
export function replayView(type: string, replayed: readonly Replayed[]) {
  const frames = replayed.map((one) => {
    if (one.kind === 'frame_error') return one
    const { bytes, ...rest } = one
    if (rest.kind !== 'request') return { ...rest, hex: spacedHex(bytes) }
    const { at, kind, request } = rest
    return {
      at,
      kind,
      hex: spacedHex(bytes),
      tool: request?.tool ?? null,
      arguments: request?.arguments ?? null,
    }
  })
  return { type, frames, counts: replayCounts(replayed) }
}
