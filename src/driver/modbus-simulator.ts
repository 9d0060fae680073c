/**
 * The far end of a Modbus RTU line: answers requests out of a bank of registers and bits as the standard has it,
 * exceptions included, and logs what it really did. For the simulators of device types.
 */
import { modbusRtuRequests } from '../port/framer/modbus-rtu.ts'
import type { DeviceSimulator, SimulatedReply, SimulatedWorld } from './device-type.ts'
import { type BitKind, frameOf, MODBUS_BITS_MAX, MODBUS_REGISTERS_MAX, type RegisterKind } from './modbus.ts'

/** What the simulated device holds. Undefined or false: there is no such address, or it cannot be written. */
export interface ModbusBank {
  readonly unit: number
  readRegister(kind: RegisterKind, address: number): number | undefined
  readBit(kind: BitKind, address: number): boolean | undefined
  /** All or nothing. */
  writeRegisters(address: number, words: readonly number[]): boolean
  /** All or nothing. */
  writeBits(address: number, bits: readonly (boolean | 'toggle')[]): boolean
}

const ILLEGAL_FUNCTION = 1
const ILLEGAL_ADDRESS = 2
const ILLEGAL_VALUE = 3

const COIL_VALUES = new Map<number, boolean | 'toggle'>([
  [0xff00, true],
  [0x0000, false],
  [0x5500, 'toggle'],
])

/** The body of a reply behind the function code, or the code of an exception. */
type Answer = readonly number[] | number

export function modbusSimulator(world: SimulatedWorld, bank: ModbusBank): DeviceSimulator {
  return {
    framing: modbusRtuRequests(),
    receive(frame): SimulatedReply | undefined {
      const [unit, functionCode] = frame
      const isBroadcast = unit === 0
      if (functionCode === undefined || (unit !== bank.unit && !isBroadcast)) return undefined
      const answer = answerTo(Buffer.from(frame.subarray(1, -2)), world, bank)
      if (isBroadcast) return undefined
      const body = typeof answer === 'number' ? [functionCode | 0x80, answer] : [functionCode, ...answer]
      return { bytes: frameOf(bank.unit, body), afterMs: 3 + 5 * world.random() }
    },
  }
}

function answerTo(body: Buffer, world: SimulatedWorld, bank: ModbusBank): Answer {
  if (body.length < 5) return ILLEGAL_FUNCTION
  const address = body.readUInt16BE(1)
  const second = body.readUInt16BE(3)
  switch (body.readUInt8(0)) {
    case 0x01:
      return readBits(world, bank, { kind: 'coil', address, count: second })
    case 0x02:
      return readBits(world, bank, { kind: 'discrete', address, count: second })
    case 0x03:
      return readRegisters(world, bank, { kind: 'holding', address, count: second })
    case 0x04:
      return readRegisters(world, bank, { kind: 'input', address, count: second })
    case 0x05:
      return writeBits(world, bank, body, [COIL_VALUES.get(second)])
    case 0x06:
      return writeRegisters(world, bank, body, [second])
    case 0x0f:
      return writeBits(world, bank, body, bitsOf(body.subarray(6), second))
    case 0x10:
      return writeRegisters(world, bank, body, wordsOf(body.subarray(6), second))
    default:
      return ILLEGAL_FUNCTION
  }
}

function readBits(
  world: SimulatedWorld,
  bank: ModbusBank,
  range: { readonly kind: BitKind; readonly address: number; readonly count: number },
): Answer {
  const { kind, address, count } = range
  if (count < 1 || count > MODBUS_BITS_MAX) return ILLEGAL_VALUE
  const data = new Array<number>(Math.ceil(count / 8)).fill(0)
  for (let index = 0; index < count; index += 1) {
    const bit = bank.readBit(kind, address + index)
    if (bit === undefined) return ILLEGAL_ADDRESS
    if (bit) data[index >> 3] = (data[index >> 3] ?? 0) | (1 << (index & 7))
  }
  world.executed('read_bits', range)
  return [data.length, ...data]
}

function readRegisters(
  world: SimulatedWorld,
  bank: ModbusBank,
  range: { readonly kind: RegisterKind; readonly address: number; readonly count: number },
): Answer {
  const { kind, address, count } = range
  if (count < 1 || count > MODBUS_REGISTERS_MAX) return ILLEGAL_VALUE
  const data: number[] = []
  for (let index = 0; index < count; index += 1) {
    const word = bank.readRegister(kind, address + index)
    if (word === undefined) return ILLEGAL_ADDRESS
    data.push(word >> 8, word & 0xff)
  }
  world.executed('read_registers', range)
  return [data.length, ...data]
}

function writeBits(
  world: SimulatedWorld,
  bank: ModbusBank,
  body: Buffer,
  bits: readonly (boolean | 'toggle' | undefined)[] | undefined,
): Answer {
  const known = bits?.filter((bit) => bit !== undefined) ?? []
  if (known.length === 0 || known.length !== bits?.length) return ILLEGAL_VALUE
  const address = body.readUInt16BE(1)
  if (!bank.writeBits(address, known)) return ILLEGAL_ADDRESS
  world.executed('write_bits', { address, bits: known })
  return [...body.subarray(1, 5)]
}

function writeRegisters(
  world: SimulatedWorld,
  bank: ModbusBank,
  body: Buffer,
  words: readonly number[] | undefined,
): Answer {
  if (!words || words.length === 0) return ILLEGAL_VALUE
  const address = body.readUInt16BE(1)
  if (!bank.writeRegisters(address, words)) return ILLEGAL_ADDRESS
  world.executed('write_registers', { address, words })
  return [...body.subarray(1, 5)]
}

/** Undefined: the count does not fit the bytes. */
function bitsOf(data: Buffer, count: number): boolean[] | undefined {
  if (data.length !== Math.ceil(count / 8)) return undefined
  return Array.from({ length: count }, (_, index) => (((data[index >> 3] ?? 0) >> (index & 7)) & 1) === 1)
}

function wordsOf(data: Buffer, count: number): number[] | undefined {
  if (data.length !== 2 * count) return undefined
  return Array.from({ length: count }, (_, index) => data.readUInt16BE(2 * index))
}
