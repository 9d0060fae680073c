/** Both ends of a simulated wire, as the tests of the simulator hold them. */
import type { Clock, Timer } from '../../src/clock.ts'
import type { LineSettings } from '../../src/port/request.ts'
import { createSimulatedBinding, type SimulatedBinding } from '../../src/simulator/binding.ts'
import { arrivedAt, type Burst } from '../../src/simulator/burst.ts'
import type { SimulatedPort } from '../../src/simulator/port.ts'
import type { FarEnd, SimulatedWire, WireOptions } from '../../src/simulator/wire.ts'
import { VirtualClock } from '../virtual-clock.ts'

/** One character is 10 bits: 1.0416… ms. */
export const LINE_9600: LineSettings = {
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: 'none',
  rtscts: false,
  hupcl: true,
}

/** One character is 1 ms, so that times can be counted. */
export const LINE_10000: LineSettings = { ...LINE_9600, baudRate: 10_000 }

/** Remembers what came, when each byte arrived, and when the far end was told. */
export class Recorder implements FarEnd {
  readonly bytes: number[] = []
  readonly arrivedAt: number[] = []
  readonly toldAt: number[] = []
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  receive(burst: Burst): void {
    for (const [index, byte] of burst.bytes.entries()) {
      this.bytes.push(byte)
      this.arrivedAt.push(arrivedAt(burst, index))
      this.toldAt.push(this.#now())
    }
  }
}

export interface Chunk {
  readonly at: number
  readonly bytes: number[]
}

/** Reads a port until it fails, as the stream above it does. */
export class Reader {
  readonly chunks: Chunk[] = []
  error: (Error & { canceled?: boolean; code?: string }) | undefined

  constructor(port: SimulatedPort, now: () => number, readBytesMax = 65_536) {
    void this.#read(port, now, Buffer.alloc(readBytesMax))
  }

  get bytes(): number[] {
    return this.chunks.flatMap((chunk) => chunk.bytes)
  }

  async #read(port: SimulatedPort, now: () => number, buffer: Buffer): Promise<void> {
    for (;;) {
      try {
        const { bytesRead } = await port.read(buffer, 0, buffer.length)
        this.chunks.push({ at: now(), bytes: [...buffer.subarray(0, bytesRead)] })
      } catch (error) {
        this.error = error as Error
        return
      }
    }
  }
}

export interface OpenLine {
  readonly clock: VirtualClock
  readonly binding: SimulatedBinding
  readonly wire: SimulatedWire
  readonly farEnd: Recorder
  readonly port: SimulatedPort
}

export async function openLine(
  options: Partial<Omit<WireOptions, 'clock'>> & { seed?: number; port?: Partial<LineSettings> } = {},
): Promise<OpenLine> {
  const { seed = 1, port: portSettings, ...wireOptions } = options
  const clock = new VirtualClock({ seed })
  const settings = wireOptions.settings ?? LINE_10000
  const binding = createSimulatedBinding({ clock })
  const wire = binding.addWire('line', { ...wireOptions, settings })
  const farEnd = new Recorder(() => clock.now())
  wire.connect(farEnd)
  const port = await binding.open({ path: 'line', ...settings, ...portSettings })
  return { clock, binding, wire, farEnd, port }
}

export interface Settled {
  state: 'pending' | 'fulfilled' | 'rejected'
  at: number
  error?: Error & { canceled?: boolean; code?: string }
}

/** Watches a promise without waiting for it. */
export function watch(promise: Promise<unknown>, now: () => number): Settled {
  const settled: Settled = { state: 'pending', at: Number.NaN }
  promise.then(
    () => Object.assign(settled, { state: 'fulfilled', at: now() }),
    (error: Error) => Object.assign(settled, { state: 'rejected', at: now(), error }),
  )
  return settled
}

export function counting(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => index % 256))
}

/** Timers of whole milliseconds, called up to a millisecond early or late, as a host's are. */
export class CoarseClock implements Clock {
  readonly #fine: VirtualClock

  constructor(fine: VirtualClock) {
    this.#fine = fine
  }

  now = () => this.#fine.now()
  wall = () => this.#fine.wall()
  random = () => this.#fine.random()
  randomBytes = (length: number) => this.#fine.randomBytes(length)

  after(delayMs: number, callback: () => void): Timer {
    return this.#fine.after(Math.max(1, Math.trunc(delayMs)) + this.#fine.random(), callback)
  }
}
