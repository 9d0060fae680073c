/**
 * One opening of a serial port, used once and thrown away: a stream object that has seen an error or a close may
 * look open and never write again, and one that is closed keeps what is written and sends it at the next open.
 * Any end that was not asked for is *lost*, once.
 */
import { SerialPortStream } from '@serialport/stream'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { CLOSE_DEADLINE_MS, OPEN_DEADLINE_MS, WRITE_DEADLINE_MS } from '../limits.ts'
import type { BindingInterface } from './binding-interface.ts'
import type { LineSettings } from './request.ts'

export interface ConnectionOptions {
  readonly binding: BindingInterface
  readonly path: string
  readonly settings: LineSettings
  readonly clock: Clock
  readonly onData: (chunk: Uint8Array) => void
  readonly onLost: (reason: string) => void
}

type Stream = SerialPortStream<BindingInterface>

export class Connection {
  readonly #stream: Stream
  readonly #clock: Clock
  readonly #onLost: (reason: string) => void
  #ended = false
  #writing: Promise<void> = Promise.resolve()
  /** Drains that have not ended: bytes that may not have left. */
  #draining = 0

  private constructor(stream: Stream, options: ConnectionOptions) {
    this.#stream = stream
    this.#clock = options.clock
    this.#onLost = options.onLost
    stream.on('data', (chunk: Buffer) => {
      if (!this.#ended) options.onData(chunk)
    })
    // The error listener stays for ever: an error without one would end the process.
    stream.on('error', (error: Error) => this.#lose(messageOf(error)))
    stream.on('close', (error: Error | null) => this.#lose(error ? messageOf(error) : 'the port closed'))
    // A binding that reads nothing has come to the end: the stream stays open and never reads again.
    stream.on('end', () => this.#lose('the device hung up'))
  }

  /** Rejects with the binding's error, or when the open does not end in time. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { binding, path, settings, clock } = options
    const stream = new SerialPortStream({ binding, path, ...settings, lock: true, autoOpen: false })
    const opened = new Promise<void>((resolve, reject) => {
      stream.open((error) => (error ? reject(error) : resolve()))
    })
    try {
      await withDeadline(clock, opened, OPEN_DEADLINE_MS, 'the open did not end')
    } catch (error) {
      // An open that succeeds after all must not keep the lock.
      void opened.then(
        () => stream.close(() => {}),
        () => {},
      )
      stream.on('error', () => {})
      throw error
    }
    return new Connection(stream, options)
  }

  /** Resolves when the bytes are with the operating system; rejects when the port is lost. */
  write(bytes: Uint8Array): Promise<void> {
    if (!this.#ended && !this.#stream.isOpen) this.#lose('the port closed')
    if (this.#ended) return Promise.reject(new Error('the port is not open'))
    const accepted = new Promise<void>((resolve, reject) => {
      this.#stream.write(Buffer.from(bytes), (error) => (error ? reject(error) : resolve()))
    })
    this.#writing = withDeadline(this.#clock, accepted, WRITE_DEADLINE_MS, 'the write did not end')
    return this.#writing.catch((error: unknown) => {
      this.#lose(messageOf(error))
      throw error
    })
  }

  /** Resolves when everything that was written has left; rejects when the port is lost. It may take for ever. */
  drain(): Promise<void> {
    if (this.#ended) return Promise.reject(new Error('the port is not open'))
    this.#draining += 1
    return new Promise<void>((resolve, reject) => {
      this.#stream.drain((error) => {
        this.#draining -= 1
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /**
   * Drops what has not left, and what has come and is not read yet. A write that the system has not taken over cannot be
   * dropped: it ends first, or its deadline ends the port.
   */
  async flush(): Promise<void> {
    await this.#writing.catch(() => {})
    if (this.#ended) return
    try {
      await this.#flushStream()
    } catch (error) {
      this.#lose(messageOf(error))
    }
  }

  /** Ends the opening; never rejects. */
  async close(): Promise<void> {
    const alreadyLost = this.#ended
    this.#ended = true
    await this.#writing.catch(() => {})
    if (alreadyLost && !this.#stream.isOpen) return
    await this.#closeStream()
  }

  #lose(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#stream.isOpen) void this.#closeStream()
    this.#onLost(reason)
  }

  #flushStream(): Promise<void> {
    const flushed = new Promise<void>((resolve, reject) => {
      this.#stream.flush((error) => (error ? reject(error) : resolve()))
    })
    return withDeadline(this.#clock, flushed, CLOSE_DEADLINE_MS, 'the flush did not end')
  }

  async #closeStream(): Promise<void> {
    // What a close leaves in the kernel is sent when the line is free again, behind our back.
    if (this.#draining > 0) await this.#flushStream().catch(() => {})
    const closed = new Promise<void>((resolve) => this.#stream.close(() => resolve()))
    await withDeadline(this.#clock, closed, CLOSE_DEADLINE_MS, 'the close did not end').catch(() => {})
  }
}

async function withDeadline<T>(
  clock: Clock,
  work: Promise<T>,
  deadlineMs: number,
  message: string,
): Promise<T> {
  let expire: (error: Error) => void = () => {}
  const expired = new Promise<never>((_, reject) => {
    expire = reject
  })
  const timer = clock.after(deadlineMs, () => expire(new Error(message)))
  try {
    return await Promise.race([work, expired])
  } finally {
    timer.cancel()
  }
}
