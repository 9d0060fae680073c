/** A port on a simulated wire with a scripted device, whose bytes come from captures and specifications. */

import type { Verdict } from '../../src/driver/device-type.ts'
import { readRegisters, writeCoil } from '../../src/driver/modbus.ts'
import type { GatewayError } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { DeviceRegistry } from '../../src/port/device-registry.ts'
import { modbusRtu } from '../../src/port/framer/modbus-rtu.ts'
import type { Framing } from '../../src/port/framing.ts'
import { Port } from '../../src/port/port.ts'
import type { LineHold, LineSettings, Request } from '../../src/port/request.ts'
import { createSimulatedBinding, type SimulatedBinding } from '../../src/simulator/binding.ts'
import type { SimulatedWire } from '../../src/simulator/wire.ts'
import { VirtualClock } from '../virtual-clock.ts'

/** One character is 1 ms. */
export const LINE: LineSettings = {
  baudRate: 10_000,
  dataBits: 8,
  stopBits: 1,
  parity: 'none',
  rtscts: false,
  hupcl: true,
}

export const SIGNAL = new AbortController().signal

/** What reached the device, and when its last byte arrived. */
export interface Heard {
  readonly at: number
  readonly hex: string
}

/** The device: requests of a fixed hex form are answered with hex after a delay from their last byte. */
export class ScriptedDevice {
  readonly heard: Heard[] = []
  readonly #wire: SimulatedWire
  readonly #clock: VirtualClock
  readonly #answers = new Map<string, readonly { hex: string; afterMs: number }[]>()
  #partial = ''

  constructor(wire: SimulatedWire, clock: VirtualClock) {
    this.#wire = wire
    this.#clock = clock
    wire.connect({ receive: (burst) => this.#receive(burst.bytes) })
  }

  answer(request: string, ...answers: { hex: string; afterMs: number }[]): this {
    this.#answers.set(plain(request), answers)
    return this
  }

  send(hex: string): void {
    this.#wire.send(Buffer.from(plain(hex), 'hex'), { talker: 'device' })
  }

  #receive(bytes: Uint8Array): void {
    this.#partial += Buffer.from(bytes).toString('hex')
    for (const [request, answers] of this.#answers) {
      if (!this.#partial.endsWith(request)) continue
      this.heard.push({ at: this.#clock.now(), hex: this.#partial })
      this.#partial = ''
      for (const { hex, afterMs } of answers) this.#clock.after(afterMs, () => this.send(hex))
      return
    }
  }
}

export interface Bench {
  readonly clock: VirtualClock
  readonly binding: SimulatedBinding
  readonly wire: SimulatedWire
  readonly device: ScriptedDevice
  readonly port: Port
  /** Lines of the log, by level. */
  readonly logged: { level: string; message: string; fields: object }[]
  changes(): number
}

export async function bench(
  options: {
    settings?: LineSettings
    framing?: Framing
    open?: boolean
    onUnsolicited?: (frame: Uint8Array) => boolean
  } = {},
): Promise<Bench> {
  const clock = new VirtualClock()
  const binding = createSimulatedBinding({ clock })
  const settings = options.settings ?? LINE
  const wire = binding.addWire('bus1', { settings })
  const device = new ScriptedDevice(wire, clock)
  const logged: Bench['logged'] = []
  let changes = 0
  const port = new Port({
    id: 'bus1',
    path: 'bus1',
    settings,
    framing: options.framing ?? modbusRtu(),
    binding,
    host: binding.host,
    devices: new DeviceRegistry(),
    clock,
    log: recordingLog(logged),
    onUnsolicited: options.onUnsolicited ?? (() => false),
    onChange: () => {
      changes += 1
    },
  })
  port.start()
  await clock.advance(1)
  return { clock, binding, wire, device, port, logged, changes: () => changes }
}

function recordingLog(lines: Bench['logged']): Log {
  const at = (level: string) => (fields: object, message: string) => lines.push({ level, message, fields })
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  }
  return log
}

export type Registers = readonly number[]

export function read(
  unit: number,
  address: number,
  times: Partial<Pick<Request<unknown>, 'timeoutMs' | 'replyLatencyMaxMs' | 'gapMs'>> = {},
): Request<Verdict<Registers>> {
  const exchange = readRegisters({ unit, kind: 'holding', address, count: 1 })
  return request(exchange.request, exchange.reply, `unit${unit}`, times)
}

export function coil(unit: number, address: number, value: boolean | 'toggle'): Request<Verdict<true>> {
  const exchange = writeCoil({ unit, address, value })
  return request(exchange.request, exchange.reply, `unit${unit}`, {})
}

function request<T>(
  bytes: Uint8Array,
  reply: Request<T>['reply'],
  station: string,
  times: Partial<Pick<Request<unknown>, 'timeoutMs' | 'replyLatencyMaxMs' | 'gapMs'>>,
): Request<T> {
  return { bytes, reply, station, timeoutMs: 500, replyLatencyMaxMs: 2_000, gapMs: 20, ...times }
}

export interface Ended<T> {
  value?: T
  error?: GatewayError
  at: number
  sent: boolean
}

/** Runs one transaction and keeps how it ended. */
export function transact<T>(port: Port, clock: VirtualClock, asked: Request<T>): { ended?: Ended<T | null> } {
  const outcome: { ended?: Ended<T | null> } = {}
  let hold: LineHold | undefined
  port
    .run({ signal: SIGNAL }, (line) => {
      hold = line
      return line.transact(asked)
    })
    .then(
      (value) => {
        outcome.ended = { value, at: clock.now(), sent: hold?.sent ?? false }
      },
      (error: GatewayError) => {
        outcome.ended = { error, at: clock.now(), sent: hold?.sent ?? false }
      },
    )
  return outcome
}

function plain(hex: string): string {
  return hex.replaceAll(' ', '').toLowerCase()
}
