/**
 * One device of the configuration: turns a command and its arguments into transactions on the device's port, and
 * what comes back into a value or an honest error. It decides nothing about when.
 */
import { type Clock, isoTime } from '../clock.ts'
import { assert, GatewayError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Port } from '../port/port.ts'
import { ANY_SHAPE, type ReplyMatcher } from '../port/reply.ts'
import type { LineHold, Request } from '../port/request.ts'
import { DeviceState, type StateListener } from './device-state.ts'
import type { DeviceStatus } from './device-status.ts'
import type { DeviceDescription, Exchange, ToolSpec, Verdict } from './device-type.ts'
import { hasShape } from './exchange.ts'
import { PushedState } from './pushed-state.ts'
import { plausible } from './reading-bounds.ts'
import { ownCode, Session } from './session.ts'

/** The part of a configured device that the driver needs. */
export interface DeviceConfiguration {
  readonly id: string
  readonly name: string
  readonly area: string | null
  readonly type: string
  readonly pollMs?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly replyLatencyMaxMs?: number | undefined
  readonly gapMs?: number | undefined
}

export interface DriverParts {
  readonly device: DeviceConfiguration
  readonly description: DeviceDescription
  /** Others may be on the port as well: not everything that is heard there is the device. */
  readonly addressed: boolean
  readonly port: Port
  readonly clock: Clock
  readonly log: Log
  readonly listener?: DeviceListener
}

/** What is told of a device when it happens. */
export interface DeviceListener extends StateListener {
  /** `at`: ISO 8601. */
  readonly onEvent?: (name: string, fields: Readonly<Record<string, unknown>>, at: string) => void
}

export interface CommandRun {
  readonly callId?: string
  readonly signal: AbortSignal
  /** Kept up to date while the run goes on: what is true when it fails. */
  readonly progress: { sent: boolean; wireMs: number }
  /** A stop command: it does not wait for replies that may still come. */
  readonly urgent?: boolean
}

export interface CommandValue {
  readonly value: unknown
  /** Wall-clock milliseconds; of a `read` only: what a command answers is no measurement. */
  readonly measuredAtMs?: number
  readonly unacknowledged?: true
  readonly confirmedBy?: 'read_back'
}

/** A command with its arguments: nothing of it has happened yet. */
export interface PreparedCommand {
  /** Clock time before which it may not start: a late reply could be taken for its own. */
  readonly notBefore: () => number
  /** Rejects with a GatewayError; `run.progress` tells whether a byte had left. */
  readonly run: (run: CommandRun) => Promise<CommandValue>
}

export type CommandArguments = Readonly<Record<string, unknown>>

/** The device's own code failed while it looked at a frame. */
type Failure = { readonly kind: 'failure'; readonly thrown: unknown }
type Match = Verdict<unknown> | Failure

const READINGS_STALE_AFTER_POLLS = 3
const READINGS_STALE_AFTER_DEFAULT_MS = 60_000

export class DeviceDriver {
  readonly #parts: DriverParts
  readonly #state: DeviceState
  readonly #pushed: PushedState

  constructor(parts: DriverParts) {
    this.#parts = parts
    this.#pushed = new PushedState(parts.clock, parts.description.pushed?.silenceMs ?? 0)
    this.#state = new DeviceState(parts.clock, parts.description.readings, parts.listener)
  }

  get id(): string {
    return this.#parts.device.id
  }

  get port(): Port {
    return this.#parts.port
  }

  get description(): DeviceDescription {
    return this.#parts.description
  }

  /** Timeouts in a row without a byte from the device, for the poller's back-off. */
  get misses(): number {
    return this.#state.misses
  }

  /** Why the command would be refused now: its port, or for what answers from pushed state the device's silence. */
  refusal(command: string): GatewayError | undefined {
    return this.#spec(command).get ? this.#pushed.refusal() : this.#parts.port.refusal()
  }

  /** One use of a command. Throws a GatewayError for arguments that the device's own code refuses. */
  prepare(command: string, args: CommandArguments): PreparedCommand {
    const spec = this.#spec(command)
    if (spec.get) return { notBefore: () => 0, run: () => this.#get(spec, args) }
    const exchange = spec.exchange?.(args as never)
    const ownShapes = spec.run ? (spec.shapes ?? [ANY_SHAPE]) : []
    const shapes = exchange?.reply?.shapes ?? ownShapes
    return {
      notBefore: () => this.#parts.port.notBefore({ station: this.id, shapes }),
      run: (run) => this.#run(spec, exchange, args, run),
    }
  }

  /** How late the device may answer, counted from the last byte of whatever it was asked. */
  get replyLatencyMaxMs(): number {
    const latencies = Object.values(this.description.tools).map((spec) => this.#replyLatencyMaxMs(spec))
    return Math.max(0, ...latencies)
  }

  #replyLatencyMaxMs(spec: ToolSpec): number {
    const { device, description } = this.#parts
    const timeoutMs = this.timeoutMs(spec)
    const latencyMs = device.replyLatencyMaxMs ?? description.line.replyLatencyMaxMs ?? 2 * timeoutMs + 1000
    return Math.max(timeoutMs, latencyMs)
  }

  timeoutMs(spec: ToolSpec): number {
    const { device, description } = this.#parts
    return spec.timeoutMs ?? device.timeoutMs ?? description.line.timeoutMs
  }

  status(): DeviceStatus {
    const { device, port } = this.#parts
    const refusal = port.refusal()
    const staleAfterMs =
      device.pollMs === undefined
        ? READINGS_STALE_AFTER_DEFAULT_MS
        : device.pollMs * READINGS_STALE_AFTER_POLLS
    const { id, name, area, type } = device
    const availability = refusal ? 'offline' : this.#state.availability
    const isOffline = availability === 'offline'
    return {
      id,
      name,
      area,
      type,
      port: port.id,
      availability,
      reason: refusal ? refusal.message : this.#state.reason,
      since: refusal ? port.status().since : this.#state.since,
      readings: this.#state.readings(staleAfterMs, isOffline),
    }
  }

  /** Called with every frame that a request did not wait for: true if it is an event of this device. */
  recognises(frame: Uint8Array): boolean {
    const isPushed = this.#takePushed(frame)
    const isEvent = this.#isEvent(frame) || isPushed
    if (isEvent || !this.#parts.addressed) this.#state.heard()
    return isEvent
  }

  /** One transaction of a run. What the device does not answer with a value or a refusal is an error. */
  async #transact<V>(line: LineHold, spec: ToolSpec, exchange: Exchange<V>): Promise<Verdict<V> | null> {
    const { clock, log } = this.#parts
    const askedAt = clock.now()
    let match: Match | null
    try {
      match = await line.transact(this.#request(spec, exchange))
    } catch (error) {
      if (error instanceof GatewayError) this.#unanswered(error, line.bytesHeard > 0, askedAt)
      throw error
    }
    if (match === null) return null
    this.#state.answered()
    if (match.kind !== 'failure') return match as Verdict<V>
    const { thrown } = match
    log.error({ device: this.id, error: messageOf(thrown) }, 'the decoder of a device type failed')
    throw new GatewayError('tool_failed', 'the device type failed while it decoded the reply', {
      cause: thrown,
    })
  }

  async #run(
    spec: ToolSpec,
    exchange: Exchange<unknown> | undefined,
    args: CommandArguments,
    run: CommandRun,
  ): Promise<CommandValue> {
    const { port, clock, description } = this.#parts
    return port.run(run, async (line) => {
      const session = new Session((asked) => this.#transact(line, spec, asked), spec.effect, line, run)
      try {
        const done = exchange
          ? await this.#exchange(spec, exchange, args, session)
          : { value: await ownCode(() => spec.run?.(session, args as never)) }
        if (done.unacknowledged) return done
        this.#publish(spec, done.value)
        const value = plausible(done.value, description.readings)
        return { ...done, value, ...(spec.effect === 'read' ? { measuredAtMs: clock.wall() } : {}) }
      } catch (thrown) {
        throw session.honest(thrown)
      } finally {
        await session.settled()
      }
    })
  }

  async #exchange(
    spec: ToolSpec,
    exchange: Exchange<unknown>,
    args: CommandArguments,
    session: Session,
  ): Promise<CommandValue> {
    const value = await session.exchange(exchange)
    if (exchange.reply && !session.isAcknowledged) return { value: null, unacknowledged: true }
    if (!spec.exchange || !spec.readBack) {
      return exchange.reply ? { value } : { value: null, unacknowledged: true }
    }
    const readBack = await ownCode(() => spec.readBack?.(args as never))
    assert(readBack, 'a tool with a read-back has one for any arguments')
    const shown = await session.exchange(readBack.exchange)
    if (!(await ownCode(() => readBack.confirms(shown as never)))) {
      throw new GatewayError('unconfirmed', 'the device shows the old value after the command', {
        details: { readBack: shown },
      })
    }
    return { value, confirmedBy: 'read_back' }
  }

  /** The command is over: what the type's own code makes of its value cannot undo that. */
  #publish(spec: ToolSpec, value: unknown): void {
    const { description, log } = this.#parts
    try {
      const fields = spec.readings ? spec.readings(value) : value
      const isRecord = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
      if (isRecord) this.#state.measured(plausible(fields as CommandArguments, description.readings))
    } catch (thrown) {
      log.error({ device: this.id, error: messageOf(thrown) }, 'the readings of a device type failed')
    }
  }

  #unanswered(error: GatewayError, isHeard: boolean, askedAt: number): void {
    if (error.code === 'bad_reply') this.#state.garbled(error.message)
    if (error.code !== 'timeout') return
    if (isHeard || this.#state.heardAt >= askedAt) this.#state.garbled(error.message)
    else this.#state.missed(error.message)
  }

  /** What the device said of its own accord becomes its readings; null takes the place of the value before. */
  #takePushed(frame: Uint8Array): boolean {
    const { description, log } = this.#parts
    try {
      const fields = description.pushed?.fields(frame)
      if (!fields) return false
      const sound = plausible(fields, description.readings)
      this.#pushed.take(sound)
      this.#state.answered()
      this.#state.pushed(sound)
      return true
    } catch (thrown) {
      log.error({ device: this.id, error: messageOf(thrown) }, 'a pushed frame of a device type failed')
      return false
    }
  }

  async #get(spec: ToolSpec, args: CommandArguments): Promise<CommandValue> {
    const refusal = this.#pushed.refusal()
    if (refusal) throw refusal
    const value = await ownCode(() => spec.get?.(this.#pushed.fields, args as never))
    return { value: plausible(value, this.#parts.description.readings), measuredAtMs: this.#pushed.atWallMs }
  }

  #isEvent(frame: Uint8Array): boolean {
    const { description, listener, clock } = this.#parts
    if (!description.events) return false
    try {
      for (const { name, match } of description.events) {
        const fields = match(frame)
        if (fields === undefined) continue
        listener?.onEvent?.(name, fields, isoTime(clock.wall()))
        return true
      }
      return false
    } catch (thrown) {
      this.#parts.log.error({ device: this.id, error: messageOf(thrown) }, 'an event pattern failed')
      return false
    }
  }

  #spec(command: string): ToolSpec {
    const spec = this.#parts.description.tools[command]
    if (!spec) throw new GatewayError('internal', `device ${this.id} has no command ${command}`)
    return spec
  }

  #request<V>(spec: ToolSpec, exchange: Exchange<V>): Request<Match> {
    const { device, description } = this.#parts
    const timeoutMs = this.timeoutMs(spec)
    return {
      bytes: exchange.request,
      reply: exchange.reply ? this.#contained(exchange.reply) : null,
      timeoutMs,
      replyLatencyMaxMs: this.#replyLatencyMaxMs(spec),
      gapMs: device.gapMs ?? description.line.gapMs ?? 0,
      station: device.id,
    }
  }

  /**
   * A decoder that throws must not escape into the reader of the port; on a frame that cannot be the reply it has
   * said no. Whatever the matcher takes, even long after its caller was told `timeout`, the device has sent.
   */
  #contained<V>(matcher: ReplyMatcher<Verdict<V>>): ReplyMatcher<Match> {
    return {
      shapes: matcher.shapes,
      match: (frame) => {
        try {
          const verdict = matcher.match(frame)
          if (verdict !== undefined) this.#state.heard()
          return verdict
        } catch (thrown) {
          const couldBeReply = matcher.shapes.some((shape) => hasShape(frame, shape))
          return couldBeReply ? { kind: 'failure', thrown } : undefined
        }
      },
    }
  }
}
