/**
 * The cure of the host's binding, without a serial port: the library's own binding is replaced by one whose
 * descriptor is a pipe, which says EAGAIN while it is empty and reads nothing once its writers are gone.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SerialPort } from 'serialport'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSystemBinding } from '../../src/port/binding.ts'
import type { BindingInterface, BindingPortInterface } from '../../src/port/binding-interface.ts'

const OPTIONS = { path: '/dev/fake', baudRate: 9600 }
const detected = SerialPort.binding

class FakePoller {
  readonly waiting: ((error: Error | null) => void)[] = []
  stops = 0

  once(_event: 'readable', listener: (error: Error | null) => void): void {
    this.waiting.push(listener)
  }

  tell(error: Error | null): void {
    for (const listener of this.waiting.splice(0)) listener(error)
  }

  /** The library's own ends whoever waits. */
  stop(): void {
    this.stops += 1
    this.tell(Object.assign(new Error('canceled'), { canceled: true }))
  }
}

/** What the library's Linux port is made of. */
class FakeUnixPort {
  fd: number | null
  readonly poller = new FakePoller()
  writeOperation: Promise<void> | null = null
  closes = 0

  constructor(fd: number) {
    this.fd = fd
  }

  get isOpen(): boolean {
    return this.fd !== null
  }

  read(): Promise<never> {
    return Promise.reject(new Error('the own read of the library must not be used'))
  }

  async close(): Promise<void> {
    this.closes += 1
    this.fd = null
  }
}

function detect(port: object): void {
  const binding: BindingInterface = { list: async () => [], open: async () => port as BindingPortInterface }
  Object.assign(SerialPort, { binding })
}

let folder: string
let readEnd: number
let writeEnd: number | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baudway-binding-'))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  readEnd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  writeEnd = openSync(pipe, constants.O_WRONLY)
})

afterEach(() => {
  Object.assign(SerialPort, { binding: detected })
  closeSync(readEnd)
  closeWriteEnd()
  rmSync(folder, { recursive: true })
})

function closeWriteEnd(): void {
  if (writeEnd !== undefined) closeSync(writeEnd)
  writeEnd = undefined
}

function say(text: string): void {
  if (writeEnd === undefined) throw new Error('there is no write end')
  writeSync(writeEnd, text)
}

async function opened() {
  const port = new FakeUnixPort(readEnd)
  detect(port)
  const guarded = await createSystemBinding().open(OPTIONS)
  const buffer = Buffer.alloc(16)
  const read = async () => {
    const { bytesRead } = await guarded.read(buffer, 0, buffer.length)
    return buffer.toString('latin1', 0, bytesRead)
  }
  return { port, guarded, read }
}

/** Until the read waits for the poller. */
async function waiting(port: FakeUnixPort): Promise<void> {
  while (port.poller.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
}

describe('a read of the host binding', () => {
  it('gives what has come, and waits for more as long as there is nothing', async () => {
    const { port, read } = await opened()
    say('one')
    expect(await read()).toBe('one')
    const next = read()
    await waiting(port)
    say('two')
    port.poller.tell(null)
    expect(await next).toBe('two')
  })

  it('takes a read of nothing for a hang-up, where the library would try for ever', async () => {
    const { read } = await opened()
    say('last words')
    closeWriteEnd()
    expect(await read()).toBe('last words')
    await expect(read()).rejects.toMatchObject({ disconnect: true })
  })

  it('notices a hang-up that comes while it waits', async () => {
    const { port, read } = await opened()
    const ended = expect(read()).rejects.toMatchObject({ disconnect: true })
    await waiting(port)
    closeWriteEnd()
    port.poller.tell(null)
    await ended
  })

  it('ends as canceled, and not as a loss, when the port is closed meanwhile', async () => {
    const { port, guarded, read } = await opened()
    const ended = expect(read()).rejects.toMatchObject({ canceled: true })
    await waiting(port)
    await guarded.close()
    port.poller.tell(null)
    await ended
    await expect(read()).rejects.toMatchObject({ canceled: true })
  })

  it('fails with the error of the poller or of the system', async () => {
    const { port, read } = await opened()
    const ended = expect(read()).rejects.toThrow('poll failed')
    await waiting(port)
    port.poller.tell(new Error('poll failed'))
    await ended
    port.fd = 999_999
    await expect(read()).rejects.toMatchObject({ code: 'EBADF' })
  })
})

describe('a close of the host binding', () => {
  it('first cancels the write in flight, and closes the descriptor after its end', async () => {
    const { port, guarded } = await opened()
    let endWrite = () => {}
    port.writeOperation = new Promise<void>((_resolve, reject) => {
      endWrite = () => reject(new Error('canceled'))
    })
    const closed = guarded.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect({ stops: port.poller.stops, closes: port.closes }).toEqual({ stops: 1, closes: 0 })
    endWrite()
    await closed
    expect(port.closes).toBe(1)
  })

  it('is the own one of the library where nothing is being written', async () => {
    const { port, guarded } = await opened()
    await guarded.close()
    expect({ stops: port.poller.stops, closes: port.closes }).toEqual({ stops: 0, closes: 1 })
  })
})

describe('the binding of the host', () => {
  it('lists what the library lists, and fails to open as the library does', async () => {
    detect({})
    expect(await createSystemBinding().list()).toEqual([])
    Object.assign(SerialPort, { binding: { open: () => Promise.reject(new Error('Permission denied')) } })
    await expect(createSystemBinding().open(OPTIONS)).rejects.toThrow('Permission denied')
  })

  it('leaves ports alone that are no Unix ports', async () => {
    const port = { isOpen: true, read: () => {} }
    detect(port)
    const { read } = port
    const opened: unknown = await createSystemBinding().open(OPTIONS)
    expect(opened).toBe(port)
    expect(port.read).toBe(read)
  })
})
