/**
 * The bytes of one line: frames in, one transaction at a time out. It outlives the single opening, because a
 * reply that is late may come after a reopen too. Who may send when is decided above; that what arrives goes to
 * its own request, or to nobody, is decided here.
 */
import type { Clock, Timer } from '../clock.ts'
import { assert, GatewayError } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Counters } from './counters.ts'
import { Departure } from './departure.ts'
import type { FrameErrorKind, Framer, Framing } from './framing.ts'
import { LateReplies } from './late-replies.ts'
import { longestReply, type Pace, paceOf, silenceBefore } from './pace.ts'
import type { Pending } from './pending.ts'
import { ANY_SHAPE, type ReplyShape } from './reply.ts'
import type { LineHold, LineSettings, Request } from './request.ts'
import { StallWatch } from './stall-watch.ts'
import type { Trace } from './trace.ts'
import { step, type TransactionEnd, type TransactionInput, unsent } from './transaction.ts'
import { goneBeforeSent, neverSilent, replyOf } from './transaction-error.ts'

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
  readonly #pace: Pace
  readonly #framer: Framer
  readonly #late = new LateReplies()
  #opening: Opening | undefined
  #pending: Pending | undefined
  /** Of the last request. */
  #departure: Departure | undefined
  #lastReceivedAt = Number.NEGATIVE_INFINITY
  #lastSentAt = Number.NEGATIVE_INFINITY
  #bytesHeard = 0
  #silence: Timer | undefined
  readonly #stalls: StallWatch
  /** Wakes the run that waits for its turn on the line: the mutex lets there be one at most. */
  #wake: () => void = () => {}

  constructor(parts: LineParts) {
    this.#parts = parts
    this.#pace = paceOf(parts.settings, parts.framing)
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
    this.#departure?.end()
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
    if (this.#isDeparting()) return Number.POSITIVE_INFINITY
    return this.#late.blockedUntil(shapes, this.#parts.clock.now())
  }

  /** A request that nobody waits for any more may still be on its way out. */
  #isDeparting(): boolean {
    return this.#pending === undefined && this.#departure?.isOver === false
  }

  /** Expects what another line to the same device still expected. */
  inherit(other: Line): void {
    this.#late.inherit(other.#late)
    this.#stalls.start()
  }

  /** Until then any frame may be a reply that nobody waits for. */
  expectAnything(until: number): void {
    this.#late.add({ shapes: [ANY_SHAPE], match: () => undefined }, until)
  }

  /** When the list of replies that may still come shrinks by itself; undefined: it is empty; infinite: nobody knows. */
  lateRepliesEndAt(): number | undefined {
    this.#stalls.unreadUntil()
    if (this.#isDeparting()) return Number.POSITIVE_INFINITY
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
    const silenceMs = urgent ? 0 : silenceBefore(shapes)
    const gapMs = Math.max(request.gapMs, this.#pace.gapMsMin, silenceMs)
    const gapEndsAt = clock.now() + Math.max(GAP_WAIT_MAX_MS, gapMs)
    for (;;) {
      if (signal.aborted) throw new GatewayError('stopped', 'stopped before the request was sent')
      if (!opening || opening.ended || opening !== this.#opening) {
        throw goneBeforeSent()
      }
      const now = clock.now()
      const readOutUntil = this.#stalls.unreadUntil()
      const lateUntil = Math.max(this.blockedUntil(shapes), readOutUntil)
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
    if (this.#framer.held > 0 && quietMs >= Math.max(request.gapMs, this.#pace.silenceMs)) this.#framer.idle()
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
    assert(!this.#pending, 'two transactions on one line')
    // The turn was given a microtask ago, and the port may have gone since.
    if (!opening) return Promise.reject(goneBeforeSent())
    counters.transactions += 1
    return new Promise((resolve) => {
      const startAt = clock.now()
      const lastByteAt = startAt + request.bytes.length * this.#pace.characterMs
      const timers: Timer[] = []
      const stop = () => {
        const patience = Math.max(0, lastByteAt - clock.now()) + STOP_PATIENCE_MS
        timers.push(clock.after(patience, () => this.#input({ kind: 'stop', at: clock.now() })))
      }
      this.#pending = {
        reply: request.reply,
        expectedLength: longestReply(request.reply),
        state: unsent(),
        received: 0,
        foreign: 0,
        finish: (end) => {
          for (const timer of timers) timer.cancel()
          signal.removeEventListener('abort', stop)
          this.#settle(request, end, departure.outAt)
          if (end.kind === 'reply') departure.end()
          else departure.settle()
          resolve(end)
        },
      }
      const departure = this.#depart(opening.connection, request, lastByteAt)
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

  /** A device that hears its request late answers late: what may come of it is expected for longer. */
  #depart(connection: Connection, request: Request<unknown>, lastByteAt: number): Departure {
    const departure = new Departure(connection, lastByteAt, {
      clock: this.#parts.clock,
      onOver: ({ outAt }) => {
        if (outAt > lastByteAt) this.#late.holdUntil(outAt + request.replyLatencyMaxMs)
        this.#parts.onLateReplies()
        this.#wake()
      },
    })
    this.#departure = departure
    return departure
  }

  /** A request that ended without its reply leaves an entry on the list. */
  #settle(request: Request<unknown>, end: TransactionEnd<unknown>, outAt: number): void {
    this.#silence?.cancel()
    if (end.kind !== 'failed' || !end.sent) return
    if (end.code === 'timeout') this.#parts.counters.timeouts += 1
    this.#expectLate(request, outAt)
  }

  #expectLate({ reply, replyLatencyMaxMs }: Request<unknown>, outAt: number): void {
    if (!reply) return
    this.#late.add(reply, Math.max(outAt + replyLatencyMaxMs, this.#stalls.unreadUntil()))
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
    this.#silence = clock.after(this.#pace.silenceMs, () => {
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
