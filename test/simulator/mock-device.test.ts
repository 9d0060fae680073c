import { SerialPortStream } from '@serialport/stream'
import { SerialPortMock } from 'serialport'
import { afterEach, describe, expect, test } from 'vitest'
import { pause } from '../../src/clock.ts'
import { type MockDevice, type MockResponder, mockDevice } from '../../src/simulator/mock-device.ts'
import { settle, VirtualClock } from '../virtual-clock.ts'

type MockBinding = typeof SerialPortMock.binding

/** The package as `import` gives it: its ports are not those of `require`. */
const specifier: string = '@serialport/binding-mock'
const imported: { MockBinding: MockBinding } = await import(specifier)

const devices: MockDevice[] = []

function device(path: string, responder: MockResponder): MockDevice {
  const created = mockDevice(path, responder)
  devices.push(created)
  return created
}

afterEach(() => {
  for (const each of devices.splice(0)) each.close()
  SerialPortMock.binding.reset()
  imported.MockBinding.reset()
})

interface Line {
  readonly stream: SerialPortStream<MockBinding>
  readonly chunks: string[]
  readonly ends: string[]
}

function openLine(path: string, binding: MockBinding = SerialPortMock.binding): Promise<Line> {
  return new Promise((resolve, reject) => {
    const chunks: string[] = []
    const ends: string[] = []
    const stream = new SerialPortStream({ binding, path, baudRate: 9600 }, (error) => {
      if (error) reject(error)
      else resolve({ stream, chunks, ends })
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString('latin1')))
    stream.on('error', (error: Error) => ends.push(`error ${error.message}`))
    stream.on('close', (error: (Error & { disconnected?: boolean }) | null) => {
      ends.push(error?.disconnected ? `disconnected: ${error.message}` : 'closed')
    })
  })
}

const close = ({ stream }: Line) => new Promise<void>((resolve) => stream.close(() => resolve()))

async function ask(line: Line, text: string): Promise<string> {
  const before = line.chunks.length
  line.stream.write(text)
  for (let turn = 0; turn < 5; turn += 1) await settle()
  return line.chunks.slice(before).join('')
}

describe('a mock device', () => {
  test('answers each write with bytes or text, several in their order, or nothing', async () => {
    const answers: Record<string, ReturnType<MockResponder>> = {
      text: 'Grüße',
      buffer: Buffer.from([1, 2]),
      array: Uint8Array.of(3, 4),
      numbers: [5, 6],
      several: ['a', [7], Buffer.from('b'), undefined, 'c'],
      nothing: undefined,
      promised: Promise.resolve('later'),
    }
    device('/mock/a', (data) => answers[data.toString()])
    const line = await openLine('/mock/a')
    expect(await ask(line, 'text')).toBe(Buffer.from('Grüße').toString('latin1'))
    expect(await ask(line, 'buffer')).toBe('\x01\x02')
    expect(await ask(line, 'array')).toBe('\x03\x04')
    expect(await ask(line, 'numbers')).toBe('\x05\x06')
    expect(await ask(line, 'several')).toBe('a\x07bc')
    expect(await ask(line, 'nothing')).toBe('')
    expect(await ask(line, 'promised')).toBe('later')
    await close(line)
  })

  test('takes a responder that returns nothing at all', async () => {
    const seen: string[] = []
    const mock = device('/mock/a', (data) => {
      seen.push(data.toString())
    })
    const slow = device('/mock/b', async (data) => {
      seen.push(data.toString())
    })
    const line = await openLine('/mock/a')
    const other = await openLine('/mock/b')
    expect(await ask(line, 'one')).toBe('')
    expect(await ask(other, 'two')).toBe('')
    expect(seen).toEqual(['one', 'two'])
    expect([mock.writes(), slow.writes()]).toEqual([[Buffer.from('one')], [Buffer.from('two')]])
  })

  test('hears of a write after the writer has been told that it ended', async () => {
    const order: string[] = []
    device('/mock/a', () => {
      order.push('heard')
      return 'ok'
    })
    const { stream } = await openLine('/mock/a')
    stream.on('data', () => order.push('answered'))
    stream.write('x', () => order.push('written'))
    for (let turn = 0; turn < 5; turn += 1) await settle()
    expect(order).toEqual(['written', 'heard', 'answered'])
  })

  test('answers in time of the clock that its responder waits on', async () => {
    const clock = new VirtualClock()
    device('/mock/a', async () => {
      await pause(clock, 250)
      return 'done'
    })
    const line = await openLine('/mock/a')
    line.stream.write('go')
    await clock.advance(249)
    expect(line.chunks).toEqual([])
    await clock.advance(1)
    expect(line.chunks).toEqual(['done'])
  })

  test('stays behind its path when the port is closed and opened again', async () => {
    const mock = device('/mock/a', (data) => `re:${data}`)
    for (const text of ['first', 'second', 'third']) {
      const line = await openLine('/mock/a')
      expect(await ask(line, text)).toBe(`re:${text}`)
      await close(line)
    }
    expect(mock.writes().map(String)).toEqual(['first', 'second', 'third'])
  })

  test('is one of several, each on its path', async () => {
    device('/mock/a', () => 'A')
    device('/mock/b', () => 'B')
    SerialPortMock.binding.createPort('/mock/c', { echo: true })
    const lines = await Promise.all(['/mock/a', '/mock/b', '/mock/c'].map((path) => openLine(path)))
    const answers = await Promise.all(lines.map((line) => ask(line, 'who')))
    expect(answers).toEqual(['A', 'B', 'who'])
  })

  test('uses a port that exists, with its options, and one that is open already', async () => {
    SerialPortMock.binding.createPort('/mock/a', { maxReadSize: 2 })
    const line = await openLine('/mock/a')
    device('/mock/a', () => 'abcd')
    await ask(line, 'go')
    expect(line.chunks).toEqual(['ab', 'cd'])
  })

  test('creates the port at once, for whoever lists ports', async () => {
    device('/mock/a', () => 'A')
    await settle()
    expect(await SerialPortMock.binding.list()).toMatchObject([{ path: '/mock/a' }])
  })

  test('creates one port, however closely two opens follow each other', async () => {
    for (let hops = 0; hops < 8; hops += 1) {
      const path = `/mock/${hops}`
      device(path, () => 'A')
      const first = openLine(path)
      for (let hop = 0; hop < hops; hop += 1) await Promise.resolve()
      const opens = await Promise.allSettled([first, openLine(path)])
      expect(opens.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    }
  })

  test('is found by the package of `import` as by that of `require`', async () => {
    expect(imported.MockBinding).not.toBe(SerialPortMock.binding)
    device('/mock/a', () => 'A')
    const line = await openLine('/mock/a', imported.MockBinding)
    expect(await ask(line, 'who')).toBe('A')
  })

  test('survives a reset of the mock, which its users do between tests', async () => {
    device('/mock/a', () => 'A')
    SerialPortMock.binding.reset()
    expect(await ask(await openLine('/mock/a'), 'who')).toBe('A')
  })

  test('gives its place to a second device on the path', async () => {
    device('/mock/a', () => 'old')
    const line = await openLine('/mock/a')
    device('/mock/a', () => 'new')
    expect(await ask(line, 'who')).toBe('new')
  })

  test('sends unasked, and says so where no port is open', async () => {
    const mock = device('/mock/a', () => undefined)
    expect(() => mock.emit('lost')).toThrow('not open')
    const line = await openLine('/mock/a')
    mock.emit('RING\r\n')
    mock.emit([1])
    await settle()
    expect(line.chunks.join('')).toBe('RING\r\n\x01')
  })

  test('that is unplugged ends the pending read as a disconnection, and can be opened again', async () => {
    const mock = device('/mock/a', () => 'A')
    const line = await openLine('/mock/a')
    await ask(line, 'who')
    mock.unplug()
    await settle()
    expect(line.ends).toEqual(['disconnected: mock device /mock/a was unplugged'])
    const next = await openLine('/mock/a')
    expect(await ask(next, 'who')).toBe('A')
  })

  test('that is unplugged fails the next write, too', async () => {
    const mock = device('/mock/a', () => 'A')
    await SerialPortMock.binding.list()
    const port = await SerialPortMock.binding.open({ path: '/mock/a', baudRate: 9600 })
    mock.unplug()
    await expect(port.write(Buffer.from('x'))).rejects.toThrow('unplugged')
    await expect(port.read(Buffer.alloc(1), 0, 1)).rejects.toThrow('unplugged')
    expect(mock.writes()).toEqual([])
  })

  test('gives a late answer to the opening that is there by then, and loses it if there is none', async () => {
    const answers: ((text: string) => void)[] = []
    device('/mock/a', () => new Promise<string>((resolve) => answers.push(resolve)))
    const line = await openLine('/mock/a')
    await ask(line, 'one')
    await ask(line, 'two')
    await close(line)
    answers[0]?.('lost')
    await settle()
    const next = await openLine('/mock/a')
    answers[1]?.('late')
    await settle()
    expect(next.chunks).toEqual(['late'])
  })

  test('that is closed answers no more, and keeps no more than the last 1000 writes', async () => {
    const mock = device('/mock/a', () => 'A')
    await SerialPortMock.binding.list()
    const port = await SerialPortMock.binding.open({ path: '/mock/a', baudRate: 9600 })
    for (let count = 0; count < 1100; count += 1) await port.write(Buffer.from(String(count)))
    await settle()
    expect(mock.writes()).toHaveLength(1000)
    expect(String(mock.writes()[0])).toBe('100')
    expect(port.recording).toHaveLength(0)
    mock.close()
    await port.write(Buffer.from('more'))
    await settle()
    expect(String(mock.writes().at(-1))).toBe('1099')
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no such register')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no such register'))],
    ['gives what cannot be sent', () => 42 as unknown as string],
  ] satisfies [string, MockResponder][])('whose responder %s is an uncaught error', async (_, responder) => {
    const caught = new Promise<Error>((resolve) => {
      const others = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const other of others) process.on('uncaughtException', other)
        resolve(error)
      })
    })
    device('/mock/a', responder)
    const line = await openLine('/mock/a')
    line.stream.write(Buffer.from([0xff, 1]))
    const error = await caught
    expect(error.message).toMatch(
      /^mock device \/mock\/a: the responder failed on ff01: (no such register|.*number)/,
    )
    expect(error.cause).toBeInstanceOf(Error)
  })
})
