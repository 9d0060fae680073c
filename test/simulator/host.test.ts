import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import type { SimulatedWorld } from '../../src/driver/device-type.ts'
import type { FrameSink, Framing } from '../../src/port/framing.ts'
import { ExecutionLog } from '../../src/simulator/execution-log.ts'
import { attachSimulators, type SimulatedDevice } from '../../src/simulator/host.ts'
import { SimulatedWire } from '../../src/simulator/wire.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { CoarseClock, LINE_9600, LINE_10000, openLine, Reader } from './fixture.ts'

/** Frames of three bytes: address, command, and the two of them added. */
const THREE_BYTES: Framing = {
  key: 'three bytes',
  frameLengthMax: 3,
  silenceEndsFrame: true,
  create: (sink: FrameSink) => {
    let held: number[] = []
    return {
      push: (chunk) => {
        for (const byte of chunk) {
          held.push(byte)
          if (held.length < 3) continue
          const [address = 0, command = 0, sum] = held
          if (((address + command) & 0xff) === sum) {
            sink.frame(Uint8Array.from(held))
            held = []
          } else {
            sink.error('checksum', 1)
            held.shift()
          }
        }
      },
      idle: () => {
        if (held.length > 0) sink.error('junk', held.length)
        held = []
      },
      reset: () => {
        held = []
      },
      get held() {
        return held.length
      },
    }
  },
}

const request = (address: number, command: number) =>
  Buffer.from([address, command, (address + command) & 0xff])

interface StationOptions {
  readonly afterMs?: number
  readonly reply?: readonly number[]
}

/** Answers every request to its address, and logs that it did. */
function station(id: string, address: number, options: StationOptions = {}): SimulatedDevice {
  const { afterMs = 5, reply = [address, 0xaa, 0xbb, 0xcc] } = options
  return {
    id,
    simulator: (world) => ({
      framing: THREE_BYTES,
      receive: (frame) => {
        if (frame[0] !== address) return undefined
        world.executed('run', { command: frame[1], random: world.random() })
        return { bytes: Uint8Array.from(reply), afterMs }
      },
    }),
  }
}

describe('a shared bus', () => {
  test('every device hears the request and the addressed one answers', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    const { counters, log } = attachSimulators(wire, [station('one', 1), station('two', 2)])
    await port.write(request(2, 7))
    await clock.advance(100)
    expect(reader.bytes).toEqual([2, 0xaa, 0xbb, 0xcc])
    expect(counters()).toEqual({
      bytes: 3,
      frames: { one: 1, two: 1 },
      frameErrors: { one: 0, two: 0 },
    })
    expect(log.executions).toMatchObject([{ at: 3, device: 'two', command: 'run', detail: { command: 7 } }])
  })

  test('an answer begins its time after the last byte of the request, and takes the time of its bytes', async () => {
    const { clock, port, wire } = await openLine({ settings: LINE_9600 })
    const reader = new Reader(port, () => clock.now())
    attachSimulators(wire, [station('one', 1, { afterMs: 20 })])
    await port.write(request(1, 1))
    await clock.advance(100)
    expect(reader.chunks).toHaveLength(1)
    expect(reader.chunks[0]?.at).toBeCloseTo((3 * 10) / 9.6 + 20 + (4 * 10) / 9.6, 6)
  })

  test('a request in the middle of a long write is answered from its own last byte on', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    attachSimulators(wire, [station('one', 1, { afterMs: 40 })])
    await port.write(Buffer.concat([request(1, 1), request(9, 1), request(9, 2), request(9, 3)]))
    await clock.advance(100)
    expect(reader.chunks).toEqual([{ at: 3 + 40 + 4, bytes: [1, 0xaa, 0xbb, 0xcc] }])
  })

  test('two answers at once spoil each other, and take no more time than the line has', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    attachSimulators(wire, [station('one', 1), station('other', 1, { reply: [1, 2, 3, 4] })])
    await port.write(request(1, 1))
    await clock.advance(100)
    expect(reader.bytes).toHaveLength(4)
    for (const [index, byte] of reader.bytes.entries()) {
      expect(byte).not.toBe([1, 0xaa, 0xbb, 0xcc][index])
    }
    expect(wire.counters.collidedBytes).toBe(4)
    expect(clock.pending).toBe(0)
  })

  test('where two answers overlap only in part, only that part is spoilt', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    const first = [10, 11, 12, 13]
    const second = [20, 21, 22, 23]
    attachSimulators(wire, [
      station('one', 1, { reply: first, afterMs: 5 }),
      station('other', 1, { reply: second, afterMs: 7 }),
    ])
    await port.write(request(1, 1))
    await clock.advance(100)
    const { bytes } = reader
    expect(bytes).toHaveLength(6)
    expect(bytes.slice(0, 2)).toEqual([10, 11])
    expect(bytes[2]).not.toBe(12)
    expect(bytes[3]).not.toBe(13)
    expect(bytes.slice(4)).toEqual([22, 23])
  })

  test('answers one after the other do not disturb each other', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    attachSimulators(wire, [station('one', 1), station('two', 2, { afterMs: 9 })])
    await port.write(request(1, 1))
    await clock.advance(3)
    await port.write(request(2, 1))
    await clock.advance(100)
    expect(reader.bytes).toEqual([1, 0xaa, 0xbb, 0xcc, 2, 0xaa, 0xbb, 0xcc])
    expect(wire.counters.collidedBytes).toBe(0)
  })
})

describe('a device', () => {
  const device = (simulator: SimulatedDevice['simulator']): SimulatedDevice => ({ id: 'device', simulator })
  const silent = (_world: SimulatedWorld) => ({ framing: THREE_BYTES, receive: () => undefined })

  test('several replies are sent one after the other', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    attachSimulators(wire, [
      device(() => ({
        framing: THREE_BYTES,
        receive: () => [
          { bytes: Uint8Array.of(1, 1), afterMs: 10 },
          { bytes: Uint8Array.of(2, 2), afterMs: 2 },
          { bytes: Uint8Array.of(3), afterMs: 50 },
        ],
      })),
    ])
    await port.write(request(1, 1))
    await clock.advance(100)
    expect(reader.chunks).toEqual([
      { at: 15, bytes: [1, 1] },
      { at: 17, bytes: [2, 2] },
      { at: 54, bytes: [3] },
    ])
  })

  test('speaks of its own accord, while an answer is still to come', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    await clock.advance(500)
    const { detach } = attachSimulators(wire, [
      device((world) => {
        world.every(1000, () => world.send(Uint8Array.of(world.now() / 1000)))
        return { framing: THREE_BYTES, receive: () => ({ bytes: Uint8Array.of(99), afterMs: 1500 }) }
      }),
    ])
    await port.write(request(1, 1))
    await clock.advance(2100)
    expect(reader.chunks).toEqual([
      { at: 1501, bytes: [1] },
      { at: 2004, bytes: [99] },
      { at: 2501, bytes: [2] },
    ])
    detach()
    expect(clock.pending).toBe(0)
  })

  test('gives up a partial request after a silence of 3.5 characters, and not before', async () => {
    const line = await openLine()
    const { counters } = attachSimulators(line.wire, [device(silent)])
    const [address = 0, ...rest] = request(1, 1)
    await line.port.write(Buffer.from([address]))
    await line.clock.advance(1 + 3.4)
    await line.port.write(Buffer.from(rest))
    await line.clock.advance(100)
    expect(counters().frames).toEqual({ device: 1 })
    await line.port.write(Buffer.from([address]))
    await line.clock.advance(1 + 3.6)
    await line.port.write(Buffer.from(rest))
    await line.clock.advance(100)
    expect(counters().frames).toEqual({ device: 1 })
    expect(line.clock.pending).toBe(0)
  })

  test('at high speed the silence is 2 ms', async () => {
    const line = await openLine({ settings: { ...LINE_9600, baudRate: 1_000_000 } })
    const { counters } = attachSimulators(line.wire, [device(silent)])
    const [address = 0, ...rest] = request(1, 1)
    await line.port.write(Buffer.from([address]))
    await line.clock.advance(1.9)
    await line.port.write(Buffer.from(rest))
    await line.clock.advance(100)
    expect(counters().frames).toEqual({ device: 1 })
  })

  test('a continuation that is still on the line when the silence would be over is one', async () => {
    const line = await openLine()
    const { counters } = attachSimulators(line.wire, [device(silent)])
    await line.port.write(Buffer.from([1, 1]))
    await line.clock.advance(4)
    // Its three bytes take until 7 ms; the silence would have been over at 5.5 ms.
    await line.port.write(Buffer.from([2, 9, 9]))
    await line.clock.advance(100)
    expect(counters().frames).toEqual({ device: 1 })
  })

  test('whose framing asks for a longer silence, or for none, gets it', async () => {
    const line = await openLine()
    const withFraming = (id: string, framing: Partial<Framing>): SimulatedDevice => ({
      id,
      simulator: () => ({ framing: { ...THREE_BYTES, ...framing }, receive: () => undefined }),
    })
    const { counters } = attachSimulators(line.wire, [
      withFraming('usual', {}),
      withFraming('patient', { idleMs: 20 }),
      withFraming('text', { silenceEndsFrame: false }),
    ])
    const send = async (afterMs: number) => {
      await line.port.write(Buffer.from([1]))
      await line.clock.advance(1 + afterMs)
      await line.port.write(Buffer.from([1, 2]))
      await line.clock.advance(200)
      await line.port.write(Buffer.from([0, 0, 0]))
      await line.clock.advance(200)
      return counters().frames
    }
    // What was given up is no frame; the three zeros always are one.
    expect(await send(10)).toEqual({ usual: 1, patient: 2, text: 2 })
    expect(await send(30)).toEqual({ usual: 2, patient: 3, text: 4 })
    expect(line.clock.pending).toBe(0)
  })

  test('that fails stays silent, and its failure is told', async () => {
    const { clock, port, wire } = await openLine()
    const faults: unknown[] = []
    const broken = device(() => ({
      framing: THREE_BYTES,
      receive: () => {
        throw new Error('out of order')
      },
    }))
    attachSimulators(wire, [broken, station('one', 1)], {
      onFault: (id, thrown) => faults.push([id, (thrown as Error).message]),
    })
    const reader = new Reader(port, () => clock.now())
    await port.write(request(1, 1))
    await clock.advance(100)
    expect(faults).toEqual([['device', 'out of order']])
    expect(reader.bytes).toEqual([1, 0xaa, 0xbb, 0xcc])
  })

  test('that is detached answers no more', async () => {
    const { clock, port, wire } = await openLine()
    const reader = new Reader(port, () => clock.now())
    const { detach, log } = attachSimulators(wire, [station('one', 1, { afterMs: 50 })])
    await port.write(request(1, 1))
    await clock.advance(20)
    detach()
    await port.write(request(1, 2))
    await clock.advance(200)
    expect(reader.bytes).toEqual([])
    expect(log.executions).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('keeps its beat when the process has stood still, and leaves out what it missed', async () => {
    const fine = new VirtualClock()
    const beats: number[] = []
    let lateMs = 0
    const clock: Clock = {
      now: () => fine.now() + lateMs,
      wall: () => fine.wall(),
      after: (delayMs, callback) => fine.after(delayMs, callback),
      random: () => fine.random(),
      randomBytes: (length) => fine.randomBytes(length),
    }
    const { detach } = attachSimulators(new SimulatedWire({ clock, settings: LINE_10000 }), [
      device((world) => {
        world.every(100, () => beats.push(world.now()))
        return silent(world)
      }),
    ])
    await fine.advance(150)
    lateMs = 1000
    await fine.advance(250)
    expect(beats).toEqual([100, 1200, 1300, 1400])
    detach()
  })
})

describe('under the timers of a host', () => {
  test('answers are never early, and no later than the bytes of one transmission would be', async () => {
    const fine = new VirtualClock()
    const wire = new SimulatedWire({ clock: new CoarseClock(fine), settings: LINE_9600 })
    attachSimulators(wire, [station('one', 1, { afterMs: 20 })])
    const lateMs: number[] = []
    let sentAt = 0
    const host = {
      receive: (bytes: Uint8Array) => {
        lateMs.push(fine.now() - (sentAt + (3 * 10) / 9.6 + 20 + (4 * 10) / 9.6))
        return bytes.length
      },
      unplugged: () => {},
    }
    wire.attachHost(host, LINE_9600)
    for (let count = 0; count < 200; count += 1) {
      sentAt = fine.now()
      wire.transmit(request(1, 1))
      await fine.advance(50 + fine.random())
    }
    expect(lateMs).toHaveLength(200)
    expect(Math.min(...lateMs)).toBeGreaterThan(-0.001)
    expect(Math.max(...lateMs)).toBeLessThan(2)
  })
})

describe('the execution log', () => {
  test('is the same for the same seed', async () => {
    const run = async (seed: number) => {
      const { clock, port, wire } = await openLine({ seed })
      wire.faults = { byte: (_, value) => (clock.random() < 0.02 ? null : value) }
      const reader = new Reader(port, () => clock.now())
      const { log } = attachSimulators(wire, [station('one', 1), station('two', 2), station('twin', 2)])
      for (let command = 0; command < 100; command += 1) {
        await port.write(request(1 + (command % 2), command))
        await clock.advance(clock.random() * 20)
      }
      await clock.advance(1000)
      return { executions: log.executions, chunks: reader.chunks }
    }
    const first = await run(7)
    expect(first.executions.length).toBeGreaterThan(50)
    expect(await run(7)).toEqual(first)
    expect((await run(8)).executions).not.toEqual(first.executions)
  })

  test('keeps the last entries and counts the others', () => {
    const log = new ExecutionLog({ executionsMax: 10 })
    for (let at = 0; at < 105; at += 1)
      log.append({ at, device: at % 2 ? 'odd' : 'even', command: 'run', detail: {} })
    const kept = log.executions.map(({ at }) => at)
    expect(kept.length).toBeGreaterThanOrEqual(10)
    expect(kept.length).toBeLessThan(20)
    expect(kept.at(-1)).toBe(104)
    expect(kept.length + log.forgotten).toBe(105)
    expect(log.of('odd').every(({ at }) => at % 2 === 1)).toBe(true)
  })
})
