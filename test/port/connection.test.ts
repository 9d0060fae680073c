import { describe, expect, it } from 'vitest'
import type { BindingInterface, BindingPortInterface, OpenOptions } from '../../src/port/binding-interface.ts'
import { Connection } from '../../src/port/connection.ts'
import { settle, VirtualClock } from '../virtual-clock.ts'
import { LINE } from './fixture.ts'

interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: Error): void
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

type Read = { buffer: Buffer; bytesRead: number }

/** The serial library's side of a port, each operation ended by the test. */
class FakePort {
  readonly openOptions = {} as Required<OpenOptions>
  isOpen = true
  readonly written: string[] = []
  closes = 0
  /** Replaced for an operation that the test ends by itself. */
  writing: Promise<void> = Promise.resolve()
  closing: Promise<void> = Promise.resolve()
  #read = deferred<Read>()
  #into: { buffer: Buffer; offset: number } | undefined

  read(buffer: Buffer, offset: number): Promise<Read> {
    this.#read = deferred()
    this.#into = { buffer, offset }
    return this.#read.promise
  }

  receive(hex: string): void {
    const bytes = Buffer.from(hex, 'hex')
    const { buffer, offset } = this.#into ?? { buffer: Buffer.alloc(0), offset: 0 }
    bytes.copy(buffer, offset)
    this.#read.resolve({ buffer, bytesRead: bytes.length })
  }

  failRead(message: string): void {
    this.#read.reject(new Error(message))
  }

  async write(buffer: Buffer): Promise<void> {
    await this.writing
    this.written.push(buffer.toString('hex'))
  }

  async close(): Promise<void> {
    if (!this.isOpen) throw new Error('Port is not open')
    this.closes += 1
    await this.closing
    this.isOpen = false
    this.#read.reject(Object.assign(new Error('canceled'), { canceled: true }))
  }
}

function bench() {
  const clock = new VirtualClock()
  const ports: FakePort[] = []
  const opened = { options: [] as OpenOptions[], by: () => Promise.resolve(new FakePort()) }
  const binding = {
    list: async () => [],
    open: async (options: OpenOptions) => {
      opened.options.push(options)
      const port = await opened.by()
      ports.push(port)
      return port as unknown as BindingPortInterface
    },
  } satisfies BindingInterface
  const data: string[] = []
  const losses: string[] = []
  const open = () =>
    Connection.open({
      binding,
      path: '/dev/bus1',
      settings: LINE,
      clock,
      onData: (chunk) => data.push(Buffer.from(chunk).toString('hex')),
      onLost: (reason) => losses.push(reason),
    })
  const connected = async () => {
    const connection = await open()
    await settle()
    const port = ports.at(-1)
    if (!port) throw new Error('nothing was opened')
    return { connection, port }
  }
  return { clock, ports, opened, data, losses, open, connected }
}

const BYTES = Uint8Array.from([1, 3, 0, 0])
const ENDS = { resolved: 'resolved' } as const
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => ENDS.resolved,
    (error: Error) => error.message,
  )

describe('an opening of a port', () => {
  it('opens with the settings of the line, locked, and hands on what is read and written', async () => {
    const { opened, data, losses, connected } = bench()
    const { connection, port } = await connected()
    expect(opened.options).toEqual([{ path: '/dev/bus1', ...LINE, lock: true }])
    await connection.write(BYTES)
    expect(port.written).toEqual(['01030000'])
    port.receive('0103')
    await settle()
    port.receive('02')
    await settle()
    expect(data).toEqual(['0103', '02'])
    expect(losses).toEqual([])
  })

  it('fails with the error of the binding', async () => {
    const { clock, opened, open } = bench()
    opened.by = () => Promise.reject(new Error('Permission denied'))
    await expect(open()).rejects.toThrow('Permission denied')
    expect(clock.pending).toBe(0)
  })

  it('fails when the open takes longer than 5 s, and closes what then opens after all', async () => {
    const { clock, ports, opened, open, data, losses } = bench()
    const late = deferred<FakePort>()
    opened.by = () => late.promise
    const ended = outcome(open())
    await clock.advance(4_999)
    await clock.advance(1)
    expect(await ended).toBe('the open did not end')
    late.resolve(new FakePort())
    await settle()
    expect(ports[0]).toMatchObject({ closes: 1, isOpen: false })
    expect({ data, losses }).toEqual({ data: [], losses: [] })
  })

  it('is not disturbed by an open that fails after its deadline', async () => {
    const { clock, opened, open, losses } = bench()
    const late = deferred<FakePort>()
    opened.by = () => late.promise
    const ended = outcome(open())
    await clock.advance(5_000)
    late.reject(new Error('Cannot lock port'))
    await settle()
    expect(await ended).toBe('the open did not end')
    expect(losses).toEqual([])
  })
})

describe('the end of an opening', () => {
  it('is a loss, with its reason, when a read fails', async () => {
    const { losses, connected } = bench()
    const { port } = await connected()
    port.failRead('the device is gone')
    await settle()
    expect(losses).toEqual(['the device is gone'])
    expect(port.closes).toBe(1)
  })

  it('is a loss when a write fails, once, whatever comes after it', async () => {
    const { losses, connected, data } = bench()
    const { connection, port } = await connected()
    port.writing = Promise.reject(new Error('input/output error'))
    expect(await outcome(connection.write(BYTES))).toBe('input/output error')
    port.receive('ff')
    port.failRead('gone as well')
    await settle()
    expect(losses).toEqual(['input/output error'])
    expect(data).toEqual([])
  })

  it('is a loss when the binding reads nothing, which is the end of its stream', async () => {
    const { losses, connected } = bench()
    const { port } = await connected()
    port.receive('')
    await settle()
    expect(losses).toEqual(['the device hung up'])
  })

  it('is a loss when a write does not end within 5 s, and closes the port', async () => {
    const { clock, losses, connected } = bench()
    const { connection, port } = await connected()
    port.writing = new Promise(() => {})
    const ended = outcome(connection.write(BYTES))
    await clock.advance(4_999)
    expect(losses).toEqual([])
    await clock.advance(1)
    expect(await ended).toBe('the write did not end')
    expect(losses).toEqual(['the write did not end'])
    expect(port.closes).toBe(1)
  })

  it('keeps nothing for the next opening: a write afterwards is refused and never sent', async () => {
    const { losses, connected } = bench()
    const { connection, port } = await connected()
    port.failRead('the device is gone')
    await settle()
    expect(await outcome(connection.write(BYTES))).toBe('the port is not open')
    expect(port.written).toEqual([])
    expect(losses).toHaveLength(1)
  })

  it('is known at the next write even if the library is still closing the port', async () => {
    const { losses, connected } = bench()
    const { connection, port } = await connected()
    port.closing = new Promise(() => {})
    port.failRead('the device is gone')
    await settle()
    expect(await outcome(connection.write(BYTES))).toBe('the port is not open')
    expect(losses).toHaveLength(1)
    expect(port.written).toEqual([])
  })
})

describe('a close of our own', () => {
  it('is no loss, and nothing is heard after it', async () => {
    const { losses, data, connected, clock } = bench()
    const { connection, port } = await connected()
    await connection.close()
    port.receive('ff')
    await settle()
    expect(port).toMatchObject({ closes: 1, isOpen: false })
    expect({ losses, data }).toEqual({ losses: [], data: [] })
    expect(clock.pending).toBe(0)
  })

  it('waits for the write in flight', async () => {
    const { connected } = bench()
    const { connection, port } = await connected()
    const writing = deferred<void>()
    port.writing = writing.promise
    const written = outcome(connection.write(BYTES))
    const closed = connection.close()
    await settle()
    expect(port.closes).toBe(0)
    writing.resolve()
    await closed
    expect(await written).toBe(ENDS.resolved)
    expect(port.closes).toBe(1)
  })

  it('takes at most the deadlines of a write and of a close', async () => {
    const { clock, connected } = bench()
    const { connection, port } = await connected()
    port.writing = new Promise(() => {})
    port.closing = new Promise(() => {})
    void outcome(connection.write(BYTES))
    let closed = false
    void connection.close().then(() => {
      closed = true
    })
    await clock.advance(5_000 + 2_000 - 1)
    expect(closed).toBe(false)
    await clock.advance(1)
    expect(closed).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('never fails, not even where the port is lost already or its close fails', async () => {
    const { connected, losses } = bench()
    const lost = await connected()
    lost.port.failRead('gone')
    await settle()
    await lost.connection.close()
    await lost.connection.close()
    const stubborn = await connected()
    stubborn.port.closing = Promise.reject(new Error('bad file descriptor'))
    await stubborn.connection.close()
    expect(losses).toEqual(['gone'])
  })
})
