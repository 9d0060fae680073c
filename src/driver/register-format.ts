/**
 * What registers mean: numbers of several registers, scaled numbers, texts, bits and names. Decoding is total; what
 * is no value (NaN, infinity, a number without a name) is null. A number is rounded to the decimals of its scale, so
 * that 3 at a scale of 0.1 is 0.3. A whole number of 64 bits that a JSON number cannot hold exactly is a decimal text.
 */

export type RegisterFormat =
  | 'uint16'
  | 'int16'
  | 'uint32'
  | 'int32'
  | 'uint64'
  | 'int64'
  | 'float32'
  | 'float64'
  | 'string'
  | 'bit'

export interface RegisterMeaning {
  readonly format: RegisterFormat
  /** Which register of several holds the most significant part: `big` the first (default), `little` the last. */
  readonly wordOrder?: 'big' | 'little'
  /** Registers of a `string`; two characters each. */
  readonly length?: number
  /** Of a `bit`: 0 is the least significant. */
  readonly bit?: number
  /** value = raw × scale + offset */
  readonly scale?: number
  readonly offset?: number
  /** Decimals of a float; default: as many as tell it from its neighbours. */
  readonly precision?: number
  /** Names of raw values. */
  readonly enum?: Readonly<Record<string, string>>
}

export type RegisterValue = number | string | boolean | null

const INTEGER_RANGES = {
  uint16: [0n, 0xffffn],
  int16: [-0x8000n, 0x7fffn],
  uint32: [0n, 0xffff_ffffn],
  int32: [-0x8000_0000n, 0x7fff_ffffn],
  uint64: [0n, 0xffff_ffff_ffff_ffffn],
  int64: [-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn],
} as const satisfies Partial<Record<RegisterFormat, readonly [bigint, bigint]>>

type IntegerFormat = keyof typeof INTEGER_RANGES

const REGISTERS = {
  uint16: 1,
  int16: 1,
  uint32: 2,
  int32: 2,
  uint64: 4,
  int64: 4,
  float32: 2,
  float64: 4,
  bit: 1,
} as const

const FLOAT32_MAX = 3.4028234663852886e38
/** Digits that a product of two doubles is good for. */
const FLOAT_DIGITS = 15
/** The most that `toFixed` is asked for. */
const DECIMALS_MAX = 20

/** Registers that the value takes up. */
export function registersOf(meaning: RegisterMeaning): number {
  return meaning.format === 'string' ? (meaning.length ?? 1) : REGISTERS[meaning.format]
}

/** `words` are numbers of 16 bits, as many as the meaning has registers. */
export function decodeRegisters(meaning: RegisterMeaning, words: readonly number[]): RegisterValue {
  const bytes = bytesOf(meaning, words)
  const { format } = meaning
  switch (format) {
    case 'string':
      return textOf(bytes)
    case 'bit':
      return ((bytes.readUInt16BE() >> (meaning.bit ?? 0)) & 1) === 1
    case 'float32':
      return scaledFloat(meaning, shortestFloat32(bytes.readFloatBE()))
    case 'float64':
      return scaledFloat(meaning, bytes.readDoubleBE())
    default: {
      const raw = integerOf(format, bytes)
      return meaning.enum ? (meaning.enum[String(raw)] ?? null) : scaledInteger(meaning, raw)
    }
  }
}

/** The registers of a value, or why it has none. */
export function encodeRegisters(
  meaning: RegisterMeaning,
  value: RegisterValue,
): { readonly words: readonly number[] } | { readonly fault: string } {
  const { format } = meaning
  if (format === 'string') return encodeText(meaning, String(value))
  if (format === 'bit') return { fault: 'one bit of a register cannot be written alone' }
  const isFloat = format === 'float32' || format === 'float64'
  if (meaning.enum && !isFloat) {
    const [raw] = Object.entries(meaning.enum).find(([, name]) => name === value) ?? []
    return raw === undefined ? { fault: 'no such name' } : encodeInteger(meaning, format, Number(raw))
  }
  if (typeof value !== 'number') return { fault: 'not a number' }
  const raw = (value - (meaning.offset ?? 0)) / (meaning.scale ?? 1)
  if (isFloat) return encodeFloat(meaning, format, raw)
  const nearest = Math.round(raw)
  const shown = scaledInteger(meaning, Number.isFinite(nearest) ? BigInt(nearest) : 0n)
  if (Math.abs(Number(shown) - value) > 1e-9 * Math.max(1, Math.abs(value))) {
    return { fault: `not a multiple of ${meaning.scale ?? 1}` }
  }
  return encodeInteger(meaning, format, nearest)
}

/** The least and the greatest value that the format can hold; undefined for what is no number. */
export function rangeOf(meaning: RegisterMeaning): { min: number; max: number } | undefined {
  const { format, scale = 1, offset = 0 } = meaning
  if (format === 'string' || format === 'bit' || meaning.enum) return undefined
  const raw: readonly [number, number] =
    format === 'float32'
      ? [-FLOAT32_MAX, FLOAT32_MAX]
      : format === 'float64'
        ? [-Number.MAX_VALUE, Number.MAX_VALUE]
        : [Number(INTEGER_RANGES[format][0]), Number(INTEGER_RANGES[format][1])]
  const decimals = decimalsOf(meaning)
  const ends = raw.map((end) => clamp(rounded(end * scale + offset, decimals)))
  return { min: Math.min(...ends), max: Math.max(...ends) }
}

/** Decimals that a value has at most; undefined where nothing limits them. */
export function precisionOf(meaning: RegisterMeaning): number | undefined {
  return meaning.format in INTEGER_RANGES ? decimalsOf(meaning) : meaning.precision
}

/** Bytes with the most significant first. */
function bytesOf(meaning: RegisterMeaning, words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * registersOf(meaning))
  const { wordOrder = 'big' } = meaning
  for (let index = 0; 2 * index < bytes.length; index += 1) {
    const word = words[wordOrder === 'big' ? index : bytes.length / 2 - 1 - index] ?? 0
    bytes.writeUInt16BE(word & 0xffff, 2 * index)
  }
  return bytes
}

function wordsOf(meaning: RegisterMeaning, bytes: Buffer): readonly number[] {
  const words: number[] = []
  for (let offset = 0; offset < bytes.length; offset += 2) words.push(bytes.readUInt16BE(offset))
  return meaning.wordOrder === 'little' ? words.reverse() : words
}

function integerOf(format: IntegerFormat, bytes: Buffer): bigint {
  let raw = 0n
  for (const byte of bytes) raw = (raw << 8n) | BigInt(byte)
  return INTEGER_RANGES[format][0] < 0n ? BigInt.asIntN(8 * bytes.length, raw) : raw
}

function scaledInteger(meaning: RegisterMeaning, raw: bigint): number | string | null {
  const { scale = 1, offset = 0 } = meaning
  const unscaled = scale === 1 && offset === 0
  const number = Number(raw)
  if (unscaled) return Number.isSafeInteger(number) ? number : String(raw)
  return finite(rounded(number * scale + offset, decimalsOf(meaning)))
}

function scaledFloat(meaning: RegisterMeaning, raw: number): number | null {
  const { scale = 1, offset = 0, precision } = meaning
  const unscaled = scale === 1 && offset === 0
  const value = unscaled ? raw : Number((raw * scale + offset).toPrecision(FLOAT_DIGITS))
  return finite(precision === undefined ? value + 0 : rounded(value, precision))
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null
}

/** The shortest decimal number that is this float32: 0.1, not 0.10000000149011612. */
function shortestFloat32(raw: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const shorter = Number(raw.toPrecision(digits))
    if (Math.fround(shorter) === raw) return shorter
  }
  return raw
}

function decimalsOf({ scale = 1, offset = 0 }: RegisterMeaning): number {
  return Math.max(decimals(scale), decimals(offset))
}

function decimals(number: number): number {
  const [digits = '', exponent = '0'] = String(number).split('e')
  const fraction = digits.split('.')[1]?.length ?? 0
  return Math.min(DECIMALS_MAX, Math.max(0, fraction - Number(exponent)))
}

/** Adding 0 makes -0 a plain 0. */
function rounded(number: number, places: number): number {
  return Number(number.toFixed(places)) + 0
}

function clamp(number: number): number {
  return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, number))
}

/** Text from a device may hold anything; it ends at the first NUL, and padding is no part of it. */
function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end).trimEnd()
}

function encodeText(meaning: RegisterMeaning, text: string) {
  const bytes = Buffer.alloc(2 * registersOf(meaning))
  const encoded = Buffer.from(text, 'utf8')
  if (encoded.length > bytes.length) return { fault: `longer than ${bytes.length} bytes` }
  if (encoded.includes(0)) return { fault: 'contains a NUL' }
  encoded.copy(bytes)
  return { words: wordsOf(meaning, bytes) }
}

function encodeInteger(meaning: RegisterMeaning, format: IntegerFormat, raw: number) {
  const [least, greatest] = INTEGER_RANGES[format]
  if (!Number.isSafeInteger(raw)) return { fault: 'not a whole number that can be written exactly' }
  if (BigInt(raw) < least || BigInt(raw) > greatest) return { fault: `out of the range of ${format}` }
  const hex = BigInt.asUintN(16 * registersOf(meaning), BigInt(raw)).toString(16)
  const bytes = Buffer.from(hex.padStart(4 * registersOf(meaning), '0'), 'hex')
  return { words: wordsOf(meaning, bytes) }
}

function encodeFloat(meaning: RegisterMeaning, format: 'float32' | 'float64', raw: number) {
  const bytes = Buffer.alloc(2 * registersOf(meaning))
  if (format === 'float32') {
    if (!Number.isFinite(Math.fround(raw))) return { fault: 'out of the range of float32' }
    bytes.writeFloatBE(raw)
  } else {
    if (!Number.isFinite(raw)) return { fault: 'out of the range of float64' }
    bytes.writeDoubleBE(raw)
  }
  return { words: wordsOf(meaning, bytes) }
}
