/**
 * The trace of one port, followed for as long as somebody looks: a connection that breaks is made again, with
 * growing pauses, and what was missed meanwhile is said rather than passed over.
 */
import { type Clock, pause } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { TraceEntry } from '../port/status.ts'
import { CommandFault } from './command.ts'
import { eventData } from './event-stream.ts'
import type { GatewayClient } from './gateway-client.ts'

const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000] as const

export interface TraceWatch {
  readonly gateway: GatewayClient
  readonly port: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** `missed`: entries between the one before and this that never came. */
  readonly onEntry: (entry: TraceEntry, missed: number) => void
  /** Something to say of the connection. */
  readonly onNote: (note: string) => void
}

/** Resolves when the signal aborts; rejects with a CommandFault if the very first connection cannot be made. */
export async function watchTrace(watch: TraceWatch): Promise<void> {
  const { gateway, port, clock, signal, onNote } = watch
  const follow = follower(watch)
  const path = `/v1/ports/${encodeURIComponent(port)}/trace/stream`
  let failures = 0
  for (let everConnected = false; !signal.aborted; ) {
    let why = 'the gateway ended it'
    try {
      const body = await gateway.stream(path, signal, follow.lastSeq()?.toString())
      if (everConnected) onNote(`${port}: connected again`)
      everConnected = true
      failures = 0
      for await (const data of eventData(body)) follow.take(data)
    } catch (error) {
      if (signal.aborted) return
      if (!everConnected) throw error
      why = reasonOf(error)
    }
    if (signal.aborted) return
    const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0
    if (failures === 0) onNote(`${port}: the connection is gone (${why}); trying again`)
    failures += 1
    await pause(clock, pauseMs, signal)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof CommandFault) return error.message.split('\n')[0] ?? ''
  const cause = error instanceof Error ? error.cause : undefined
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? messageOf(cause ?? error)
}

/** Entries are numbered without a gap; a number that goes back is another run of the gateway. */
function follower({ onEntry }: TraceWatch) {
  let last: number | undefined
  return {
    lastSeq: () => last,
    take(data: string): void {
      const entry = traceEntry(data)
      if (!entry) return
      const missed = last === undefined ? 0 : entry.seq - last - 1
      last = entry.seq
      onEntry(entry, Math.max(0, missed))
    },
  }
}

function traceEntry(data: string): TraceEntry | undefined {
  try {
    const entry = JSON.parse(data) as Partial<TraceEntry> | null
    const isEntry =
      typeof entry?.seq === 'number' &&
      typeof entry.at === 'string' &&
      typeof entry.hex === 'string' &&
      typeof entry.text === 'string' &&
      (entry.direction === 'tx' || entry.direction === 'rx')
    return isEntry ? (entry as TraceEntry) : undefined
  } catch {
    return undefined
  }
}
