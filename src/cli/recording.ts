/** A recorded trace: what `monitor --record` writes, or what HTTP answers to a trace. */
import type { RecordedEntry } from '../driver/replay.ts'
import { CommandFault, WRONG_USAGE } from './command.ts'

export interface PortRecording {
  /** Null: the recording does not say. */
  readonly port: string | null
  readonly entries: readonly RecordedEntry[]
}

/** By port, in the order of the recording. The last line of a recording that was cut short may be half a line. */
export function readRecording(text: string, name: string): readonly PortRecording[] {
  const ports = new Map<string | null, RecordedEntry[]>()
  for (const { value, line } of valuesOf(text, name)) {
    const { port = null, at, direction, hex } = (value ?? {}) as Readonly<Record<string, unknown>>
    const bytes = typeof hex === 'string' && /^([0-9a-f]{2}\s*)*$/i.test(hex) ? hex.replace(/\s/g, '') : null
    const isEntry = typeof at === 'string' && !Number.isNaN(Date.parse(at)) && bytes !== null
    if (!isEntry || (direction !== 'tx' && direction !== 'rx')) {
      throw new CommandFault(
        WRONG_USAGE,
        `${name}:${line}: is not an entry of a trace: at, direction and hex`,
      )
    }
    const key = typeof port === 'string' ? port : null
    const entries = ports.get(key) ?? []
    entries.push({ at, direction, bytes: Buffer.from(bytes, 'hex') })
    ports.set(key, entries)
  }
  return Array.from(ports, ([port, entries]) => ({ port, entries }))
}

interface Value {
  readonly value: unknown
  readonly line: number
}

function valuesOf(text: string, name: string): readonly Value[] {
  const whole = parsed(text)
  if (whole !== undefined) {
    const { entries = whole } = (whole ?? {}) as { entries?: unknown }
    return (Array.isArray(entries) ? entries : [entries]).map((value: unknown) => ({ value, line: 1 }))
  }
  const lines = text.split('\n')
  return lines.flatMap((content, index) => {
    if (content.trim() === '') return []
    const value = parsed(content)
    if (value !== undefined) return [{ value, line: index + 1 }]
    if (index === lines.length - 1) return []
    throw new CommandFault(WRONG_USAGE, `${name}:${index + 1}: is not JSON`)
  })
}

/** Undefined: it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
