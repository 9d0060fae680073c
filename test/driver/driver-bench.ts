/** A driver on a port, with a scripted device at the far end: unit 3 of a Modbus line, one character a millisecond. */
import { crc16modbus } from 'crc'
import type { DeviceDescription, Exchange, ToolSpec } from '../../src/driver/device-type.ts'
import {
  type CommandArguments,
  type CommandValue,
  type DeviceConfiguration,
  DeviceDriver,
} from '../../src/driver/driver.ts'
import { mapped } from '../../src/driver/exchange.ts'
import { readRegisters, writeCoil, writeRegister } from '../../src/driver/modbus.ts'
import type { GatewayError } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { modbusRtu } from '../../src/port/framer/modbus-rtu.ts'
import type { Framing } from '../../src/port/framing.ts'
import { type Bench, bench, SIGNAL } from '../port/fixture.ts'

export const UNIT = 3
export const READ_LEVEL = '03 03 00 10 00 01 84 2d'
export const SET_LEVEL_215 = '03 06 00 20 00 d7 c9 bc'
export const PUMP_ON = '03 05 00 00 ff 00 8d d8'
export const TOGGLE_PUMP = '03 05 00 00 55 00 f3 78'

/** A frame and its CRC, made by a library of its own. */
export function sealed(hex: string): string {
  const body = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  const crc = crc16modbus(body)
  return Buffer.concat([body, Buffer.from([crc & 0xff, crc >> 8])]).toString('hex')
}

/** The reply to a read of one register. */
export function levelIs(value: number): string {
  return sealed(`03 03 02 ${value.toString(16).padStart(4, '0')}`)
}

export function readLevel(): Exchange<{ level: number }> {
  const read = readRegisters({ unit: UNIT, kind: 'holding', address: 0x10, count: 1 })
  return mapped(read, ([level = 0]) => ({ level }))
}

export function setLevel(level: number): Exchange<object> {
  return mapped(writeRegister({ unit: UNIT, address: 0x20, value: level }), () => ({ level }))
}

export const pump = (value: boolean | 'toggle') =>
  mapped(writeCoil({ unit: UNIT, address: 0, value }), () => ({ pump: value }))

export const TOOLS: Readonly<Record<string, ToolSpec>> = {
  read_level: { description: 'The level.', effect: 'read', parallelSafe: true, exchange: readLevel },
  set_pump: { description: 'The pump.', effect: 'set', serial: true, exchange: () => pump(true) },
  toggle_pump: { description: 'The pump.', effect: 'act', serial: true, exchange: () => pump('toggle') },
}

export interface Asked {
  readonly progress: { sent: boolean; wireMs: number }
  value?: CommandValue
  error?: GatewayError
  endedAt?: number
}

export interface DriverBench extends Bench {
  readonly driver: DeviceDriver
  readonly errors: string[]
  run(command: string, args?: CommandArguments, signal?: AbortSignal): Asked
}

export interface DriverOptions {
  readonly tools?: Readonly<Record<string, ToolSpec>>
  readonly readings?: DeviceDescription['readings']
  readonly line?: DeviceDescription['line']
  readonly events?: DeviceDescription['events']
  readonly device?: Partial<DeviceConfiguration>
  readonly addressed?: boolean
  readonly framing?: Framing
  readonly pushed?: DeviceDescription['pushed']
}

export async function driverBench(options: DriverOptions = {}): Promise<DriverBench> {
  const { tools = TOOLS, addressed = true, framing = modbusRtu() } = options
  const lines = options.line ?? { timeoutMs: 500, replyLatencyMaxMs: 800, gapMs: 20 }
  const drivers: DeviceDriver[] = []
  const made = await bench({
    framing,
    onUnsolicited: (frame) => drivers.some((driver) => driver.recognises(frame)),
  })
  const errors: string[] = []
  const driver = new DeviceDriver({
    device: { id: 'tank', name: 'Tank', area: 'Cellar', type: 'tank', ...options.device },
    description: {
      framing,
      line: lines,
      readings: options.readings ?? { level: { unit: '%', min: 0, max: 1_000 } },
      tools,
      ...(options.events ? { events: options.events } : {}),
      ...(options.pushed ? { pushed: options.pushed } : {}),
    },
    addressed,
    port: made.port,
    clock: made.clock,
    log: logOf(errors),
  })
  drivers.push(driver)
  return {
    ...made,
    driver,
    errors,
    run: (command, args = {}, signal = SIGNAL) => {
      const asked: Asked = { progress: { sent: false, wireMs: 0 } }
      driver
        .prepare(command, args)
        .run({ signal, progress: asked.progress })
        .then(
          (value) => Object.assign(asked, { value, endedAt: made.clock.now() }),
          (error: GatewayError) => Object.assign(asked, { error, endedAt: made.clock.now() }),
        )
      return asked
    },
  }
}

function logOf(errors: string[]): Log {
  const quiet = () => {}
  const log: Log = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (_fields, message) => errors.push(message),
    child: () => log,
  }
  return log
}
