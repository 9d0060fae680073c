/**
 * One physical line, for as long as the gateway lives: it opens, is lost and opens again, and what waits for it is
 * told at once why it cannot run. One port's trouble is nobody else's.
 */
import { type Clock, isoTime, type Timer } from '../clock.ts'
import { GatewayError, messageOf } from '../errors.ts'
import { ABSENT_LOOK_MS, REOPEN_DELAYS_MS, SHORT_LIFE_MS, STALE_LOOK_MS } from '../limits.ts'
import type { Log } from '../log.ts'
import type { BindingInterface } from './binding-interface.ts'
import { Connection } from './connection.ts'
import { type Counters, createCounters } from './counters.ts'
import type { DeviceRegistry } from './device-registry.ts'
import type { Framing } from './framing.ts'
import type { Host, Inspection } from './host.ts'
import { type HoldOptions, Line } from './line.ts'
import { PortMutex } from './mutex.ts'
import { holderText } from './obstacle.ts'
import {
  type FirstRequest,
  type LineHold,
  type LineSettings,
  type PortState,
  QUEUEING_STATES,
} from './request.ts'
import type { PortHolder, PortStatus, TraceEntry } from './status.ts'
import { Trace } from './trace.ts'

/** How often a port that is held or forbidden is looked at; looking opens nothing. */
const OBSTACLE_LOOK_MS = 500

export interface PortParts {
  readonly id: string
  readonly path: string
  readonly settings: LineSettings
  readonly framing: Framing
  readonly binding: BindingInterface
  readonly host: Host
  readonly devices: DeviceRegistry
  readonly clock: Clock
  readonly log: Log
  /** A frame that no request was waiting for; true: it is an event of some device. */
  readonly onUnsolicited: (frame: Uint8Array) => boolean
  /** The state or the list of replies that may still come has changed: what waits may have to be told. */
  readonly onChange: () => void
}

interface Opening {
  readonly connection: Connection
  readonly deviceKey: string
  readonly resolvedPath: string
  readonly openedAt: number
}

export class Port {
  readonly #parts: PortParts
  readonly #mutex = new PortMutex()
  readonly #trace: Trace
  readonly #counters: Counters = createCounters()
  readonly #line: Line
  #state: PortState = 'closed'
  #sinceMs: number
  /** The last state that was worth a line in the log. */
  #told: PortState = 'closed'
  #opening: Opening | undefined
  #holder: PortHolder | null = null
  #lastError: string | null = null
  #failedOpens = 0
  #stopped = true
  #nextLook: Timer | undefined
  #lateEnd: Timer | undefined
  #released: Timer | undefined

  constructor(parts: PortParts) {
    this.#parts = parts
    this.#sinceMs = parts.clock.wall()
    this.#trace = new Trace(parts.clock)
    this.#line = new Line({
      clock: parts.clock,
      framing: parts.framing,
      settings: parts.settings,
      trace: this.#trace,
      counters: this.#counters,
      onUnsolicited: parts.onUnsolicited,
      onLateReplies: () => this.#followLateReplies(),
    })
  }

  get id(): string {
    return this.#parts.id
  }

  get state(): PortState {
    return this.#state
  }

  /** Opens the port, when `after` is over and its device there, and keeps it open. */
  start(after: Promise<void> = Promise.resolve()): void {
    if (!this.#stopped) return
    this.#stopped = false
    // A call that comes before the first look at the path waits for it.
    this.#become('opening', null)
    void after.then(() => this.#open())
  }

  /** Gives the port up for so long; then it is opened again. */
  async release(durationMs: number): Promise<void> {
    this.#released?.cancel()
    await this.stop()
    this.#transition('closed', `released for ${durationMs} ms`)
    this.#released = this.#parts.clock.after(durationMs, () => this.start())
  }

  /** Closes the port for good; a run on the line ends as `port_lost`. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#nextLook?.cancel()
    this.#lateEnd?.cancel()
    this.#released?.cancel()
    await this.#leave('closed', null)
    this.#line.stop()
  }

  get path(): string {
    return this.#parts.path
  }

  /** Takes over the replies that a port to the same device still expected when it was stopped. */
  inherit(before: Port): void {
    this.#line.inherit(before.#line)
  }

  /** Something that was asked of the line may still be answered, whatever state the port is in. */
  get mayBeAnswered(): boolean {
    return this.#line.lateRepliesEndAt() !== undefined
  }

  /** For so long any frame may be the reply to a request of somebody before us. */
  expectAnything(durationMs: number): void {
    this.#line.expectAnything(this.#parts.clock.now() + durationMs)
  }

  /**
   * Runs `work` with the line to itself. Rejects with `device_unavailable` if the port is not open when its turn
   * comes, and with whatever `work` rejects with.
   */
  run<T>(options: HoldOptions, work: (line: LineHold) => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(async () => {
      if (!this.#opening) throw this.refusal() ?? this.#unavailable()
      const hold = this.#line.hold(options)
      try {
        return await work(hold)
      } finally {
        hold.release()
      }
    })
  }

  /** Why a call cannot even wait for this port; undefined: it can. */
  refusal(): GatewayError | undefined {
    return QUEUEING_STATES.has(this.#state) ? undefined : this.#unavailable()
  }

  #unavailable(): GatewayError {
    const { id, path } = this.#parts
    return new GatewayError('device_unavailable', `port ${id} (${path}) is ${this.#state}`, {
      details: { state: this.#state, port: id },
      ...(this.#lastError === null ? {} : { hint: this.#lastError }),
    })
  }

  /** Clock time before which such a request may not go out: 0 for now, infinite while the port opens. */
  notBefore(first: FirstRequest): number {
    if (this.#state === 'opening') return Number.POSITIVE_INFINITY
    return this.#line.blockedUntil(first.shapes)
  }

  status(): PortStatus {
    const { id, path, settings } = this.#parts
    return {
      id,
      path,
      resolvedPath: this.#opening?.resolvedPath ?? null,
      state: this.#state,
      since: isoTime(this.#sinceMs),
      settings,
      counters: { ...this.#counters, frameErrors: { ...this.#counters.frameErrors } },
      holder: this.#holder,
      lastError: this.#lastError,
    }
  }

  trace(last: number): TraceEntry[] {
    return this.#trace.last(last)
  }

  watchTrace(watcher: (entry: TraceEntry) => void): () => void {
    return this.#trace.watch(watcher)
  }

  async #open(): Promise<void> {
    this.#nextLook?.cancel()
    if (this.#stopped) return
    const found = await this.#parts.host.inspect(this.#parts.path)
    if (this.#stopped || this.#opening) return
    const obstacle = this.#obstacle(found)
    if (obstacle) {
      this.#holder = obstacle.holder
      this.#become(obstacle.state, obstacle.reason)
      this.#lookAgain(obstacle.state === 'absent' ? ABSENT_LOOK_MS : OBSTACLE_LOOK_MS)
      return
    }
    if (found.kind === 'present') await this.#openDevice(found.resolvedPath, found.deviceKey)
  }

  #obstacle(found: Inspection): { state: PortState; reason: string; holder: PortHolder | null } | undefined {
    const { id, path, devices } = this.#parts
    switch (found.kind) {
      case 'absent':
        return { state: 'absent', reason: `${path} does not exist`, holder: null }
      case 'denied':
        return { state: 'denied', reason: found.reason, holder: null }
      case 'unfit':
        return { state: 'lost', reason: found.reason, holder: null }
      case 'busy':
        return {
          state: 'busy',
          reason: `${path} is held by ${holderText(found.holder)}`,
          holder: found.holder,
        }
      case 'present': {
        const owner = devices.claim(found.deviceKey, id)
        if (owner === undefined) return undefined
        const reason = `${path} is the same device as port ${owner}: give both devices that port`
        return { state: 'busy', reason, holder: { pid: process.pid, name: `port ${owner}` } }
      }
    }
  }

  async #openDevice(resolvedPath: string, deviceKey: string): Promise<void> {
    const { binding, path, settings, clock, devices, id } = this.#parts
    this.#holder = null
    this.#become('opening', null)
    // What happens between the open and its last microtask must find its opening.
    let lostEarly: string | undefined
    let opening: Opening | undefined
    try {
      const connection = await Connection.open({
        binding,
        path,
        settings,
        clock,
        onData: (chunk) => this.#line.receive(chunk),
        onLost: (reason) => {
          if (opening) this.#lost(opening, reason)
          else lostEarly = reason
        },
      })
      opening = { connection, deviceKey, resolvedPath, openedAt: clock.now() }
    } catch (error) {
      devices.release(deviceKey, id)
      if (!this.#stopped) await this.#openFailed(messageOf(error))
      return
    }
    this.#counters.opens += 1
    this.#opening = opening
    if (this.#stopped) {
      await this.#leave('closed', null)
    } else if (lostEarly !== undefined) {
      this.#lost(opening, lostEarly)
    } else {
      this.#line.attach(opening.connection)
      this.#become('open', null)
      this.#followLateReplies()
      this.#watchPath(opening)
    }
  }

  /** The open itself failed: the library's error is only text, so the reason is looked up once more. */
  async #openFailed(message: string): Promise<void> {
    const found = await this.#parts.host.inspect(this.#parts.path)
    if (this.#stopped) return
    const obstacle = found.kind === 'present' ? undefined : this.#obstacle(found)
    if (obstacle) {
      this.#holder = obstacle.holder
      this.#become(obstacle.state, obstacle.reason)
    } else {
      this.#become('lost', `the open failed: ${message}`)
    }
    this.#backOff()
  }

  #lost(opening: Opening, reason: string): void {
    if (this.#opening !== opening) return
    const { clock } = this.#parts
    this.#counters.losses += 1
    const shortLived = clock.now() - opening.openedAt < SHORT_LIFE_MS
    void this.#leave('lost', reason).then(() => this.#reopen(shortLived))
  }

  async #reopen(shortLived: boolean): Promise<void> {
    if (this.#stopped) return
    const found = shortLived ? await this.#parts.host.inspect(this.#parts.path) : undefined
    if (this.#stopped) return
    if (found && found.kind !== 'absent') {
      this.#backOff()
      return
    }
    this.#failedOpens = 0
    await this.#open()
  }

  /** Ends the opening: first the state, so that whoever is told sees the reason; then the runs; then the descriptor. */
  async #leave(state: PortState, reason: string | null): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    this.#state = this.#transition(state, reason)
    if (opening) this.#parts.devices.release(opening.deviceKey, this.#parts.id)
    this.#line.detach()
    this.#parts.onChange()
    await opening?.connection.close()
  }

  #backOff(): void {
    const { clock } = this.#parts
    const index = Math.min(this.#failedOpens, REOPEN_DELAYS_MS.length - 1)
    const delayMs = REOPEN_DELAYS_MS[index] ?? 0
    this.#failedOpens += 1
    this.#lookAgain(delayMs * (0.75 + clock.random() / 4))
  }

  #lookAgain(delayMs: number): void {
    this.#nextLook?.cancel()
    this.#nextLook = this.#parts.clock.after(delayMs, () => void this.#open())
  }

  /** The only sign of a node that now belongs to another device than the open descriptor. */
  #watchPath(opening: Opening): void {
    const { clock, host, path } = this.#parts
    this.#nextLook = clock.after(STALE_LOOK_MS, () => {
      void host.deviceKey(path).then(async (key) => {
        if (this.#opening !== opening || this.#stopped) return
        if (clock.now() - opening.openedAt >= SHORT_LIFE_MS) this.#failedOpens = 0
        if (key === undefined || key === opening.deviceKey) {
          this.#watchPath(opening)
          return
        }
        await this.#leave('stale', `${path} leads to another device now`)
        await this.#reopen(false)
      })
    })
  }

  #followLateReplies(): void {
    if (!this.#opening || this.#stopped) return
    this.#lateEnd?.cancel()
    const endAt = this.#line.lateRepliesEndAt()
    if (endAt !== undefined && endAt !== Number.POSITIVE_INFINITY) {
      const { clock } = this.#parts
      this.#lateEnd = clock.after(endAt - clock.now(), () => this.#followLateReplies())
    }
    this.#become(endAt === undefined ? 'open' : 'suspect', null)
    this.#parts.onChange()
  }

  #become(state: PortState, reason: string | null): void {
    if (state === this.#state && reason === this.#lastError) return
    this.#state = this.#transition(state, reason)
    this.#parts.onChange()
  }

  /** Each change is logged once; the tries in between are not. */
  #transition(state: PortState, reason: string | null): PortState {
    if (reason !== null || state === 'open') this.#lastError = reason
    if (state === this.#state) return state
    const { clock, log, id, path } = this.#parts
    const fields = { port: id, path, from: this.#state, state, ...(reason === null ? {} : { reason }) }
    this.#sinceMs = clock.wall()
    const passing = state === 'suspect' || state === 'opening'
    if (passing || state === this.#told) {
      log.debug(fields, 'port state')
      return state
    }
    this.#told = state
    if (reason === null) log.info(fields, 'port state')
    else log.warn(fields, 'port state')
    return state
  }
}
