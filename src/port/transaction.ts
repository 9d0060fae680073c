/**
 * One request and what closes it, as a pure state machine: no timer, no port. The line is drawn at the first byte
 * handed to the binding: before it nothing can have happened, after it only a matched reply proves something.
 */

/** How a transaction failed; the codes are those of the error table. */
export type TransactionFailure = 'timeout' | 'bad_reply' | 'port_lost' | 'stopped'

export type TransactionEnd<T> =
  | { readonly kind: 'reply'; readonly match: T; readonly wireMs: number }
  /** Nothing was to be acknowledged, and everything was sent. */
  | { readonly kind: 'unacknowledged'; readonly wireMs: number }
  | {
      readonly kind: 'failed'
      readonly code: TransactionFailure
      readonly sent: boolean
      readonly wireMs: number
    }

export type TransactionState<T> =
  | { readonly phase: 'unsent' }
  | {
      readonly phase: 'sent'
      readonly firstByteAt: number
      /** Whole frames that were not ours. */
      readonly foreignFrames: number
      /** Frames that failed their checksum or form. */
      readonly badFrames: number
    }
  | { readonly phase: 'ended'; readonly end: TransactionEnd<T> }

export type TransactionInput<T> =
  | { readonly kind: 'first_byte'; readonly at: number }
  | { readonly kind: 'matched'; readonly match: T; readonly at: number }
  | { readonly kind: 'foreign_frame' }
  | { readonly kind: 'bad_frame' }
  /** The last byte is on the wire, and no acknowledgement is expected. */
  | { readonly kind: 'all_sent'; readonly at: number }
  /** As many bytes as the reply has came, and then the line fell silent. */
  | { readonly kind: 'silence'; readonly at: number }
  | { readonly kind: 'timeout'; readonly at: number }
  | { readonly kind: 'lost'; readonly at: number }
  | { readonly kind: 'stop'; readonly at: number }

export function unsent<T>(): TransactionState<T> {
  return { phase: 'unsent' }
}

/** The next state. An ended transaction stays as it ended, whatever comes. */
export function step<T>(state: TransactionState<T>, input: TransactionInput<T>): TransactionState<T> {
  if (state.phase === 'ended') return state
  if (state.phase === 'unsent') {
    switch (input.kind) {
      case 'first_byte':
        return { phase: 'sent', firstByteAt: input.at, foreignFrames: 0, badFrames: 0 }
      case 'lost':
        return failed('port_lost', false, 0)
      case 'stop':
        return failed('stopped', false, 0)
      default:
        return state
    }
  }
  const wireMs = 'at' in input ? input.at - state.firstByteAt : 0
  switch (input.kind) {
    case 'matched':
      return { phase: 'ended', end: { kind: 'reply', match: input.match, wireMs } }
    case 'all_sent':
      return { phase: 'ended', end: { kind: 'unacknowledged', wireMs } }
    case 'foreign_frame':
      return { ...state, foreignFrames: state.foreignFrames + 1 }
    case 'bad_frame':
      return { ...state, badFrames: state.badFrames + 1 }
    case 'silence':
      return onlyBadFrames(state) ? failed('bad_reply', true, wireMs) : state
    case 'timeout':
      return failed(onlyBadFrames(state) ? 'bad_reply' : 'timeout', true, wireMs)
    case 'lost':
      return failed('port_lost', true, wireMs)
    case 'stop':
      return failed('stopped', true, wireMs)
    case 'first_byte':
      return state
  }
}

function onlyBadFrames(state: { foreignFrames: number; badFrames: number }): boolean {
  return state.badFrames > 0 && state.foreignFrames === 0
}

function failed<T>(code: TransactionFailure, sent: boolean, wireMs: number): TransactionState<T> {
  return { phase: 'ended', end: { kind: 'failed', code, sent, wireMs } }
}
