/** What a port has counted since the gateway started. */
import type { FrameErrorKind } from './framing.ts'
import type { PortCounters } from './status.ts'

export interface Counters extends PortCounters {
  opens: number
  losses: number
  bytesSent: number
  bytesReceived: number
  frames: number
  transactions: number
  timeouts: number
  foreignFrames: number
  lateReplies: number
  events: number
  readonly frameErrors: Record<FrameErrorKind, number>
}

export function createCounters(): Counters {
  return {
    opens: 0,
    losses: 0,
    bytesSent: 0,
    bytesReceived: 0,
    frames: 0,
    transactions: 0,
    timeouts: 0,
    foreignFrames: 0,
    lateReplies: 0,
    events: 0,
    frameErrors: { checksum: 0, form: 0, overflow: 0, junk: 0 },
  }
}
