import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SimulatedWire } from '../../src/simulator/wire.ts'
import { settle, VirtualClock } from '../virtual-clock.ts'
import {
  type Chunk,
  CoarseClock,
  counting,
  LINE_9600,
  LINE_10000,
  openLine,
  Reader,
  Recorder,
  watch,
} from './fixture.ts'

describe('time on the wire', () => {
  test('33 bytes at 9600 8N1 take 34.375 ms to the far end', async () => {
    const { clock, farEnd, port } = await openLine({ settings: LINE_9600 })
    await port.write(counting(33))
    await clock.advance(34.374)
    expect(farEnd.bytes).toEqual([])
    await clock.advance(0.001)
    expect(farEnd.bytes).toEqual([...counting(33)])
    expect(clock.now()).toBe(34.375)
  })

  test('parity and stop bits make a character longer: 11 bytes at 9600 8E2 take 13.75 ms', async () => {
    const settings = { ...LINE_9600, parity: 'even', stopBits: 2 } as const
    const { clock, farEnd, port } = await openLine({ settings })
    await port.write(counting(11))
    await clock.advance(13.749)
    expect(farEnd.bytes).toEqual([])
    await clock.advance(0.001)
    expect(farEnd.bytes).toHaveLength(11)
  })

  test('the far end is told once, and sees when each byte arrived', async () => {
    const { clock, farEnd, port } = await openLine()
    await clock.advance(100)
    await port.write(counting(4))
    await clock.advance(10)
    expect(farEnd.arrivedAt).toEqual([101, 102, 103, 104])
    expect(farEnd.toldAt).toEqual([104, 104, 104, 104])
  })

  test('both directions run at once', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    await port.write(counting(20))
    wire.send(counting(20), { talker: 'device' })
    await clock.advance(20)
    expect(farEnd.arrivedAt.at(-1)).toBe(20)
    expect(reader.chunks).toEqual([{ at: 20, bytes: [...counting(20)] }])
  })

  test('what is sent while the line is busy queues behind it', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    await port.write(Buffer.from([1, 2, 3]))
    await port.write(Buffer.from([4]))
    wire.send(Buffer.from([5, 6]), { talker: 'device' })
    wire.send(Buffer.from([7]), { talker: 'device' })
    await clock.advance(10)
    expect(farEnd.bytes).toEqual([1, 2, 3, 4])
    expect(farEnd.arrivedAt).toEqual([1, 2, 3, 4])
    expect(reader.chunks).toEqual([
      { at: 2, bytes: [5, 6] },
      { at: 3, bytes: [7] },
    ])
  })

  test('a long transmission is handed over while it goes on', async () => {
    const { clock, farEnd, port } = await openLine()
    await port.write(counting(1000))
    await clock.advance(500)
    expect(farEnd.bytes.length).toBeGreaterThan(400)
    expect(farEnd.bytes.length).toBeLessThanOrEqual(500)
    await clock.advance(500)
    expect(farEnd.bytes).toEqual([...counting(1000)])
  })

  test('an idle wire has no timer', async () => {
    const { clock, port, wire } = await openLine({ latencyMs: 16 })
    await port.write(counting(10))
    void port.drain()
    wire.send(counting(10), { talker: 'device' })
    expect(clock.pending).toBeGreaterThan(0)
    await clock.advance(1000)
    expect(clock.pending).toBe(0)
  })
})

describe('buffers', () => {
  test('a write that fits ends at once, a longer one when its last byte is accepted', async () => {
    const { clock, farEnd, port } = await openLine({ transmitBufferBytes: 64 })
    const short = watch(port.write(counting(64)), () => clock.now())
    await settle()
    expect(short).toEqual({ state: 'fulfilled', at: 0 })
    const long = watch(port.write(counting(36)), () => clock.now())
    await clock.advance(35.9)
    expect(long.state).toBe('pending')
    await clock.advance(0.1)
    expect(long).toEqual({ state: 'fulfilled', at: 36 })
    await clock.advance(64)
    expect(farEnd.bytes).toEqual([...counting(64), ...counting(36)])
    expect(farEnd.arrivedAt.at(-1)).toBe(100)
  })

  test('back-pressure leaves no gap on the line', async () => {
    const { clock, farEnd, port } = await openLine({ transmitBufferBytes: 16 })
    void port.write(counting(1000))
    await clock.advance(1000)
    expect(farEnd.bytes).toEqual([...counting(1000)])
    expect(farEnd.arrivedAt.at(-1)).toBe(1000)
  })

  test('drain ends when the last bit of what was written is out', async () => {
    const { clock, port } = await openLine({ transmitBufferBytes: 16 })
    void port.write(counting(40))
    const drain = watch(port.drain(), () => clock.now())
    await clock.advance(39.9)
    expect(drain.state).toBe('pending')
    await clock.advance(0.1)
    expect(drain).toEqual({ state: 'fulfilled', at: 40 })
  })

  test('drain waits for the write in progress, however small the buffer is', async () => {
    const { clock, port } = await openLine({ transmitBufferBytes: 1 })
    void port.write(counting(5))
    const drain = watch(port.drain(), () => clock.now())
    await clock.advance(100)
    expect(drain).toEqual({ state: 'fulfilled', at: 5 })
  })

  test('bytes that nobody reads are kept up to the size of the buffer, and those beyond it are lost', async () => {
    const { clock, port, wire } = await openLine({ receiveBufferBytes: 16 })
    wire.send(counting(20), { talker: 'device' })
    await clock.advance(20)
    const reader = new Reader(port, () => clock.now())
    await settle()
    expect(reader.bytes).toEqual([...counting(16)])
    expect(wire.counters).toMatchObject({ bytesToHost: 16, overrunBytes: 4 })
  })

  test('a buffer that is read in part takes new bytes behind the old ones', async () => {
    const { clock, port, wire } = await openLine({ receiveBufferBytes: 8 })
    wire.send(counting(6), { talker: 'device' })
    await clock.advance(6)
    await port.read(Buffer.alloc(4), 0, 4)
    wire.send(Buffer.from([6, 7, 8, 9, 10, 11, 12]), { talker: 'device' })
    await clock.advance(7)
    const reader = new Reader(port, () => clock.now())
    await settle()
    expect(reader.bytes).toEqual([4, 5, 6, 7, 8, 9, 10, 11])
    expect(wire.counters.overrunBytes).toBe(1)
  })

  test('flush drops what was not begun, and what was received and not read', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    wire.send(counting(3), { talker: 'device' })
    wire.send(counting(20), { talker: 'device' })
    await port.write(counting(40))
    await clock.advance(10.5)
    await port.flush()
    const reader = new Reader(port, () => clock.now())
    await clock.advance(100)
    // The eleventh byte was on its way out.
    expect(farEnd.bytes).toEqual([...counting(11)])
    expect(reader.bytes).toEqual([...counting(20).subarray(7)])
  })

  test('a device that sends faster than the line loses what its own buffer cannot hold', async () => {
    const { wire } = await openLine()
    for (let count = 0; count < 100; count += 1) wire.send(Buffer.alloc(1000), { talker: 'device' })
    expect(wire.counters.farEndOverrunBytes).toBe(35_000)
  })
})

describe('chunks', () => {
  test('the latency timer of an adapter merges what comes within it', async () => {
    const { clock, port, wire } = await openLine({
      latencyMs: 16,
      settings: { ...LINE_9600, baudRate: 115_200 },
    })
    const reader = new Reader(port, () => clock.now())
    for (const value of [1, 2, 3]) {
      wire.send(Buffer.from([value]), { talker: 'device' })
      await clock.advance(4)
    }
    expect(reader.chunks).toEqual([])
    await clock.advance(100)
    expect(reader.bytes).toEqual([1, 2, 3])
    expect(reader.chunks).toHaveLength(1)
    // 10 bits at 115200 after the start, and then 16 ms.
    expect(reader.chunks[0]?.at).toBeCloseTo(16 + 10 / 115.2, 6)
  })

  test('an adapter sends a full packet of 62 bytes without waiting', async () => {
    const { clock, port, wire } = await openLine({
      latencyMs: 16,
      settings: { ...LINE_9600, baudRate: 100_000 },
    })
    const reader = new Reader(port, () => clock.now())
    wire.send(counting(100), { talker: 'device' })
    await clock.advance(100)
    expect(reader.chunks.map(({ bytes }) => bytes.length)).toEqual([62, 38])
    expect(reader.chunks[0]?.at).toBeCloseTo(6.2, 6)
    expect(reader.chunks[1]?.at).toBeCloseTo(6.3 + 16, 6)
  })

  test('a fault splits what belongs together, each part in its time', async () => {
    const { clock, port, wire } = await openLine()
    wire.faults = { chunkBytes: () => 3 }
    const reader = new Reader(port, () => clock.now())
    wire.send(counting(8), { talker: 'device' })
    await clock.advance(8)
    const expected: Chunk[] = [
      { at: 3, bytes: [0, 1, 2] },
      { at: 6, bytes: [3, 4, 5] },
      { at: 8, bytes: [6, 7] },
    ]
    expect(reader.chunks).toEqual(expected)
  })

  test('any chunks and any latency give the same bytes in the same order', async () => {
    const transmissions = fc.array(
      fc.record({ bytes: fc.uint8Array({ minLength: 1, maxLength: 90 }), pauseMs: fc.nat(30) }),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(
        transmissions,
        fc.integer({ min: 0, max: 16 }),
        fc.option(fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1 })),
        fc.integer({ min: 1, max: 40 }),
        async (sent, latencyMs, cuts, readBytesMax) => {
          const { clock, farEnd, port, wire } = await openLine({ latencyMs, transmitBufferBytes: 32 })
          let cut = 0
          if (cuts) wire.faults = { chunkBytes: () => cuts[cut++ % cuts.length] ?? 1 }
          const reader = new Reader(port, () => clock.now(), readBytesMax)
          let writing = Promise.resolve()
          for (const { bytes, pauseMs } of sent) {
            wire.send(bytes, { talker: 'device' })
            writing = writing.then(() => port.write(Buffer.from(bytes)))
            await clock.advance(pauseMs)
          }
          await clock.advance(2000)
          const all = sent.flatMap(({ bytes }) => [...bytes])
          expect(reader.bytes).toEqual(all)
          expect(farEnd.bytes).toEqual(all)
          expect(clock.pending).toBe(0)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('10 MB of noise, half of it each way, arrive whole and in bounded memory', async () => {
    const settings = { ...LINE_9600, baudRate: 3_000_000 }
    const clock = new VirtualClock()
    const wire = new SimulatedWire({ clock, settings })
    const total = 5_000_000
    const block = Buffer.from(clock.randomBytes(4000))
    let toFarEnd = 0
    let toHost = 0
    let wrong = 0
    const check = (bytes: Uint8Array, offset: number) => {
      const start = offset % block.length
      const expected = Buffer.concat([block, block]).subarray(start, start + bytes.length)
      if (!expected.equals(bytes)) wrong += 1
      return bytes.length
    }
    wire.connect({
      receive: (burst) => {
        toFarEnd += check(burst.bytes, toFarEnd)
      },
    })
    const host = {
      receive: (bytes: Uint8Array) => {
        toHost += check(bytes, toHost)
        return bytes.length
      },
      unplugged: () => {},
    }
    wire.attachHost(host, settings)
    const heapBefore = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
    let held = 0
    for (let sent = 0; sent < total; sent += block.length) {
      wire.transmit(Uint8Array.from(block))
      wire.send(block, { talker: 'device' })
      await clock.advance((block.length * 10) / 3000)
      if (sent % 500_000 === 0) {
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        held = Math.max(held, heapUsed + arrayBuffers - heapBefore)
      }
    }
    await clock.advance(100)
    expect({ toFarEnd, toHost, wrong }).toEqual({ toFarEnd: total, toHost: total, wrong: 0 })
    expect(held).toBeLessThan(64 * 1024 * 1024)
    expect(clock.pending).toBe(0)
  }, 60_000)
})

describe('faults', () => {
  test('a pulled plug ends the read and the write, unmarked, and the bytes that were out have arrived', async () => {
    const { clock, farEnd, port, wire } = await openLine({ transmitBufferBytes: 16 })
    const reader = new Reader(port, () => clock.now())
    const write = watch(port.write(counting(40)), () => clock.now())
    const drain = watch(port.drain(), () => clock.now())
    await clock.advance(5.5)
    wire.unplug()
    await settle()
    expect(reader.error).toBeInstanceOf(Error)
    expect(reader.error?.canceled).toBeUndefined()
    expect(write.state).toBe('rejected')
    expect(write.error?.canceled).toBeUndefined()
    expect(drain.state).toBe('rejected')
    await clock.advance(100)
    expect(farEnd.bytes).toEqual([0, 1, 2, 3, 4])
    expect(clock.pending).toBe(0)
  })

  test('after a pulled plug everything fails but the close', async () => {
    const { port, wire } = await openLine()
    wire.unplug()
    wire.replug()
    expect(port.isOpen).toBe(true)
    await expect(port.read(Buffer.alloc(1), 0, 1)).rejects.toMatchObject({ code: 'EIO' })
    await expect(port.write(Buffer.alloc(1))).rejects.toMatchObject({ code: 'EIO' })
    await expect(port.drain()).rejects.toMatchObject({ code: 'EIO' })
    await expect(port.flush()).rejects.toMatchObject({ code: 'EIO' })
    await expect(port.set({ dtr: true })).rejects.toMatchObject({ code: 'EIO' })
    await expect(port.get()).rejects.toMatchObject({ code: 'EIO' })
    await port.close()
    expect(port.isOpen).toBe(false)
  })

  test('a stuck write ends with the close, marked canceled', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    wire.stall('buffer')
    const drain = watch(port.drain(), () => clock.now())
    const write = watch(port.write(counting(8)), () => clock.now())
    await clock.advance(60_000)
    expect([write.state, drain.state]).toEqual(['pending', 'pending'])
    await port.close()
    await settle()
    expect([write.error?.canceled, drain.error?.canceled]).toEqual([true, true])
    wire.resume()
    expect(clock.pending).toBe(0)
    await clock.advance(1000)
    expect(farEnd.bytes).toEqual([])
  })

  test('a line that stands still accepts a buffer full, and goes on where it stopped', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    await port.write(counting(10))
    await clock.advance(4.5)
    wire.stall('line')
    await port.write(Buffer.from([77]))
    const drain = watch(port.drain(), () => clock.now())
    await clock.advance(1000)
    expect(farEnd.bytes).toEqual([0, 1, 2, 3, 4])
    expect(drain.state).toBe('pending')
    wire.resume()
    await clock.advance(6)
    expect(farEnd.bytes).toEqual([...counting(10), 77])
    expect(drain).toEqual({ state: 'fulfilled', at: 1010.5 })
  })

  test('a host with rtscts stops without CTS, one without it does not care', async () => {
    const controlled = await openLine({ port: { rtscts: true } })
    controlled.wire.setModem({ cts: false })
    await controlled.port.write(counting(3))
    await controlled.clock.advance(100)
    expect(controlled.farEnd.bytes).toEqual([])
    controlled.wire.setModem({ cts: true })
    await controlled.clock.advance(3)
    expect(controlled.farEnd.bytes).toEqual([0, 1, 2])

    const careless = await openLine()
    careless.wire.setModem({ cts: false })
    await careless.port.write(counting(3))
    await careless.clock.advance(3)
    expect(careless.farEnd.bytes).toEqual([0, 1, 2])
  })

  test('a slow transmitter takes that many times longer', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    wire.faults = { slowdown: 100 }
    await port.write(counting(3))
    await clock.advance(299)
    expect(farEnd.bytes).toEqual([])
    await clock.advance(1)
    expect(farEnd.arrivedAt).toEqual([100, 200, 300])
  })

  test('bytes are lost and changed as the fault says, the others keep their times', async () => {
    const { clock, farEnd, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    wire.faults = {
      byte: (heading, value) => (value === 1 ? null : heading === 'to_host' && value === 3 ? 0xff : value),
    }
    await port.write(counting(5))
    wire.send(counting(5), { talker: 'device' })
    await clock.advance(10)
    expect(farEnd.bytes).toEqual([0, 2, 3, 4])
    expect(farEnd.arrivedAt).toEqual([1, 3, 4, 5])
    expect(reader.bytes).toEqual([0, 2, 0xff, 4])
  })

  test.each([
    ['another baud rate', { baudRate: 19_200 }],
    ['another parity', { parity: 'even' }],
    ['other data bits', { dataBits: 7 }],
  ] as const)('a port with %s hears and sends nothing but noise', async (_, port) => {
    const line = await openLine({ settings: LINE_9600, port })
    const reader = new Reader(line.port, () => line.clock.now())
    await line.port.write(Buffer.from('STATUS?\r\n'))
    line.wire.send(Buffer.from('OK\r\n'), { talker: 'device' })
    await line.clock.advance(100)
    expect(line.farEnd.bytes).toHaveLength(9)
    expect([...line.farEnd.bytes, ...reader.bytes].every((byte) => byte >= 0x80)).toBe(true)
  })

  test('stop bits and a baud rate that is 2 % off are no obstacle', async () => {
    const line = await openLine({ settings: LINE_9600, port: { stopBits: 2, baudRate: 9800 } })
    await line.port.write(counting(5))
    await line.clock.advance(100)
    expect(line.farEnd.bytes).toEqual([...counting(5)])
  })

  test('a half-duplex adapter repeats what was sent, before any answer', async () => {
    const { clock, port, wire } = await openLine({ echo: true })
    const reader = new Reader(port, () => clock.now())
    wire.connect({ receive: () => wire.send(Buffer.from([9, 9]), { talker: 'device' }) })
    await port.write(counting(4))
    await clock.advance(10)
    expect(reader.chunks).toEqual([
      { at: 4, bytes: [0, 1, 2, 3] },
      { at: 6, bytes: [9, 9] },
    ])
  })

  test('a device that talks while the host does spoils the echo where they meet, and nothing else', async () => {
    const { clock, port, wire } = await openLine({ echo: true })
    const reader = new Reader(port, () => clock.now())
    await port.write(Buffer.from([1, 2, 3, 4]))
    await clock.advance(2)
    wire.send(Buffer.from([11, 12, 13, 14]), { talker: 'device' })
    await clock.advance(10)
    const { bytes } = reader
    expect(bytes).toHaveLength(6)
    expect([...bytes.slice(0, 2), ...bytes.slice(4)]).toEqual([1, 2, 13, 14])
    for (const [index, byte] of bytes.slice(2, 4).entries()) {
      expect([3 + index, 11 + index]).not.toContain(byte)
    }
  })

  test('bytes that come while no port is open are heard by nobody', async () => {
    const { binding, clock, port, wire } = await openLine()
    await port.close()
    wire.send(counting(10), { talker: 'device' })
    await clock.advance(4.5)
    const next = await binding.open({ path: 'line', ...LINE_10000 })
    const reader = new Reader(next, () => clock.now())
    await clock.advance(100)
    expect(reader.bytes).toEqual([4, 5, 6, 7, 8, 9])
  })
})

describe('under the timers of a host', () => {
  test('bytes are never early, late by two of its ticks at most, and lateness does not add up', async () => {
    const fine = new VirtualClock()
    const wire = new SimulatedWire({ clock: new CoarseClock(fine), settings: LINE_9600 })
    const farEnd = new Recorder(() => fine.now())
    wire.connect(farEnd)
    const arrivals: number[] = []
    const host = {
      receive: (bytes: Uint8Array) => {
        arrivals.push(fine.now())
        return bytes.length
      },
      unplugged: () => {},
    }
    wire.attachHost(host, LINE_9600)
    const frames = 120
    for (let count = 0; count < frames; count += 1) {
      wire.transmit(counting(33))
      wire.send(counting(7), { talker: 'device' })
    }
    await fine.advance(frames * 34.375 + 10)
    const lateness = farEnd.arrivedAt.map((at, index) => (farEnd.toldAt[index] ?? 0) - at)
    const perFrame = lateness.filter((_, index) => index % 33 === 32)
    expect(perFrame).toHaveLength(frames)
    expect(Math.min(...perFrame)).toBeGreaterThan(-0.001)
    expect(Math.max(...perFrame)).toBeLessThan(2)
    expect(arrivals).toHaveLength(frames)
    const answersLate = arrivals.map((at, index) => at - (index + 1) * 7 * (10 / 9.6))
    expect(Math.min(...answersLate)).toBeGreaterThan(-0.001)
    expect(Math.max(...answersLate)).toBeLessThan(2)
  })
})
