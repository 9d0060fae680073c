/** What is shown of a port, and of the bytes on it. */
import type { LineSettings, PortState } from './request.ts'

export interface PortHolder {
  readonly pid: number | null
  readonly name: string | null
  readonly hint?: string
}

export interface PortCounters {
  readonly opens: number
  readonly losses: number
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly frames: number
  readonly transactions: number
  readonly timeouts: number
  /** Whole frames that no request was waiting for. */
  readonly foreignFrames: number
  /** Replies that came after their caller was told `timeout`. */
  readonly lateReplies: number
  readonly events: number
  readonly frameErrors: Readonly<Record<'checksum' | 'form' | 'overflow' | 'junk', number>>
}

export interface PortStatus {
  readonly id: string
  readonly path: string
  /** The kernel device behind the path, while the port is open. */
  readonly resolvedPath: string | null
  readonly state: PortState
  /** ISO 8601. */
  readonly since: string
  readonly settings: LineSettings
  readonly counters: PortCounters
  readonly holder: PortHolder | null
  readonly lastError: string | null
}

export interface TraceEntry {
  readonly seq: number
  /** ISO 8601. */
  readonly at: string
  readonly direction: 'tx' | 'rx'
  readonly hex: string
  /** Printable ASCII; anything else is a dot. */
  readonly text: string
  readonly callId?: string
}
