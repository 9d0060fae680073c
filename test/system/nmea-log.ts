/** A recording of what a receiver said, cut into what belongs to one time of day. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Epoch {
  /** `hhmmss.sss`; empty before the receiver has said the time. */
  readonly time: string
  /** As recorded, each with its line end, damaged ones among them. */
  readonly lines: readonly Buffer[]
  /** The kinds of its sound sentences, without talkers. */
  readonly kinds: ReadonlySet<string>
}

/** Which data field of a kind of sentence is the time of day. */
const TIMES: ReadonlyMap<string, number> = new Map([
  ['GGA', 1],
  ['RMC', 1],
  ['ZDA', 1],
  ['GLL', 5],
])

export function readEpochs(file: string): Epoch[] {
  const text = readFileSync(join(import.meta.dirname, 'gps-logs', file), 'latin1')
  const epochs: { time: string; lines: Buffer[]; kinds: Set<string> }[] = []
  for (const line of text.match(/[^\n]*\n/g) ?? []) {
    // The remarks of those who recorded it.
    if (line.startsWith('#')) continue
    const fields = isSound(line) ? line.trimEnd().slice(1, -3).split(',') : []
    const kind = fields[0]?.slice(2) ?? ''
    const said = fields[TIMES.get(kind) ?? -1]
    const time = said ? timeOfDay(said) : (epochs.at(-1)?.time ?? '')
    let epoch = epochs.at(-1)
    if (epoch?.time !== time) {
      epoch = { time, lines: [], kinds: new Set() }
      epochs.push(epoch)
    }
    epoch.lines.push(Buffer.from(line, 'latin1'))
    epoch.kinds.add(kind)
  }
  return epochs
}

/** `hhmmss.sss` of a sentence's `hhmmss.ss`, or of an ISO 8601 time. */
export function timeOfDay(text: string): string {
  const digits = text.replace(/^.*T|[:Z]/g, '')
  return Number(digits).toFixed(3).padStart(10, '0')
}

/** The exclusive or of all between `$` and `*` is what stands behind the `*`. */
export function isSound(line: string): boolean {
  const [, data = '', stated = ''] = /^\$([^$*]*)\*([0-9A-Fa-f]{2})\r?\n$/.exec(line) ?? []
  if (stated === '') return false
  const sum = Buffer.from(data, 'latin1').reduce((all, byte) => all ^ byte, 0)
  return sum === Number.parseInt(stated, 16)
}

/**
 * The same line with one bit of one byte flipped, anywhere between its `$` and its line end. The bit is one of the
 * lower five: the next one turns a digit of the checksum into the same one in lower case.
 */
export function damaged(line: Buffer, choice: number): Buffer {
  const copy = Buffer.from(line)
  const length = line.toString('latin1').trimEnd().length
  const at = (choice * 7) % length
  copy[at] = (copy[at] ?? 0) ^ (1 << (choice % 5))
  return copy
}
