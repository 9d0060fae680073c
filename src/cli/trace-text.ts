/** Entries of traces as lines: when, on which port, in which direction, how long after the one before, what. */
import type { TraceEntry } from '../port/status.ts'
import { hexLines } from './hex-lines.ts'
import { printable } from './printable.ts'
import { coloured, type Terminal } from './terminal.ts'

/** What is known of the entry that is shown. */
export interface ShownEntry extends Pick<TraceEntry, 'at' | 'direction' | 'hex' | 'text'> {
  readonly port: string
  /** Milliseconds since the entry before on that port; undefined: there is none. */
  readonly gapMs: number | undefined
}

export const ARROWS = { tx: '→', rx: '←' } as const
const GAP_WIDTH = 8
const TIME_WIDTH = 12

/** `ports`: all that are watched; where there are several, each line names its own. */
export function traceText(screen: Pick<Terminal, 'colour' | 'columns'>, ports: readonly string[]) {
  const portWidth = ports.length > 1 ? Math.max(...ports.map((port) => port.length)) + 1 : 0
  const prefixWidth = TIME_WIDTH + GAP_WIDTH + 1 + portWidth + 2
  return (entry: ShownEntry): string[] => {
    const { at, direction, gapMs, port } = entry
    const time = localTime(at)
    const gap = (gapMs === undefined ? '' : gapText(gapMs)).padStart(GAP_WIDTH)
    const named = portWidth > 0 ? printable(port).padEnd(portWidth) : ''
    const arrow = coloured(screen, direction === 'tx' ? 'yellow' : 'green', ARROWS[direction])
    const prefix = `${coloured(screen, 'dim', time + gap)} ${named}${arrow} `
    return hexLines(entry, screen.columns - prefixWidth).map((line, index) =>
      `${index === 0 ? prefix : ' '.repeat(prefixWidth)}${line}`.trimEnd(),
    )
  }
}

/** `22:40:01.123` in the zone of this machine. */
export function localTime(at: string): string {
  const date = new Date(at)
  const isTime = !Number.isNaN(date.getTime())
  if (!isTime) return ''.padEnd(TIME_WIDTH)
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** `+12`, and in seconds what is longer than ten of them. */
function gapText(gapMs: number): string {
  if (Math.abs(gapMs) < 10_000) return `${gapMs < 0 ? '' : '+'}${gapMs}`
  return `+${Math.round(gapMs / 1_000)}s`
}
