import { SerialPortStream } from '@serialport/stream'
import { describe, expect, test } from 'vitest'
import { createSimulatedBinding, type SimulatedBinding } from '../../src/simulator/binding.ts'
import { settle, VirtualClock } from '../virtual-clock.ts'
import { counting, LINE_10000, openLine, Reader, watch } from './fixture.ts'

describe('opening', () => {
  test('a path without a wire does not exist', async () => {
    const binding = createSimulatedBinding({ clock: new VirtualClock() })
    await expect(binding.open({ path: 'nowhere', baudRate: 9600 })).rejects.toMatchObject({
      code: 'ENOENT',
      message: 'Error: No such file or directory, cannot open nowhere',
    })
  })

  test('a port that is open cannot be opened again until it is closed', async () => {
    const { binding, port } = await openLine()
    await expect(binding.open({ path: 'line', baudRate: 9600 })).rejects.toMatchObject({
      message: expect.stringContaining('Cannot lock port'),
    })
    await port.close()
    const next = await binding.open({ path: 'line', baudRate: 9600 })
    expect(next.isOpen).toBe(true)
  })

  test('of two opens at the same time one is refused', async () => {
    const { binding, port } = await openLine()
    await port.close()
    const opens = await Promise.allSettled([
      binding.open({ path: 'line', baudRate: 9600 }),
      binding.open({ path: 'line', baudRate: 9600 }),
    ])
    expect(opens.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })

  test.each([
    ['absent', 'ENOENT', 'No such file or directory'],
    ['busy', 'EBUSY', 'Device or resource busy'],
    ['denied', 'EACCES', 'Permission denied'],
    ['locked', 'EAGAIN', 'Cannot lock port'],
  ] as const)('opens fail as %s as often as they are told to', async (fault, code, text) => {
    const { binding, port, wire } = await openLine()
    await port.close()
    wire.failOpens(fault, 2)
    for (const _ of [1, 2]) {
      const open = binding.open({ path: 'line', baudRate: 9600 })
      await expect(open).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
    }
    expect((await binding.open({ path: 'line', baudRate: 9600 })).isOpen).toBe(true)
  })

  test('a pulled adapter is gone until it is plugged in, and then free, whoever still holds the old one', async () => {
    const { binding, clock, farEnd, port: old, wire } = await openLine()
    wire.unplug()
    expect(await binding.list()).toEqual([])
    await expect(binding.open({ path: 'line', ...LINE_10000 })).rejects.toMatchObject({ code: 'ENOENT' })
    wire.replug()
    expect(await binding.list()).toMatchObject([{ path: 'line' }])
    const next = await binding.open({ path: 'line', ...LINE_10000 })
    await old.close()
    await next.write(Buffer.from([1]))
    await clock.advance(1)
    expect(farEnd.bytes).toEqual([1])
    await expect(binding.open({ path: 'line', ...LINE_10000 })).rejects.toMatchObject({ code: 'EAGAIN' })
  })

  test('an open takes the time that it is told to', async () => {
    const { binding, clock, port, wire } = await openLine()
    await port.close()
    wire.openMs = 4000
    const open = watch(binding.open({ path: 'line', baudRate: 9600 }), () => clock.now())
    await clock.advance(3999)
    expect(open.state).toBe('pending')
    await clock.advance(1)
    expect(open).toEqual({ state: 'fulfilled', at: 4000 })
  })

  test('an open without path, speed or known parity is a mistake of the caller', async () => {
    const { binding, port } = await openLine()
    await port.close()
    await expect(binding.open({ path: '', baudRate: 9600 })).rejects.toThrow(TypeError)
    await expect(binding.open({ path: 'line', baudRate: 0 })).rejects.toThrow(TypeError)
    await expect(binding.open({ path: 'line', baudRate: 9600, parity: 'strange' })).rejects.toThrow(TypeError)
  })

  test('wires have nothing to do with each other', async () => {
    const { binding, clock, farEnd, port, wire } = await openLine()
    const other = binding.addWire('other', { settings: LINE_10000 })
    const otherPort = await binding.open({ path: 'other', ...LINE_10000 })
    const otherReader = new Reader(otherPort, () => clock.now())
    wire.unplug()
    other.send(counting(3), { talker: 'device' })
    await clock.advance(10)
    expect(otherReader.bytes).toEqual([0, 1, 2])
    await expect(port.write(Buffer.from([1]))).rejects.toThrow()
    expect(farEnd.bytes).toEqual([])
    binding.removeWire('other')
    await settle()
    expect(otherReader.error?.canceled).toBeUndefined()
    await expect(binding.open({ path: 'other', ...LINE_10000 })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('the host sees another device behind a path after the plug was pulled', async () => {
    const { binding, wire } = await openLine()
    const before = await binding.host.deviceKey('line')
    expect(await binding.host.inspect('line')).toMatchObject({ kind: 'present', deviceKey: before })
    wire.unplug()
    expect(await binding.host.inspect('line')).toEqual({ kind: 'absent' })
    expect(await binding.host.deviceKey('line')).toBeUndefined()
    wire.replug()
    expect(await binding.host.deviceKey('line')).not.toBe(before)
  })
})

describe('an open port', () => {
  test('a read gives at least one byte and at most what was asked for', async () => {
    const { clock, port, wire } = await openLine()
    const buffer = Buffer.alloc(8, 0xee)
    const read = watch(port.read(buffer, 2, 3), () => clock.now())
    await clock.advance(100)
    expect(read.state).toBe('pending')
    wire.send(counting(5), { talker: 'device' })
    await clock.advance(5)
    expect(read.state).toBe('fulfilled')
    expect([...buffer]).toEqual([0xee, 0xee, 0, 1, 2, 0xee, 0xee, 0xee])
    expect(await port.read(buffer, 0, 8)).toMatchObject({ bytesRead: 2 })
    await expect(port.read(buffer, 0, 0)).rejects.toThrow(TypeError)
    await expect(port.read(buffer, 4, 8)).rejects.toThrow('too small')
  })

  test('a close marks the read, the write and the drain that it ends as canceled', async () => {
    const { clock, farEnd, port } = await openLine({ transmitBufferBytes: 16 })
    const reader = new Reader(port, () => clock.now())
    const write = watch(port.write(counting(40)), () => clock.now())
    await clock.advance(1)
    await port.close()
    await settle()
    expect(reader.error?.canceled).toBe(true)
    expect(write.error?.canceled).toBe(true)
    await clock.advance(100)
    // The sixteen bytes that were accepted go out, and nothing of the others.
    expect(farEnd.bytes).toEqual([...counting(16)])
    expect(clock.pending).toBe(0)
  })

  test('a drain without a write is canceled by the close, too', async () => {
    const { clock, port } = await openLine()
    await port.write(counting(10))
    const drain = watch(port.drain(), () => clock.now())
    await clock.advance(1)
    await port.close()
    await settle()
    expect(drain.error?.canceled).toBe(true)
  })

  test('nothing goes through a closed port', async () => {
    const { clock, farEnd, port } = await openLine()
    await port.close()
    await expect(port.write(Buffer.from([1]))).rejects.toThrow('Port is not open')
    await expect(port.read(Buffer.alloc(1), 0, 1)).rejects.toThrow('Port is not open')
    await expect(port.close()).rejects.toThrow('Port is not open')
    await clock.advance(100)
    expect(farEnd.bytes).toEqual([])
  })

  test('two writes at once are refused, as by every binding', async () => {
    const { port } = await openLine({ transmitBufferBytes: 4 })
    void port.write(counting(10))
    await expect(port.write(Buffer.from([1]))).rejects.toThrow('Overlapping')
  })

  test('what is sent, by either end, are the bytes of that moment, whatever becomes of the buffer', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    const buffer = Buffer.from([1, 2, 3])
    wire.send(buffer, { talker: 'device' })
    await port.write(buffer)
    buffer.fill(9)
    await clock.advance(3)
    expect(farEnd.bytes).toEqual([1, 2, 3])
    expect(reader.bytes).toEqual([1, 2, 3])
  })

  test('control lines rise at the open, follow set, and fall at the close unless told otherwise', async () => {
    const { binding, clock, port, wire } = await openLine()
    await clock.advance(10)
    await port.set({ dtr: false, rts: true, brk: false })
    await clock.advance(10)
    await port.set({ dtr: true })
    await port.close()
    expect(wire.controlEdges).toEqual([
      { at: 0, line: 'dtr', high: true },
      { at: 0, line: 'rts', high: true },
      { at: 10, line: 'dtr', high: false },
      { at: 20, line: 'dtr', high: true },
      { at: 20, line: 'dtr', high: false },
      { at: 20, line: 'rts', high: false },
    ])
    const keeping = await binding.open({ path: 'line', baudRate: 9600, hupcl: false })
    const raised = wire.controlEdges.length
    await keeping.close()
    await binding.open({ path: 'line', baudRate: 9600 })
    expect(wire.controlEdges).toHaveLength(raised)
  })

  test('the far end sees the edges, and its own lines are read', async () => {
    const { port, wire } = await openLine()
    const seen: unknown[] = []
    wire.connect({ receive: () => {}, control: ({ line, high }) => seen.push([line, high]) })
    await port.set({ dtr: false })
    expect(seen).toEqual([['dtr', false]])
    wire.setModem({ dsr: false })
    expect(await port.get()).toEqual({ cts: true, dsr: false, dcd: true })
  })

  test('a change of speed counts from the next byte', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    await port.update({ baudRate: 1000 })
    wire.settings = { ...LINE_10000, baudRate: 1000 }
    expect(await port.getBaudRate()).toEqual({ baudRate: 1000 })
    await port.write(counting(2))
    await clock.advance(100)
    expect(farEnd.arrivedAt).toEqual([10, 20])
  })
})

describe('under SerialPortStream', () => {
  function openStream(binding: SimulatedBinding): Promise<SerialPortStream<SimulatedBinding>> {
    return new Promise((resolve, reject) => {
      const stream = new SerialPortStream({ binding, path: 'line', ...LINE_10000 }, (error) =>
        error ? reject(error) : resolve(stream),
      )
    })
  }

  async function streamLine() {
    const line = await openLine()
    await line.port.close()
    const events: string[] = []
    const received: number[] = []
    const stream = await openStream(line.binding)
    stream.on('data', (chunk: Buffer) => received.push(...chunk))
    stream.on('error', (error: Error) => events.push(`error ${error.message}`))
    stream.on('close', (error: (Error & { disconnected?: boolean }) | null) => {
      events.push(error?.disconnected ? 'disconnected' : 'closed')
    })
    return { ...line, stream, events, received }
  }

  test('bytes go both ways in their time', async () => {
    const { clock, farEnd, received, stream, wire } = await streamLine()
    stream.write(counting(10))
    const drained = watch(new Promise<void>((resolve) => stream.drain(() => resolve())), () => clock.now())
    wire.send(counting(5), { talker: 'device' })
    await clock.advance(5)
    expect(received).toEqual([...counting(5)])
    expect(drained.state).toBe('pending')
    await clock.advance(5)
    expect(farEnd.bytes).toEqual([...counting(10)])
    expect(drained).toEqual({ state: 'fulfilled', at: 10 })
  })

  test('a pulled plug closes the stream as disconnected, once', async () => {
    const { clock, events, stream, wire } = await streamLine()
    await clock.advance(10)
    wire.unplug()
    await settle()
    expect(events).toEqual(['disconnected'])
    expect(stream.isOpen).toBe(false)
  })

  test('a pulled plug fails the write in flight', async () => {
    const { clock, farEnd, stream, wire } = await streamLine()
    const written = new Promise<Error | null | undefined>((resolve) => {
      stream.write(counting(5000), (error) => resolve(error))
    })
    await clock.advance(20.5)
    wire.unplug()
    expect(await written).toBeInstanceOf(Error)
    expect(farEnd.bytes).toEqual([...counting(20)])
  })

  test('our own close is no disconnection, and a new stream works', async () => {
    const { binding, clock, events, farEnd, stream } = await streamLine()
    await new Promise<void>((resolve) => stream.close(() => resolve()))
    expect(events).toEqual(['closed'])
    const next = await openStream(binding)
    next.write(Buffer.from([1, 2]))
    await clock.advance(2)
    expect(farEnd.bytes).toEqual([1, 2])
  })

  test('a consumer that pauses makes the port overrun, and loses no byte before that', async () => {
    const line = await openLine({ receiveBufferBytes: 100 })
    await line.port.close()
    const stream = await new Promise<SerialPortStream<SimulatedBinding>>((resolve) => {
      const opened = new SerialPortStream(
        { binding: line.binding, path: 'line', ...LINE_10000, highWaterMark: 256 },
        () => resolve(opened),
      )
    })
    line.wire.send(counting(1000), { talker: 'device' })
    await line.clock.advance(1000)
    const received: number[] = []
    stream.on('data', (chunk: Buffer) => received.push(...chunk))
    await settle()
    expect(line.wire.counters.overrunBytes).toBe(1000 - received.length)
    expect(received.length).toBeGreaterThan(0)
    expect(received).toEqual([...counting(1000).subarray(0, received.length)])
  })
})
