/** The last bytes on a line, in both directions: a ring of bounded entries. */
import { type Clock, isoTime } from '../clock.ts'
import { TRACE_ENTRIES, TRACE_ENTRY_BYTES } from '../limits.ts'
import type { TraceEntry } from './status.ts'

interface Recorded {
  readonly seq: number
  readonly wallMs: number
  readonly direction: 'tx' | 'rx'
  readonly bytes: Buffer
  readonly callId: string | undefined
}

export class Trace {
  readonly #clock: Clock
  readonly #ring: Recorded[] = []
  readonly #watchers = new Set<(entry: TraceEntry) => void>()
  #seq = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Copies the bytes: the reader's buffer is a slice of a large pool. */
  record(direction: 'tx' | 'rx', bytes: Uint8Array, callId?: string): void {
    const copy = Buffer.from(bytes)
    const wallMs = this.#clock.wall()
    for (let start = 0; start < copy.length; start += TRACE_ENTRY_BYTES) {
      const piece = copy.subarray(start, start + TRACE_ENTRY_BYTES)
      const recorded = { seq: this.#seq, wallMs, direction, bytes: piece, callId }
      this.#ring[this.#seq % TRACE_ENTRIES] = recorded
      this.#seq += 1
      for (const watcher of this.#watchers) watcher(shown(recorded))
    }
  }

  /** Tells of each new entry, until the returned function is called. */
  watch(watcher: (entry: TraceEntry) => void): () => void {
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
    }
  }

  /** The last `count` entries, oldest first. */
  last(count: number): TraceEntry[] {
    const kept = Math.min(count, this.#ring.length)
    const entries: TraceEntry[] = []
    for (let seq = this.#seq - kept; seq < this.#seq; seq += 1) {
      const recorded = this.#ring[seq % TRACE_ENTRIES]
      if (recorded) entries.push(shown(recorded))
    }
    return entries
  }
}

function shown(recorded: Recorded): TraceEntry {
  const { seq, wallMs, direction, bytes, callId } = recorded
  const entry = { seq, at: isoTime(wallMs), direction, hex: spacedHex(bytes), text: printable(bytes) }
  return callId === undefined ? entry : { ...entry, callId }
}

/** `ff 01 86`. */
export function spacedHex(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return hex.replace(/..(?=.)/g, '$& ')
}

function printable(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '.')
}
