/**
 * The open port in front of a simulated wire, for the serial library: reads, writes and their ends as its binding
 * interface wants them. What ends with our own close is marked `canceled`; any other failure is a disconnection.
 */
import type { Timer } from '../clock.ts'
import type { BindingPortInterface, OpenOptions } from '../port/binding-interface.ts'
import type { LineSettings, Parity } from '../port/request.ts'
import type { ControlLine } from './control-lines.ts'
import { ReceiveBuffer } from './receive-buffer.ts'
import type { SimulatedWire, WireHost } from './wire.ts'

class CanceledError extends Error {
  override readonly name = 'CanceledError'
  readonly canceled = true
}

class DeviceGoneError extends Error {
  override readonly name = 'DeviceGoneError'
  readonly code = 'EIO'
}

interface Settling<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: Error) => void
}

interface PendingRead extends Settling<{ buffer: Buffer; bytesRead: number }> {
  readonly buffer: Buffer
  readonly offset: number
  readonly length: number
}

interface PendingWrite extends Settling<void> {
  readonly bytes: Uint8Array
  readonly ended: Promise<void>
  accepted: number
  wait: Timer | undefined
}

interface PendingDrain extends Settling<void> {
  readonly wait: Timer
}

type ReadResult = { buffer: Buffer; bytesRead: number }
type ControlFlags = Partial<Record<ControlLine | 'cts' | 'dsr', boolean>>

const CONTROL_LINES: readonly ControlLine[] = ['brk', 'dtr', 'rts']

export class SimulatedPort implements BindingPortInterface {
  readonly openOptions: Required<OpenOptions>
  isOpen = true
  readonly #wire: SimulatedWire
  readonly #host: WireHost
  readonly #received: ReceiveBuffer
  readonly #drains = new Set<PendingDrain>()
  #settings: LineSettings
  #gone = false
  #reading: PendingRead | undefined
  #writing: PendingWrite | undefined

  constructor(wire: SimulatedWire, openOptions: Required<OpenOptions>) {
    this.openOptions = openOptions
    this.#wire = wire
    this.#received = new ReceiveBuffer(wire.receiveBufferBytes)
    this.#settings = lineSettings(openOptions)
    this.#host = {
      receive: (bytes) => this.#receive(bytes),
      unplugged: () => {
        this.#gone = true
        this.#abandon(new DeviceGoneError('input/output error: the device is gone'))
      },
    }
    wire.attachHost(this.#host, this.#settings)
  }

  async read(buffer: Buffer, offset: number, length: number): Promise<ReadResult> {
    if (!Buffer.isBuffer(buffer)) throw new TypeError('"buffer" is not a Buffer')
    if (!Number.isInteger(offset) || offset < 0) throw new TypeError('"offset" is not an index')
    if (!Number.isInteger(length) || length < 1) throw new TypeError('"length" is not a length')
    if (buffer.length < offset + length) throw new Error('buffer is too small')
    this.#mustBeUsable()
    if (this.#reading) throw new Error('Overlapping reads are not supported')
    return new Promise((resolve, reject) => {
      this.#reading = { buffer, offset, length, resolve, reject }
      this.#answerRead()
    })
  }

  async write(buffer: Buffer): Promise<void> {
    if (!Buffer.isBuffer(buffer)) throw new TypeError('"buffer" is not a Buffer')
    this.#mustBeUsable()
    if (this.#writing) throw new Error('Overlapping writes are not supported')
    const { promise, resolve, reject } = settling()
    this.#writing = { bytes: buffer, accepted: 0, wait: undefined, ended: promise, resolve, reject }
    this.#feed()
    return promise
  }

  async drain(): Promise<void> {
    this.#mustBeUsable()
    while (this.#writing) await this.#writing.ended
    if (!this.isOpen) throw new CanceledError('the port was closed')
    const { transmitBufferBytes } = this.#wire
    if (this.#wire.transmitRoom === transmitBufferBytes) return
    await new Promise<void>((resolve, reject) => {
      const wait = this.#wire.whenTransmitRoom(transmitBufferBytes, () => {
        this.#drains.delete(drain)
        resolve()
      })
      const drain = { resolve, reject, wait }
      this.#drains.add(drain)
    })
  }

  async flush(): Promise<void> {
    this.#mustBeUsable()
    this.#received.clear()
    this.#wire.discard()
  }

  async update(options: { baudRate: number }): Promise<void> {
    if (typeof options?.baudRate !== 'number') throw new TypeError('"options.baudRate" is not a number')
    this.#mustBeUsable()
    this.#settings = { ...this.#settings, baudRate: options.baudRate }
    this.#wire.setHostSettings(this.#settings)
  }

  async set(options: ControlFlags): Promise<void> {
    if (typeof options !== 'object') throw new TypeError('"options" is not an object')
    this.#mustBeUsable()
    for (const line of CONTROL_LINES) {
      const high = options[line]
      if (high !== undefined) this.#wire.setControl(line, high)
    }
  }

  async get(): Promise<{ cts: boolean; dsr: boolean; dcd: boolean }> {
    this.#mustBeUsable()
    return { ...this.#wire.modem }
  }

  async getBaudRate(): Promise<{ baudRate: number }> {
    this.#mustBeUsable()
    return { baudRate: this.#settings.baudRate }
  }

  async close(): Promise<void> {
    if (!this.isOpen) throw new Error('Port is not open')
    this.isOpen = false
    this.#abandon(new CanceledError('the port was closed'))
    this.#wire.detachHost(this.#host)
  }

  #mustBeUsable(): void {
    if (!this.isOpen) throw new Error('Port is not open')
    if (this.#gone) throw new DeviceGoneError('input/output error: the device is gone')
  }

  #receive(bytes: Uint8Array): number {
    const accepted = this.#received.put(bytes)
    this.#answerRead()
    return accepted
  }

  #answerRead(): void {
    const reading = this.#reading
    if (!reading || this.#received.length === 0) return
    this.#reading = undefined
    const { buffer, offset, length } = reading
    const bytesRead = this.#received.moveTo(buffer.subarray(offset, offset + length))
    reading.resolve({ buffer, bytesRead })
  }

  /** Gives the wire what it has room for; the write ends when that was all of it. */
  #feed(): void {
    const writing = this.#writing
    if (!writing) return
    const { transmitRoom, transmitBufferBytes } = this.#wire
    const accepted = writing.bytes.subarray(writing.accepted, writing.accepted + transmitRoom)
    if (accepted.length > 0) this.#wire.transmit(Uint8Array.from(accepted))
    writing.accepted += accepted.length
    const left = writing.bytes.length - writing.accepted
    if (left === 0) {
      this.#writing = undefined
      writing.resolve()
      return
    }
    // Half a buffer at a time, so that the line never waits for us, and we never for a byte.
    const room = Math.min(left, Math.ceil(transmitBufferBytes / 2))
    writing.wait = this.#wire.whenTransmitRoom(room, () => this.#feed())
  }

  #abandon(error: Error): void {
    const pending = [this.#reading, this.#writing, ...this.#drains]
    this.#writing?.wait?.cancel()
    for (const { wait } of this.#drains) wait.cancel()
    this.#reading = undefined
    this.#writing = undefined
    this.#drains.clear()
    this.#received.clear()
    for (const each of pending) each?.reject(error)
  }
}

function settling(): { promise: Promise<void> } & Settling<void> {
  let resolve: () => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

function lineSettings(options: Required<OpenOptions>): LineSettings {
  const { baudRate, dataBits, stopBits, rtscts, hupcl } = options
  return { baudRate, dataBits, stopBits, rtscts, hupcl, parity: parityOf(options.parity) }
}

function parityOf(text: string): Parity {
  switch (text) {
    case 'none':
    case 'even':
    case 'odd':
    case 'mark':
    case 'space':
      return text
    default:
      throw new TypeError(`"parity" is not a parity: ${text}`)
  }
}
