/**
 * Modbus RTU exchanges: requests with their CRC, and matchers that take a reply only if unit, function and length
 * are right and, for a write, everything that the standard has the device repeat. The PDU codec is `modbus-pdu`.
 * Source: MODBUS Application Protocol Specification V1.1b3, MODBUS over Serial Line V1.02.
 */
import pdu from 'modbus-pdu'
import { assert } from '../errors.ts'
import { crc16modbus } from '../port/framer/checksum.ts'
import { startsWith } from '../port/reply.ts'
import type { Exchange, Verdict } from './device-type.ts'
import { busy, exchangeOf, type FrameKind, refused, unanswered, value } from './exchange.ts'

/** The most that one request may ask for. */
export const MODBUS_REGISTERS_MAX = 125
export const MODBUS_BITS_MAX = 2000
/** The most that one request may write. */
export const MODBUS_WRITTEN_REGISTERS_MAX = 123
export const MODBUS_WRITTEN_BITS_MAX = 1968

export type RegisterKind = 'holding' | 'input'
export type BitKind = 'coil' | 'discrete'

/** Zero-based protocol addresses; the unit is 1 to 247, or what a board answers to beyond the standard. */
interface Place {
  readonly unit: number
  readonly address: number
}

const EXCEPTION = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'failure of the device',
  5: 'accepted, and will take long',
  6: 'the device is busy',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'the device behind the gateway did not answer',
} as const satisfies Record<number, string>

const DEVICE_BUSY = 6
const BROADCAST = 0
const SEAL = crc16modbus({ from: 0 })

/** FC 03 and 04. The value is one number of 16 bits for each register. */
export function readRegisters(
  range: Place & { readonly kind: RegisterKind; readonly count: number },
): Exchange<readonly number[]> {
  const { kind, address, count } = range
  checkRange(range, count, MODBUS_REGISTERS_MAX)
  const read = kind === 'holding' ? pdu.ReadHoldingRegisters : pdu.ReadInputRegisters
  const request = frameOf(range.unit, read.Request.build(address, count))
  return readExchange(range.unit, read.Code, request, 2 * count, (reply) =>
    read.Response.parse(reply)?.map((register) => register.readUInt16BE()),
  )
}

/** FC 01 and 02. */
export function readBits(
  range: Place & { readonly kind: BitKind; readonly count: number },
): Exchange<readonly boolean[]> {
  const { kind, address, count } = range
  checkRange(range, count, MODBUS_BITS_MAX)
  const read = kind === 'coil' ? pdu.ReadCoils : pdu.ReadDiscreteInputs
  const request = frameOf(range.unit, read.Request.build(address, count))
  return readExchange(range.unit, read.Code, request, Math.ceil(count / 8), (reply) =>
    read.Response.parse(reply)
      ?.slice(0, count)
      .map((bit) => bit === 1),
  )
}

/** FC 05. `toggle` writes 5500, which many relay boards take and the standard does not know. */
export function writeCoil(write: Place & { readonly value: boolean | 'toggle' }): Exchange<true> {
  checkRange(write, 1, 1)
  const { address } = write
  const { Code, Request } = pdu.WriteSingleCoil
  const body =
    write.value === 'toggle'
      ? pdu.Package(Code, [address >> 8, address & 0xff, 0x55, 0x00])
      : Request.build(address, write.value)
  return writeExchange(write.unit, Code, body, body)
}

/** FC 06. The value is a number of 16 bits. */
export function writeRegister(write: Place & { readonly value: number }): Exchange<true> {
  checkRange(write, 1, 1)
  const { Code, Request } = pdu.WriteSingleRegister
  const body = Request.build(write.address, wordBytes(write.value))
  return writeExchange(write.unit, Code, body, body)
}

/** FC 0F. */
export function writeCoils(write: Place & { readonly values: readonly boolean[] }): Exchange<true> {
  checkRange(write, write.values.length, MODBUS_WRITTEN_BITS_MAX)
  const { Code, Request, Response } = pdu.WriteMultipleCoils
  const body = Request.build(write.address, write.values.map(Number))
  return writeExchange(write.unit, Code, body, Response.build(write.address, write.values.length))
}

/** FC 10. The values are numbers of 16 bits. */
export function writeRegisters(write: Place & { readonly values: readonly number[] }): Exchange<true> {
  checkRange(write, write.values.length, MODBUS_WRITTEN_REGISTERS_MAX)
  const { Code, Request, Response } = pdu.WriteMultipleRegisters
  const body = Request.build(write.address, write.values.map(wordBytes))
  return writeExchange(write.unit, Code, body, Response.build(write.address, write.values.length))
}

/** A whole frame: unit, PDU, CRC. */
export function frameOf(unit: number, body: ArrayLike<number>): Uint8Array {
  return SEAL.seal([unit, ...Array.from(body), 0, 0])
}

function readExchange<V>(
  unit: number,
  functionCode: number,
  request: Uint8Array,
  byteCount: number,
  parse: (body: Buffer) => V | undefined,
): Exchange<V> {
  const reply: FrameKind<V> = {
    shape: startsWith([unit, functionCode, byteCount], byteCount + 5),
    verdict(frame) {
      const decoded = parse(frame.subarray(1, -2))
      return decoded === undefined ? undefined : value(decoded)
    },
  }
  return exchangeOf(request, [reply, exceptionKind(unit, functionCode)])
}

/** Nobody answers a broadcast. */
function writeExchange(unit: number, functionCode: number, body: Buffer, echo: Buffer): Exchange<true> {
  const request = frameOf(unit, body)
  if (unit === BROADCAST) return unanswered(request)
  const reply = frameOf(unit, echo)
  return exchangeOf<true>(request, [
    { shape: startsWith(reply, reply.length), verdict: () => value(true as const) },
    exceptionKind(unit, functionCode),
  ])
}

function exceptionKind(unit: number, functionCode: number): FrameKind<never> {
  return { shape: startsWith([unit, functionCode | 0x80], 5), verdict: (frame) => exceptionVerdict(frame[2]) }
}

/** Codes 1 to 3 are checks that come before anything is done. */
function exceptionVerdict(code = 0): Verdict<never> {
  const text = Object.hasOwn(EXCEPTION, code)
    ? EXCEPTION[code as keyof typeof EXCEPTION]
    : 'unknown exception'
  if (code === DEVICE_BUSY) return busy(text)
  return refused(code, `Modbus exception ${code}: ${text}`, code >= 1 && code <= 3)
}

function wordBytes(word: number): Buffer {
  return Buffer.from([word >> 8, word & 0xff])
}

function checkRange(place: Place, count: number, countMax: number): void {
  const { unit, address } = place
  assert(unit >= BROADCAST && unit <= 255, `Modbus: there is no unit ${unit}`)
  assert(count >= 1 && count <= countMax, `Modbus: one request takes 1 to ${countMax} items, not ${count}`)
  assert(
    address >= 0 && address + count <= 65_536,
    `Modbus: there is no address ${address} with ${count} items`,
  )
}
