/**
 * The bytes of one line: frames in, one transaction at a time out. It outlives the single opening, because a
 * reply that is late may come after a reopen too. Who may send when is decided above; that what arrives goes to
 * its own request, or to nobody, is decided here.
 */
import type { Clock, Timer } from '../clock.ts'
import { assert, GatewayError } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Counters } from './counters.ts'
import type { FrameErrorKind, Framer, Framing } from './framing.ts'
import { LateReplies } from './late-replies.ts'
import type { ReplyMatcher, ReplyShape } from './reply.ts'
import { characterMs, type LineHold, type LineSettings, type Request } from './request.ts'
import { StallWatch } from './stall-watch.ts'
import type { Trace } from './trace.ts'
import {
  step,
  type TransactionEnd,
  type TransactionInput,
  type TransactionState,
  unsent,
} from './transaction.ts'
import { neverSilent, replyOf } from './transaction-error.ts'

/** Silence before a request whose reply could be any frame, at all times. */
export const UNCORRELATED_SILENCE_MS = 120
/**
 * An adapter may hold bytes back for 16 ms, or until it has a packet of 64; only twice the one, and a little more than
 * the other, without a byte is silence.
 */
const SILENCE_MS_MIN = 35
const SILENCE_CHARACTERS = 68
/** The least gap between two frames that only silence separates (Modbus over Serial Line, 2.5.1.1). */
const FRAME_GAP_CHARACTERS = 3.5
/** A line that talks all the time never offers the gap: after this long a request goes out without it. */
const GAP_WAIT_MAX_MS = 1_000
/** How long the reply of a stopped run may still take. */
const STOP_PATIENCE_MS = 250

export interface LineParts {
  readonly clock: Clock
  readonly framing: Framing
  readonly settings: LineSettings
  readonly trace: Trace
  readonly counters: Counters
  /** A frame that no request was waiting for; true: it is an event. */
  readonly onUnsolicited: (frame: Uint8Array) => boolean
  /** The list of replies that may still come has changed. */
  readonly onLateReplies: () => void
}

interface Pending {
  readonly reply: ReplyMatcher<unknown> | null
  readonly expectedLength: number | undefined
  state: TransactionState<unknown>
  received: number
  /** Of them, those of whole frames that were not the reply. */
  foreign: number
  finish: (end: TransactionEnd<unknown>) => void
}

interface Opening {
  readonly connection: Connection
  ended: boolean
}

export interface HoldOptions {
  /** Named in the trace. */
  readonly callId?: string
  readonly signal: AbortSignal
  /** Goes out at once, whatever replies may still come; a reply that could be another's is none. */
  readonly urgent?: boolean
}

export class Line {
  readonly #parts: LineParts
  readonly #characterMs: number
  readonly #silenceMs: number
  readonly #gapMsMin: number
  readonly #framer: Framer
  readonly #late = new LateReplies()
  #opening: Opening | undefined
  #pending: Pending | undefined
  #lastReceivedAt = Number.NEGATIVE_INFINITY
  #lastSentAt = Number.NEGATIVE_INFINITY
  #bytesHeard = 0
  #silence: Timer | undefined
  readonly #stalls: StallWatch
  /** Wakes the run that waits for its turn on the line: the mutex lets there be one at most. */
  #wake: () => void = () => {}

  constructor(parts: LineParts) {
    this.#parts = parts
    this.#characterMs = characterMs(parts.settings)
    this.#silenceMs = Math.max(
      SILENCE_MS_MIN,
      SILENCE_CHARACTERS * this.#characterMs,
      parts.framing.idleMs ?? 0,
    )
    this.#gapMsMin = parts.framing.silenceEndsFrame ? FRAME_GAP_CHARACTERS * this.#characterMs : 0
    this.#stalls = new StallWatch({
      clock: parts.clock,
      isNeeded: () => this.#pending !== undefined || this.#late.size > 0,
      onStall: (unreadUntil) => this.#late.holdUntil(unreadUntil),
    })
    this.#framer = parts.framing.create({
      frame: (frame) => this.#onFrame(frame),
      error: (kind, length) => this.#onFrameError(kind, length),
    })
  }

  attach(connection: Connection): void {
    this.#framer.reset()
    this.#opening = { connection, ended: false }
  }

  /** The opening is over: the running transaction ends now, not at its timeout. */
  detach(): void {
    if (this.#opening) this.#opening.ended = true
    this.#opening = undefined
    this.#framer.reset()
    this.#input({ kind: 'lost', at: this.#parts.clock.now() })
    this.#wake()
  }

  /** The port is given up: nothing is expected any more. */
  stop(): void {
    this.#stalls.stop()
  }

  receive(chunk: Uint8Array): void {
    this.#lastReceivedAt = this.#parts.clock.now()
    this.#parts.counters.bytesReceived += chunk.length
    this.#parts.trace.record('rx', chunk)
    if (this.#pending) this.#pending.received += chunk.length
    this.#framer.push(chunk)
    this.#watchSilence()
  }

  /** Clock time before which a request with these replies may not go out; 0: now. */
  blockedUntil(shapes: readonly ReplyShape[]): number {
    this.#stalls.unreadUntil()
    return this.#late.blockedUntil(shapes, this.#parts.clock.now())
  }

  /** Expects what another line to the same device still expected. */
  inherit(other: Line): void {
    this.#late.inherit(other.#late)
    this.#stalls.start()
  }

  /** When the list of replies that may still come shrinks by itself; undefined: it is empty. */
  lateRepliesEndAt(): number | undefined {
    this.#stalls.unreadUntil()
    this.#late.expire(this.#parts.clock.now())
    return this.#late.nextEnd()
  }

  /** The line for one run. The caller holds the mutex until `release`. */
  hold({ callId, signal, urgent = false }: HoldOptions): LineHold & { release(): void } {
    const opening = this.#opening
    let sent = false
    let wireMs = 0
    let bytesHeard = 0
    let released = false
    const transact = async <T>(request: Request<T>): Promise<T | null> => {
      assert(!released, 'a run used the line after its end')
      const isAmbiguous = await this.#turn(request, opening, signal, urgent)
      // A reply that could be another's proves nothing: it is not waited for, and is expected late.
      const asked = isAmbiguous ? { ...request, reply: null } : request
      const end = await this.#exchange(asked, callId, signal, () => {
        sent = true
      })
      if (isAmbiguous) this.#expectLate(request, this.#lastSentAt)
      wireMs += end.wireMs
      bytesHeard = this.#bytesHeard
      return replyOf(end, request)
    }
    return {
      transact,
      release: () => {
        released = true
      },
      get sent() {
        return sent
      },
      get wireMs() {
        return wireMs
      },
      get bytesHeard() {
        return bytesHeard
      },
    }
  }

  /**
   * Resolves when the request may go out; rejects when the opening is over or the run is stopped. An urgent one waits
   * for its gap only: true says that its reply could be taken for another.
   */
  async #turn(
    request: Request<unknown>,
    opening: Opening | undefined,
    signal: AbortSignal,
    urgent: boolean,
  ): Promise<boolean> {
    const { clock } = this.#parts
    const shapes = request.reply?.shapes ?? []
    const uncorrelated = shapes.some((shape) => shape.bytes.length === 0 && shape.length === undefined)
    const silenceMs = uncorrelated && !urgent ? UNCORRELATED_SILENCE_MS : 0
    const gapMs = Math.max(request.gapMs, this.#gapMsMin, silenceMs)
    const gapEndsAt = clock.now() + Math.max(GAP_WAIT_MAX_MS, gapMs)
    for (;;) {
      if (signal.aborted) throw new GatewayError('stopped', 'stopped before the request was sent')
      if (!opening || opening.ended || opening !== this.#opening) {
        throw new GatewayError('port_lost', 'the port went away before the request was sent')
      }
      const now = clock.now()
      const readOutUntil = this.#stalls.unreadUntil()
      const lateUntil = Math.max(this.#late.blockedUntil(shapes, now), readOutUntil)
      let gapUntil = Math.max(this.#lastReceivedAt, this.#lastSentAt) + gapMs
      if (gapUntil > now && now >= gapEndsAt && lateUntil <= now) {
        if (silenceMs > 0) throw neverSilent(gapMs)
        gapUntil = now
      }
      const until = urgent ? gapUntil : Math.max(lateUntil, gapUntil)
      if (until <= now) break
      await this.#sleep(until - now, signal)
    }
    const quietMs = clock.now() - this.#lastReceivedAt
    if (this.#framer.held > 0 && quietMs >= Math.max(request.gapMs, this.#silenceMs)) this.#framer.idle()
    return this.#late.blockedUntil(shapes, clock.now()) > clock.now()
  }

  #exchange<T>(
    request: Request<T>,
    callId: string | undefined,
    signal: AbortSignal,
    onFirstByte: () => void,
  ): Promise<TransactionEnd<unknown>> {
    const { clock, counters, trace } = this.#parts
    const opening = this.#opening
    assert(opening && !this.#pending, 'two transactions on one line')
    counters.transactions += 1
    return new Promise((resolve) => {
      const startAt = clock.now()
      const lastByteAt = startAt + request.bytes.length * this.#characterMs
      const timers: Timer[] = []
      const stop = () => {
        const patience = Math.max(0, lastByteAt - clock.now()) + STOP_PATIENCE_MS
        timers.push(clock.after(patience, () => this.#input({ kind: 'stop', at: clock.now() })))
      }
      this.#pending = {
        reply: request.reply,
        expectedLength: longest(request.reply),
        state: unsent(),
        received: 0,
        foreign: 0,
        finish: (end) => {
          for (const timer of timers) timer.cancel()
          signal.removeEventListener('abort', stop)
          this.#settle(request, end, lastByteAt)
          resolve(end)
        },
      }
      timers.push(clock.after(request.timeoutMs, () => timeOut()))
      const timeOut = () => {
        // After a stall the reply may be there and only not read yet.
        const waitMs = this.#stalls.unreadUntil() - clock.now()
        if (waitMs > 0) timers.push(clock.after(waitMs, timeOut))
        else this.#input({ kind: 'timeout', at: clock.now() })
      }
      this.#stalls.start()
      signal.addEventListener('abort', stop, { once: true })
      this.#lastSentAt = lastByteAt
      counters.bytesSent += request.bytes.length
      trace.record('tx', request.bytes, callId)
      onFirstByte()
      this.#input({ kind: 'first_byte', at: startAt })
      opening.connection.write(request.bytes).then(
        () => {
          if (request.reply) return
          timers.push(
            clock.after(lastByteAt - clock.now(), () => this.#input({ kind: 'all_sent', at: clock.now() })),
          )
        },
        // The connection reports a failed write as a loss by itself.
        () => {},
      )
    })
  }

  /** A request that ended without its reply leaves an entry on the list. */
  #settle(request: Request<unknown>, end: TransactionEnd<unknown>, lastByteAt: number): void {
    this.#silence?.cancel()
    if (end.kind !== 'failed' || !end.sent) return
    if (end.code === 'timeout') this.#parts.counters.timeouts += 1
    this.#expectLate(request, lastByteAt)
  }

  #expectLate({ reply, replyLatencyMaxMs }: Request<unknown>, lastByteAt: number): void {
    if (!reply) return
    this.#late.add(reply, Math.max(lastByteAt + replyLatencyMaxMs, this.#stalls.unreadUntil()))
    this.#stalls.start()
    this.#parts.onLateReplies()
  }

  #input(input: TransactionInput<unknown>): void {
    const pending = this.#pending
    if (!pending) return
    pending.state = step(pending.state, input)
    if (pending.state.phase !== 'ended') return
    this.#pending = undefined
    this.#bytesHeard = pending.received - pending.foreign
    pending.finish(pending.state.end)
  }

  #onFrame(frame: Uint8Array): void {
    const { clock, counters, onUnsolicited, onLateReplies } = this.#parts
    const now = clock.now()
    counters.frames += 1
    const match = this.#pending?.reply?.match(frame)
    if (match !== undefined) {
      if (onUnsolicited(frame)) counters.events += 1
      // A reply proves that the whole request was out; an adapter may be faster than its nominal speed.
      this.#lastSentAt = Math.min(this.#lastSentAt, now)
      this.#input({ kind: 'matched', match, at: now })
      return
    }
    if (this.#pending) this.#pending.foreign += frame.length
    const late = this.#late.recognise(frame, now)
    const event = onUnsolicited(frame)
    if (event) counters.events += 1
    if (late) {
      counters.lateReplies += 1
      onLateReplies()
      this.#wake()
    } else if (!event) {
      counters.foreignFrames += 1
    }
    this.#input({ kind: 'foreign_frame' })
  }

  #onFrameError(kind: FrameErrorKind, _length: number): void {
    this.#parts.counters.frameErrors[kind] += 1
    if (kind !== 'junk') this.#input({ kind: 'bad_frame' })
  }

  /** What came is no reply, and once the line is silent it will become none: no need for the whole timeout. */
  #watchSilence(): void {
    this.#silence?.cancel()
    this.#silence = undefined
    if (this.#pending?.state.phase !== 'sent' || (!this.#isCutOff() && !this.#isDamaged())) return
    const { clock } = this.#parts
    this.#silence = clock.after(this.#silenceMs, () => {
      // After a stall of the event loop this comes before the bytes that arrived meanwhile: they get their turn.
      this.#silence = clock.after(0, () => {
        if (this.#isCutOff()) this.#framer.idle()
        if (this.#isDamaged()) this.#input({ kind: 'silence', at: clock.now() })
      })
    })
  }

  /** The framer waits for the rest of something that looked like the start of a frame: the reply may be behind it. */
  #isCutOff(): boolean {
    return this.#parts.framing.silenceEndsFrame && this.#framer.held > 0
  }

  /** As many bytes as the reply has came, and none of them are the reply. */
  #isDamaged(): boolean {
    const pending = this.#pending
    if (pending?.state.phase !== 'sent' || pending.state.badFrames === 0) return false
    return pending.expectedLength !== undefined && pending.received >= pending.expectedLength
  }

  #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const awake = () => {
        timer.cancel()
        signal.removeEventListener('abort', awake)
        this.#wake = () => {}
        resolve()
      }
      const timer = this.#parts.clock.after(delayMs, awake)
      signal.addEventListener('abort', awake, { once: true })
      this.#wake = awake
    })
  }
}

function longest(reply: ReplyMatcher<unknown> | null): number | undefined {
  if (!reply) return undefined
  let length = 0
  for (const shape of reply.shapes) {
    if (shape.length === undefined) return undefined
    length = Math.max(length, shape.length)
  }
  return length
}
