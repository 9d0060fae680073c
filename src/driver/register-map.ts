/**
 * A Modbus device as a list of named registers and bits: what can be read and written of it, as tools, readings and
 * the fewest requests. The generic type takes the list from the configuration; other types bring their own.
 */
import { type TProperties, Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import { type Command, command } from './command.ts'
import { nullable } from './define-device.ts'
import type { Exchange, ReadingSpec } from './device-type.ts'
import { mapped } from './exchange.ts'
import {
  type BitKind,
  MODBUS_BITS_MAX,
  MODBUS_REGISTERS_MAX,
  type RegisterKind,
  readBits,
  readRegisters,
  writeCoil,
  writeRegister,
  writeRegisters,
} from './modbus.ts'
import { type Block, blocksOf } from './modbus-block.ts'
import {
  decodeRegisters,
  encodeRegisters,
  precisionOf,
  type RegisterMeaning,
  type RegisterValue,
  rangeOf,
  registersOf,
} from './register-format.ts'

export interface RegisterEntry extends RegisterMeaning {
  readonly name: string
  /** Zero-based protocol address. */
  readonly register: number
  /** Default `holding`. */
  readonly kind?: RegisterKind
  /** Here and in the classes, null: there is none by its nature. */
  readonly unit?: string | null
  readonly deviceClass?: string | null
  readonly stateClass?: 'measurement' | 'total' | 'total_increasing' | null
  readonly writable?: boolean
  /** Of a writable entry: what may be written. Of any other: outside of it the value is nonsense. */
  readonly min?: number
  readonly max?: number
}

export interface BitEntry {
  readonly name: string
  /** Zero-based protocol address. */
  readonly coil: number
  /** Default `coil`. */
  readonly kind?: BitKind
  readonly writable?: boolean
  /** The device takes FC 05 with 5500. */
  readonly toggle?: boolean
}

export interface RegisterMap {
  readonly registers: readonly RegisterEntry[]
  readonly coils: readonly BitEntry[]
}

type Fields = Readonly<Record<string, RegisterValue>>

/** The whole map in the fewest requests; each value holds the fields of one. */
export function readMap(unit: number, map: RegisterMap): readonly Exchange<Fields>[] {
  const registers = (['holding', 'input'] as const).flatMap((kind) =>
    blocksOf(map.registers.filter((entry) => kindOf(entry) === kind).map(spanOf), MODBUS_REGISTERS_MAX).map(
      (block) => readRegisterBlock(unit, kind, block),
    ),
  )
  const bits = (['coil', 'discrete'] as const).flatMap((kind) =>
    blocksOf(
      map.coils
        .filter((entry) => bitKindOf(entry) === kind)
        .map((item) => ({ address: item.coil, count: 1, item })),
      MODBUS_BITS_MAX,
    ).map((block) => readBitBlock(unit, kind, block)),
  )
  return [...registers, ...bits]
}

/** `read_<name>` and `read_all`; `set_<name>` and `toggle_<name>` where the entry allows it. */
export function mapTools(unit: number, map: RegisterMap): Record<string, Command> {
  const tools: Record<string, Command> = { read_all: readAll(unit, map) }
  for (const entry of map.registers) {
    const { name } = entry
    tools[`read_${name}`] = readOne(name, valueSchema(entry), entry.unit, () =>
      firstOf(readMap(unit, { registers: [entry], coils: [] })),
    )
    if (entry.writable) tools[`set_${name}`] = setRegister(unit, entry)
  }
  for (const entry of map.coils) {
    const { name } = entry
    tools[`read_${name}`] = readOne(name, Type.Boolean(), undefined, () =>
      firstOf(readMap(unit, { registers: [], coils: [entry] })),
    )
    if (entry.writable) tools[`set_${name}`] = setCoil(unit, entry)
    if (entry.toggle) tools[`toggle_${name}`] = toggleCoil(unit, entry)
  }
  return tools
}

export function mapReadings(map: RegisterMap): Record<string, ReadingSpec> {
  const readings: Record<string, ReadingSpec> = {}
  for (const entry of map.registers) readings[entry.name] = readingOf(entry)
  for (const { name } of map.coils) readings[name] = {}
  return readings
}

function readRegisterBlock(unit: number, kind: RegisterKind, block: Block<RegisterEntry>): Exchange<Fields> {
  const { address, count } = block
  return mapped(readRegisters({ unit, kind, address, count }), (words) => {
    const fields: Record<string, RegisterValue> = {}
    for (const { item, offset, count } of block.items) {
      fields[item.name] = decodeRegisters(item, words.slice(offset, offset + count))
    }
    return fields
  })
}

function readBitBlock(unit: number, kind: BitKind, block: Block<BitEntry>): Exchange<Fields> {
  const { address, count } = block
  return mapped(readBits({ unit, kind, address, count }), (bits) => {
    const fields: Record<string, RegisterValue> = {}
    for (const { item, offset } of block.items) fields[item.name] = bits[offset] ?? false
    return fields
  })
}

function readAll(unit: number, map: RegisterMap): Command {
  const exchanges = readMap(unit, map)
  const properties: TProperties = {}
  for (const entry of map.registers) properties[entry.name] = valueSchema(entry)
  for (const { name } of map.coils) properties[name] = Type.Boolean()
  return command({
    title: 'Read all values',
    description: 'All values of the device, read in as few requests as its register map allows.',
    returns: Type.Object(properties),
    async run(session) {
      const fields: Record<string, RegisterValue> = {}
      for (const exchange of exchanges) Object.assign(fields, await session.exchange(exchange))
      return fields
    },
    shapes: exchanges.flatMap((exchange) => exchange.reply?.shapes ?? []),
    correlates: 'shape',
    effect: 'read',
    parallelSafe: true,
  })
}

function readOne(
  name: string,
  schema: TProperties[string],
  unit: string | null | undefined,
  exchange: () => Exchange<Fields>,
): Command {
  return command({
    title: `Read ${words(name)}`,
    description: `The present ${words(name)} of the device${unit ? `, in ${unit}` : ''}.`,
    returns: Type.Object({ [name]: schema }),
    exchange,
    correlates: 'shape',
    effect: 'read',
    parallelSafe: true,
  })
}

/** FC 06 for one register, FC 10 for several. Only FC 06 has the device repeat the value: that is a reading. */
function setRegister(unit: number, entry: RegisterEntry): Command {
  const { name, register: address } = entry
  return command({
    title: `Set ${words(name)}`,
    description: `Sets the ${words(name)} of the device${entry.unit ? `, in ${entry.unit}` : ''}.`,
    parameters: Type.Object({ value: parameterSchema(entry) }),
    returns: Type.Object({ [name]: valueSchema(entry) }),
    exchange({ value }) {
      const wanted = value as RegisterValue
      const encoded = encodeRegisters(entry, wanted)
      if ('fault' in encoded) {
        throw new GatewayError('invalid_arguments', `value: ${encoded.fault}`, { field: '/value' })
      }
      const { words } = encoded
      const [first] = words
      const write =
        words.length === 1 && first !== undefined
          ? writeRegister({ unit, address, value: first })
          : writeRegisters({ unit, address, values: words })
      return mapped(write, () => ({ [name]: wanted }))
    },
    readings: (value) => (registersOf(entry) === 1 ? value : {}),
    correlates: 'request',
    effect: 'set',
  })
}

function setCoil(unit: number, entry: BitEntry): Command {
  const { name, coil: address } = entry
  return command({
    title: `Set ${words(name)}`,
    description: `Switches ${words(name)} on (true) or off (false).`,
    parameters: Type.Object({ value: Type.Boolean() }),
    returns: Type.Object({ [name]: Type.Boolean() }),
    exchange: ({ value }) => mapped(writeCoil({ unit, address, value }), () => ({ [name]: value })),
    correlates: 'request',
    effect: 'set',
  })
}

function toggleCoil(unit: number, entry: BitEntry): Command {
  return command({
    title: `Toggle ${words(entry.name)}`,
    description: `Reverses ${words(entry.name)}: on becomes off, off becomes on. A repeat reverses it again.`,
    returns: Type.Object({}),
    exchange: () => mapped(writeCoil({ unit, address: entry.coil, value: 'toggle' }), () => ({})),
    correlates: 'request',
    effect: 'act',
  })
}

/** Any number may be null: not a number, or out of the bounds of its reading. */
function valueSchema(entry: RegisterEntry): TProperties[string] {
  if (entry.format === 'bit') return Type.Boolean()
  if (entry.format === 'string') return Type.String()
  if (entry.enum) return nullable(Type.String())
  if (/64$/.test(entry.format) && precisionOf(entry) === 0 && isUnscaled(entry)) {
    return Type.Unsafe<number | string | null>({ type: ['integer', 'string', 'null'] })
  }
  return precisionOf(entry) === 0 ? nullable(Type.Integer()) : nullable(Type.Number())
}

function parameterSchema(entry: RegisterEntry): TProperties[string] {
  if (entry.format === 'string') return Type.String({ maxLength: 2 * registersOf(entry) })
  if (entry.enum) return Type.Unsafe<string>({ type: 'string', enum: Object.values(entry.enum) })
  const range = rangeOf(entry)
  const bounds = range && {
    minimum: Math.max(range.min, entry.min ?? range.min),
    maximum: Math.min(range.max, entry.max ?? range.max),
  }
  return precisionOf(entry) === 0 ? Type.Integer(bounds) : Type.Number(bounds)
}

/** What may be written bounds the parameter only: the device itself may well hold something else. */
function readingOf(entry: RegisterEntry): ReadingSpec {
  const { unit, deviceClass, stateClass, writable } = entry
  const range = rangeOf(entry)
  const precision = precisionOf(entry)
  return {
    ...(unit === undefined ? {} : { unit }),
    ...(deviceClass === undefined ? {} : { deviceClass }),
    ...(stateClass === undefined ? {} : { stateClass }),
    ...(range && {
      min: (writable ? undefined : entry.min) ?? range.min,
      max: (writable ? undefined : entry.max) ?? range.max,
    }),
    ...(range && precision !== undefined ? { precision } : {}),
  }
}

function spanOf(entry: RegisterEntry) {
  return { address: entry.register, count: registersOf(entry), item: entry }
}

export function kindOf(entry: RegisterEntry): RegisterKind {
  return entry.kind ?? 'holding'
}

export function bitKindOf(entry: BitEntry): BitKind {
  return entry.kind ?? 'coil'
}

function isUnscaled({ scale = 1, offset = 0 }: RegisterMeaning): boolean {
  return scale === 1 && offset === 0
}

function firstOf(exchanges: readonly Exchange<Fields>[]): Exchange<Fields> {
  const [first] = exchanges
  if (!first) throw new GatewayError('internal', 'an entry of a register map makes no request')
  return first
}

/** `flow_temperature` is spoken of as "flow temperature". */
function words(name: string): string {
  return name.replaceAll('_', ' ')
}
