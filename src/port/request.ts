/** What a driver asks of a port, and what a port is seen to be. */
import type { ReplyMatcher, ReplyShape } from './reply.ts'

/** One request frame and what closes it. */
export interface Request<T> {
  readonly bytes: Uint8Array
  /** Null: the device acknowledges nothing, by design; the transaction ends with the last byte on the wire. */
  readonly reply: ReplyMatcher<T> | null
  /** From the first byte sent to the reply. */
  readonly timeoutMs: number
  /** How long after the last request byte a reply may still come; never below `timeoutMs`. */
  readonly replyLatencyMaxMs: number
  /** Silence before the request, counted from the last byte in either direction. */
  readonly gapMs: number
  /** The device on the line: its id. */
  readonly station: string
}

/** The line while one run holds it. */
export interface LineHold {
  /**
   * Sends the request and waits for its reply. Rejects with a GatewayError: `timeout`, `bad_reply`, `port_lost`,
   * `stopped` or `device_unavailable`.
   */
  transact<T>(request: Request<T>): Promise<T | null>
  /** A byte of this run was handed to the serial binding. */
  readonly sent: boolean
  /** Sum over the transactions: first byte sent to reply. */
  readonly wireMs: number
  /** Bytes that came during the last transaction, those of whole frames that were not its reply left out. */
  readonly bytesHeard: number
}

/** Where the reply of a run's first request could be confused with another. */
export interface FirstRequest {
  readonly station: string
  readonly shapes: readonly ReplyShape[]
}

export type PortState =
  | 'closed'
  | 'opening'
  | 'open'
  | 'suspect'
  | 'busy'
  | 'denied'
  | 'absent'
  | 'lost'
  | 'stale'

/** Calls queue in these states; in every other they are refused at once. */
export const QUEUEING_STATES: ReadonlySet<PortState> = new Set<PortState>(['opening', 'open', 'suspect'])

export type Parity = 'none' | 'even' | 'odd' | 'mark' | 'space'

/** The electrical side of a line. */
export interface LineSettings {
  readonly baudRate: number
  readonly dataBits: 5 | 6 | 7 | 8
  readonly stopBits: 1 | 1.5 | 2
  readonly parity: Parity
  readonly rtscts: boolean
  readonly hupcl: boolean
}

/** Milliseconds that one character takes: start, data, parity and stop bits. */
export function characterMs(settings: LineSettings): number {
  const bits = 1 + settings.dataBits + (settings.parity === 'none' ? 0 : 1) + settings.stopBits
  return (bits * 1000) / settings.baudRate
}
