/** Takes down what happens in a run, in the order in which it happens, and makes one hash of all of it. */
import { createHash } from 'node:crypto'
import type { CallResult } from '../../src/tool/shapes.ts'
import type { ExecutionRecord, Opening, Read, ReadingRecord, Sample, Told, Write } from './history.ts'

export class Recorder {
  readonly writes: Write[] = []
  readonly reads: Read[] = []
  readonly openings: Opening[] = []
  readonly executions: ExecutionRecord[] = []
  readonly readings: ReadingRecord[] = []
  readonly told = new Map<string, Told[]>()
  readonly samples: Sample[] = []
  readonly objections: string[] = []
  readonly uncaught: string[] = []
  readonly #now: () => number
  readonly #hash = createHash('sha256')
  #lines: string[] = []
  #sequence = 0
  #value = 100_000

  constructor(now: () => number) {
    this.#now = now
  }

  /** A number that no other execution of the run was given. */
  uniqueValue(): number {
    this.#value += 1
    return this.#value
  }

  write(write: Omit<Write, 'sequence' | 'at'>): void {
    const at = this.#now()
    this.writes.push({ ...write, sequence: this.#next(), at })
    this.note(`${at} w ${write.port} ${hex(write.bytes)}`)
  }

  read(port: string, bytes: Uint8Array): void {
    const at = this.#now()
    this.reads.push({ port, bytes, sequence: this.#next(), at })
    this.note(`${at} r ${port} ${hex(bytes)}`)
  }

  opening(port: string, kind: Opening['kind']): void {
    const at = this.#now()
    this.openings.push({ port, kind, sequence: this.#next(), at })
    this.note(`${at} ${kind} ${port}`)
  }

  execution(execution: Omit<ExecutionRecord, 'sequence' | 'at' | 'endedAt'>): ExecutionRecord {
    const at = this.#now()
    const record = { ...execution, at, sequence: this.#next(), endedAt: undefined }
    this.executions.push(record)
    this.note(`${at} x ${execution.by} ${execution.command} ${execution.nonce} ${execution.value}`)
    return record
  }

  reading(device: string, value: unknown): void {
    const at = this.#now()
    this.readings.push({ at, device, value })
    this.note(`${at} reading ${device} ${JSON.stringify(value)}`)
  }

  callTold({ id, outcome, error }: CallResult): void {
    const told = { at: this.#now(), outcome, code: error?.code }
    const before = this.told.get(id)
    if (before) before.push(told)
    else this.told.set(id, [told])
  }

  /** One line of the event log. */
  note(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length >= 256) this.#flush()
  }

  digest(): string {
    this.#flush()
    return this.#hash.digest('hex').slice(0, 16)
  }

  #flush(): void {
    if (this.#lines.length > 0) this.#hash.update(`${this.#lines.join('\n')}\n`)
    this.#lines = []
  }

  #next(): number {
    this.#sequence += 1
    return this.#sequence
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
