/** A simulated Modbus device that holds what a register map says: plausible values that move, and what was written. */
import type { DeviceSimulator, SimulatedWorld } from './device-type.ts'
import { type ModbusBank, modbusSimulator } from './modbus-simulator.ts'
import { encodeRegisters, rangeOf, registersOf } from './register-format.ts'
import { bitKindOf, kindOf, type RegisterEntry, type RegisterMap } from './register-map.ts'

const SWING_PERIOD_MS = 600_000
const HOUR_MS = 3_600_000

export function mapSimulator(unit: number, map: RegisterMap, world: SimulatedWorld): DeviceSimulator {
  const words = new Map<string, number>()
  const bits = new Map<number, boolean>()
  const phase = world.random()

  const registerAt = (kind: string, address: number) =>
    map.registers.find(
      (entry) =>
        kindOf(entry) === kind && address >= entry.register && address < entry.register + registersOf(entry),
    )
  const writableWord = (address: number) => registerAt('holding', address)?.writable === true
  const bitAt = (kind: string, address: number) =>
    map.coils.find((entry) => bitKindOf(entry) === kind && entry.coil === address)

  const bank: ModbusBank = {
    unit,
    readRegister(kind, address) {
      const entry = registerAt(kind, address)
      if (!entry) return undefined
      const moving = wordsOf(
        entry,
        world.now() / SWING_PERIOD_MS + phase + map.registers.indexOf(entry) / 7,
        world,
      )
      return words.get(`${kind} ${address}`) ?? moving[address - entry.register] ?? 0
    },
    readBit(kind, address) {
      return bitAt(kind, address) && (bits.get(address) ?? false)
    },
    writeRegisters(address, values) {
      if (!values.every((_, index) => writableWord(address + index))) return false
      for (const [index, word] of values.entries()) words.set(`holding ${address + index}`, word)
      return true
    },
    writeBits(address, values) {
      const allowed = values.every((value, index) => {
        const entry = bitAt('coil', address + index)
        return value === 'toggle' ? entry?.toggle : entry?.writable
      })
      if (!allowed) return false
      for (const [index, value] of values.entries()) {
        const before = bits.get(address + index) ?? false
        bits.set(address + index, value === 'toggle' ? !before : value)
      }
      return true
    },
  }
  return modbusSimulator(world, bank)
}

/** A slow swing about the middle of the bounds; a total only grows. */
function wordsOf(entry: RegisterEntry, turns: number, world: SimulatedWorld): readonly number[] {
  if (entry.format === 'bit') return [0]
  if (entry.format === 'string') return encoded(entry, 'simulated'.slice(0, 2 * registersOf(entry)))
  if (entry.enum) return encoded(entry, Object.values(entry.enum)[0] ?? '')
  const range = rangeOf(entry) ?? { min: 0, max: 0 }
  const { min = Math.max(range.min, 15), max = Math.min(range.max, 25) } = entry
  const middle = (min + max) / 2
  const number = entry.stateClass?.startsWith('total')
    ? middle + world.now() / HOUR_MS
    : middle + 0.2 * (max - min) * Math.sin(2 * Math.PI * turns)
  const raw = (number - (entry.offset ?? 0)) / (entry.scale ?? 1)
  const { format, wordOrder = 'big' } = entry
  return encoded({ format, wordOrder }, format.startsWith('float') ? raw : Math.round(raw))
}

function encoded(meaning: Parameters<typeof encodeRegisters>[0], value: number | string): readonly number[] {
  const result = encodeRegisters(meaning, value)
  return 'words' in result ? result.words : []
}
