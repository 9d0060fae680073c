/**
 * A simulated UART line between a host port and what is behind it. It is honest: bytes take their time, buffers
 * are finite, and the line may lose, spoil, delay, split and merge bytes, never reorder them within a direction.
 */
import type { Clock, Timer } from '../clock.ts'
import { assert } from '../errors.ts'
import { characterMs, type LineSettings } from '../port/request.ts'
import type { Burst } from './burst.ts'
import { type ControlEdge, type ControlLine, ControlLines } from './control-lines.ts'
import { type Standstill, WireDirection } from './direction.ts'
import { type ByteFate, heard, noise, settingsAgree } from './noise.ts'

/** What a kernel keeps for a terminal, in each direction. */
const BUFFER_BYTES_DEFAULT = 4096
/** A UART's interrupt, or a USB packet of an adapter that sends at once. */
const CHUNK_BYTES = 64
/** The packet of the most common USB adapter, less its two bytes of status. */
const ADAPTER_CHUNK_BYTES = 62
/** What the devices may have waiting for the line; beyond it they lose what they send. */
const FAR_END_QUEUE_BYTES_MAX = 65_536
const ECHO_TALKER = '(echo)'

export interface WireOptions {
  readonly clock: Clock
  /** Of the far end. A host with other settings hears and sends noise. */
  readonly settings: LineSettings
  /** Bytes that the host may have waiting; a write beyond it waits. Default 4096. */
  readonly transmitBufferBytes?: number
  /** Bytes that wait for the host to read them; those beyond are lost. Default 4096. */
  readonly receiveBufferBytes?: number
  /** The latency timer of a USB adapter, 1 to 16 ms: it merges what it receives. 0, the default: none. */
  readonly latencyMs?: number
  /** A half-duplex adapter that repeats what is sent. */
  readonly echo?: boolean
}

export type Heading = 'to_far_end' | 'to_host'

/** May be replaced at any time. */
export interface WireFaults {
  /** What becomes of each byte on its way. */
  readonly byte?: (heading: Heading, ...of: Parameters<ByteFate>) => number | null
  /** The most bytes of the next chunk that the host receives: splits what belongs together. */
  readonly chunkBytes?: () => number
  /** How many times slower the host sends than its settings say. */
  readonly slowdown?: number
}

export type OpenFault = 'absent' | 'busy' | 'denied' | 'locked'

export interface ModemLines {
  readonly cts: boolean
  readonly dsr: boolean
  readonly dcd: boolean
}

/** What is behind the line. */
export interface FarEnd {
  /** Bytes of the host, handed over when the last one has arrived; the burst tells when each one did. */
  receive(burst: Burst): void
  /** The host has changed a control line; a rising DTR resets many boards. */
  control?(edge: ControlEdge): void
}

/** The open port in front of the line. */
export interface WireHost {
  /** Returns how many of the bytes found room. */
  receive(bytes: Uint8Array): number
  unplugged(): void
}

export interface WireCounters {
  /** Bytes that the far end received. */
  readonly bytesToFarEnd: number
  /** Bytes that the host received, those lost to a full buffer not among them. */
  readonly bytesToHost: number
  /** Bytes lost because the host did not read. */
  readonly overrunBytes: number
  /** Bytes that came while no port was open. */
  readonly unheardBytes: number
  /** Bytes of two devices that met on the line. */
  readonly collidedBytes: number
  /** Bytes of devices that sent faster than the line takes them. */
  readonly farEndOverrunBytes: number
}

export class SimulatedWire {
  readonly clock: Clock
  readonly transmitBufferBytes: number
  readonly receiveBufferBytes: number
  faults: WireFaults = {}
  /** How long an open takes. */
  openMs = 0
  readonly #echo: boolean
  readonly #toFarEnd: WireDirection
  readonly #toHost: WireDirection
  readonly #farEnds = new Set<FarEnd>()
  #farSettings: LineSettings
  #hostSettings: LineSettings
  #host: WireHost | undefined
  #plugged = true
  /** Counts the times that the adapter was plugged in: another one each time, for the operating system. */
  #plugs = 1
  #stalled: Standstill | undefined
  #openFaults: OpenFault[] = []
  #modem: ModemLines = { cts: true, dsr: true, dcd: true }
  readonly #control = new ControlLines((edge) => {
    for (const farEnd of this.#farEnds) farEnd.control?.(edge)
  })
  readonly #counts = {
    bytesToFarEnd: 0,
    bytesToHost: 0,
    overrunBytes: 0,
    unheardBytes: 0,
    farEndOverrunBytes: 0,
  }

  constructor(options: WireOptions) {
    const { clock, settings, latencyMs = 0 } = options
    this.clock = clock
    this.transmitBufferBytes = options.transmitBufferBytes ?? BUFFER_BYTES_DEFAULT
    this.receiveBufferBytes = options.receiveBufferBytes ?? BUFFER_BYTES_DEFAULT
    assert(this.transmitBufferBytes > 0 && this.receiveBufferBytes > 0, 'a buffer holds at least one byte')
    this.#echo = options.echo ?? false
    this.#farSettings = settings
    this.#hostSettings = settings
    this.#toFarEnd = new WireDirection({
      clock,
      chunkBytes: () => CHUNK_BYTES,
      latencyMs: 0,
      deliver: (chunk) => this.#deliverToFarEnd(chunk),
    })
    this.#toHost = new WireDirection({
      clock,
      chunkBytes: () => this.faults.chunkBytes?.() ?? (latencyMs > 0 ? ADAPTER_CHUNK_BYTES : CHUNK_BYTES),
      latencyMs,
      deliver: (chunk) => this.#deliverToHost(chunk),
    })
  }

  get counters(): WireCounters {
    return { ...this.#counts, collidedBytes: this.#toHost.collidedBytes }
  }

  // The far end.

  get settings(): LineSettings {
    return this.#farSettings
  }

  set settings(settings: LineSettings) {
    this.#farSettings = settings
  }

  /** Returns what disconnects it. */
  connect(farEnd: FarEnd): () => void {
    this.#farEnds.add(farEnd)
    return () => {
      this.#farEnds.delete(farEnd)
    }
  }

  /** Sends from the far end: behind what that talker has sent, and at once on a line that others use. */
  send(bytes: Uint8Array, from: { readonly talker: string; readonly startAt?: number }): void {
    if (bytes.length === 0) return
    if (this.#toHost.queuedBytes + bytes.length > FAR_END_QUEUE_BYTES_MAX) {
      this.#counts.farEndOverrunBytes += bytes.length
      return
    }
    this.#toHost.send({ ...from, bytes: Uint8Array.from(bytes), characterMs: characterMs(this.#farSettings) })
  }

  /** When the first byte of the host began that has not been handed over yet; undefined: the host is silent. */
  get hostSendingSince(): number | undefined {
    return this.#toFarEnd.busySince
  }

  /** The far end's side of flow control: without CTS a host with `rtscts` does not send. */
  setModem(lines: Partial<ModemLines>): void {
    this.#modem = { ...this.#modem, ...lines }
    this.#followFlow()
  }

  // The host.

  get plugged(): boolean {
    return this.#plugged
  }

  get plugs(): number {
    return this.#plugs
  }

  get occupied(): boolean {
    return this.#host !== undefined
  }

  get modem(): ModemLines {
    return this.#modem
  }

  /** The last changes of the control lines, oldest first. */
  get controlEdges(): readonly ControlEdge[] {
    return this.#control.edges
  }

  /** An open of the port: what came before is gone, and the control lines rise. */
  attachHost(host: WireHost, settings: LineSettings): void {
    assert(this.#plugged && !this.#host, 'a wire has one host, and only while it is plugged in')
    this.#toHost.discardArrived()
    this.#host = host
    this.#hostSettings = settings
    this.#followFlow()
    this.setControl('dtr', true)
    this.setControl('rts', true)
  }

  /** A close of the port. What was accepted is still sent, as a kernel does. */
  detachHost(host: WireHost): void {
    if (this.#host !== host) return
    this.#host = undefined
    this.setControl('brk', false)
    if (this.#hostSettings.hupcl) this.#dropControl()
  }

  setHostSettings(settings: LineSettings): void {
    this.#hostSettings = settings
    this.#followFlow()
  }

  setControl(line: ControlLine, high: boolean): void {
    this.#control.drive(line, high, this.clock.now())
  }

  /** Room in the transmit buffer. */
  get transmitRoom(): number {
    return Math.max(0, this.transmitBufferBytes - this.#toFarEnd.queuedBytes)
  }

  /** Sends from the host; the bytes must find room, and are given away. */
  transmit(bytes: Uint8Array): void {
    assert(bytes.length <= this.transmitRoom, 'more was sent than the transmit buffer takes')
    const slowdown = this.faults.slowdown ?? 1
    this.#toFarEnd.send({ bytes, characterMs: characterMs(this.#hostSettings) * slowdown, talker: 'host' })
  }

  /** Calls back once there is room for so many bytes; for the whole buffer: once all is shifted out. */
  whenTransmitRoom(bytes: number, callback: () => void): Timer {
    return this.#toFarEnd.whenQueuedAtMost(this.transmitBufferBytes - bytes, callback)
  }

  /** What has not begun to be sent is dropped, and what has arrived and is on its way to the port. */
  discard(): void {
    this.#toFarEnd.discardUnsent()
    this.#toHost.discardArrived()
  }

  // Faults.

  /** Pulls the adapter out: a byte that was shifted out has arrived, everything else is gone. */
  unplug(): void {
    if (!this.#plugged) return
    this.#plugged = false
    this.#toFarEnd.cut()
    this.#toHost.discardArrived()
    const host = this.#host
    this.#host = undefined
    this.setControl('brk', false)
    this.#dropControl()
    host?.unplugged()
  }

  replug(): void {
    if (this.#plugged) return
    this.#plugged = true
    this.#plugs += 1
  }

  /** The next opens fail like this. */
  failOpens(fault: OpenFault, times = 1): void {
    for (let count = 0; count < times; count += 1) this.#openFaults.push(fault)
  }

  takeOpenFault(): OpenFault | undefined {
    return this.#openFaults.shift()
  }

  /** The transmitter stands still: with `line` it accepts what its buffer holds, with `buffer` no write ends. */
  stall(standstill: Standstill): void {
    this.#stalled = standstill
    this.#followFlow()
  }

  resume(): void {
    this.#stalled = undefined
    this.#followFlow()
  }

  #followFlow(): void {
    const stopped = this.#hostSettings.rtscts && !this.#modem.cts ? 'line' : undefined
    const standstill = this.#stalled ?? stopped
    if (standstill) this.#toFarEnd.stall(standstill)
    else this.#toFarEnd.resume()
  }

  #dropControl(): void {
    this.setControl('dtr', false)
    this.setControl('rts', false)
  }

  #deliverToFarEnd(chunk: readonly Burst[]): void {
    for (const sent of chunk) {
      if (this.#echo) {
        const { characterMs, startAt } = sent
        const bytes = Uint8Array.from(sent.bytes)
        this.#toHost.send({ bytes, characterMs, startAt, talker: ECHO_TALKER })
      }
      for (const burst of this.#heard('to_far_end', sent)) {
        this.#counts.bytesToFarEnd += burst.bytes.length
        for (const farEnd of this.#farEnds) farEnd.receive(burst)
      }
    }
  }

  #deliverToHost(chunk: readonly Burst[]): void {
    const bytes = Buffer.concat(chunk.flatMap((sent) => this.#heard('to_host', sent).map((b) => b.bytes)))
    if (bytes.length === 0) return
    if (!this.#host) {
      this.#counts.unheardBytes += bytes.length
      return
    }
    const received = this.#host.receive(bytes)
    this.#counts.bytesToHost += received
    this.#counts.overrunBytes += bytes.length - received
  }

  #heard(heading: Heading, sent: Burst): readonly Burst[] {
    const agreed = settingsAgree(this.#hostSettings, this.#farSettings)
    const { byte } = this.faults
    if (agreed && !byte) return [sent]
    const spoilt = agreed
      ? [sent]
      : heard(
          sent,
          noise(() => this.clock.random()),
        )
    return byte ? spoilt.flatMap((burst) => heard(burst, (value, at) => byte(heading, value, at))) : spoilt
  }
}
