/**
 * Device simulators at the far end of one wire, as on a shared bus: every device hears every request byte through
 * its own framing, the addressed one answers, and two answers at once spoil each other.
 */
import type { Timer } from '../clock.ts'
import type { DeviceSimulator, SimulatedReply, SimulatedWorld } from '../driver/device-type.ts'
import { assert } from '../errors.ts'
import type { FrameErrorKind, Framer } from '../port/framing.ts'
import { characterMs } from '../port/request.ts'
import { arrivedAt, type Burst, endOf, SAME_TIME_MS } from './burst.ts'
import { ExecutionLog } from './execution-log.ts'
import type { SimulatedWire } from './wire.ts'

export interface SimulatedDevice {
  readonly id: string
  readonly simulator: (world: SimulatedWorld) => DeviceSimulator
}

export interface AttachOptions {
  /** Default: a log of its own. */
  readonly log?: ExecutionLog
  /** Clock time of the world's beginning; default now. */
  readonly beganAt?: number
  /** A simulator threw; the device stays silent. Without it the error ends the process. */
  readonly onFault?: (device: string, thrown: unknown) => void
}

/** What the far end has seen. */
export interface FarEndCounters {
  readonly bytes: number
  /** By device: the request frames that came whole, whomever they were for. */
  readonly frames: Readonly<Record<string, number>>
  readonly frameErrors: Readonly<Record<string, number>>
}

export interface AttachedSimulators {
  readonly log: ExecutionLog
  counters(): FarEndCounters
  /** Takes the devices off the wire; nothing of them runs on. */
  detach(): void
}

/** Silence that ends a request. Above 19200 baud Modbus, too, takes a fixed time of this size. */
const IDLE_CHARACTERS = 3.5
const IDLE_MS_MIN = 2

export function attachSimulators(
  wire: SimulatedWire,
  devices: readonly SimulatedDevice[],
  options: AttachOptions = {},
): AttachedSimulators {
  const world: WorldParts = {
    wire,
    log: options.log ?? new ExecutionLog(),
    beganAt: options.beganAt ?? wire.clock.now(),
    onFault: options.onFault ?? rethrow,
  }
  const bus = new Bus(
    wire,
    devices.map((device) => new Station(device, world)),
  )
  const disconnect = wire.connect(bus)
  return {
    log: world.log,
    counters: () => bus.counters(),
    detach: () => {
      disconnect()
      bus.stop()
    },
  }
}

function rethrow(_device: string, thrown: unknown): never {
  throw thrown
}

interface WorldParts {
  readonly wire: SimulatedWire
  readonly log: ExecutionLog
  readonly beganAt: number
  readonly onFault: (device: string, thrown: unknown) => void
}

/** All that hear the host on one line. */
class Bus {
  readonly #wire: SimulatedWire
  readonly #stations: readonly Station[]
  #bytes = 0
  #lastByteAt = Number.NEGATIVE_INFINITY
  #silence: Timer | undefined

  constructor(wire: SimulatedWire, stations: readonly Station[]) {
    this.#wire = wire
    this.#stations = stations
  }

  receive(burst: Burst): void {
    this.#silence?.cancel()
    this.#idle(burst.startAt)
    this.#bytes += burst.bytes.length
    this.#lastByteAt = endOf(burst)
    // Byte by byte, so that a frame's end has its true time even where several frames came in one burst.
    for (let index = 0; index < burst.bytes.length; index += 1) {
      const byte = burst.bytes.subarray(index, index + 1)
      const at = arrivedAt(burst, index)
      for (const station of this.#stations) station.receive(byte, at)
    }
    this.#watchSilence()
  }

  counters(): FarEndCounters {
    return {
      bytes: this.#bytes,
      frames: Object.fromEntries(this.#stations.map((station) => [station.id, station.frames])),
      frameErrors: Object.fromEntries(this.#stations.map((station) => [station.id, station.frameErrors])),
    }
  }

  stop(): void {
    this.#silence?.cancel()
    for (const station of this.#stations) station.stop()
  }

  /** Waits for the next silence that ends something; those up to `pastMs` have been told. */
  #watchSilence(pastMs = 0): void {
    const awaited = this.#stations.map((station) => station.silenceMs).filter((ms) => ms > pastMs)
    const silenceMs = Math.min(...awaited)
    if (silenceMs === Number.POSITIVE_INFINITY) return
    const { clock } = this.#wire
    const silentAt = this.#lastByteAt + silenceMs
    this.#silence = clock.after(silentAt - clock.now(), () => {
      const busySince = this.#wire.hostSendingSince
      // A byte that began in time is a continuation, even if it has not been handed over yet.
      if (busySince !== undefined && busySince < silentAt - SAME_TIME_MS) return
      const early = clock.now() < silentAt - SAME_TIME_MS
      if (!early) this.#idle(silentAt)
      this.#watchSilence(early ? pastMs : silenceMs)
    })
  }

  /** Tells those for whom the line has been silent long enough, up to that time. */
  #idle(at: number): void {
    const silentMs = at - this.#lastByteAt + SAME_TIME_MS
    for (const station of this.#stations) if (silentMs >= station.silenceMs) station.idle(at)
  }
}

/** One simulated device. */
class Station {
  readonly id: string
  readonly #world: WorldParts
  readonly #simulator: DeviceSimulator
  readonly #framer: Framer
  readonly #timers = new Set<Timer>()
  #heardAt = 0
  #frames = 0
  #frameErrors = 0
  #stopped = false

  constructor(device: SimulatedDevice, world: WorldParts) {
    this.id = device.id
    this.#world = world
    this.#simulator = device.simulator(this.#worldOf(device.id))
    this.#framer = this.#simulator.framing.create({
      frame: (frame) => this.#request(frame),
      error: (kind) => this.#frameError(kind),
    })
  }

  get frames(): number {
    return this.#frames
  }

  get frameErrors(): number {
    return this.#frameErrors
  }

  /** The silence that ends what it has of a request; infinite where there is nothing, or where silence ends nothing. */
  get silenceMs(): number {
    const { idleMs = 0, silenceEndsFrame } = this.#simulator.framing
    if (this.#framer.held === 0 || !silenceEndsFrame) return Number.POSITIVE_INFINITY
    return Math.max(IDLE_MS_MIN, IDLE_CHARACTERS * characterMs(this.#world.wire.settings), idleMs)
  }

  receive(bytes: Uint8Array, at: number): void {
    this.#heardAt = at
    this.#framer.push(bytes)
  }

  idle(at: number): void {
    this.#heardAt = at
    this.#framer.idle()
  }

  stop(): void {
    this.#stopped = true
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  #frameError(kind: FrameErrorKind): void {
    // On a bus the framer passes over what is not a request: that is no fault of the line.
    if (kind !== 'junk') this.#frameErrors += 1
  }

  #request(frame: Uint8Array): void {
    this.#frames += 1
    const heardAt = this.#heardAt
    const answer = this.#guarded(() => this.#simulator.receive(frame))
    if (answer === undefined) return
    this.#answer('bytes' in answer ? [answer] : answer, heardAt)
  }

  /** Sends the first of the replies when its time has come, then the others. */
  #answer(replies: readonly SimulatedReply[], heardAt: number): void {
    const [reply, ...rest] = replies
    if (!reply) return
    const startAt = heardAt + reply.afterMs
    this.#at(startAt, () => {
      this.#world.wire.send(reply.bytes, { talker: this.id, startAt })
      this.#answer(rest, heardAt)
    })
  }

  /** Calls back at that clock time, inline if it is now. */
  #at(at: number, callback: () => void): void {
    const { clock } = this.#world.wire
    if (this.#stopped) return
    if (at <= clock.now() + SAME_TIME_MS) {
      callback()
      return
    }
    const timer = clock.after(at - clock.now(), () => {
      this.#timers.delete(timer)
      this.#at(at, callback)
    })
    this.#timers.add(timer)
  }

  #worldOf(device: string): SimulatedWorld {
    const { wire, log, beganAt } = this.#world
    const { clock } = wire
    const now = () => clock.now() - beganAt
    return {
      now,
      random: () => clock.random(),
      executed: (command, detail = {}) => log.append({ at: now(), device, command, detail }),
      send: (bytes) => {
        if (!this.#stopped) wire.send(bytes, { talker: device })
      },
      every: (intervalMs, callback) => this.#every(clock.now() + intervalMs, intervalMs, callback),
    }
  }

  #every(at: number, intervalMs: number, callback: () => void): void {
    assert(intervalMs > 0, 'an interval takes time')
    this.#at(at, () => {
      // Beats that a stalled process has missed are left out, and the others stay where they were.
      const lateMs = this.#world.wire.clock.now() - at
      const missed = Math.floor((lateMs + SAME_TIME_MS) / intervalMs)
      this.#every(at + (missed + 1) * intervalMs, intervalMs, callback)
      this.#guarded(callback)
    })
  }

  #guarded<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (thrown) {
      this.#world.onFault(this.id, thrown)
      return undefined
    }
  }
}
