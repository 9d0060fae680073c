/** How a configuration describes binary frames, and the framing that it means. */
import { assert } from '../errors.ts'
import {
  type Checksum,
  type ChecksumRange,
  crc16modbus,
  sum8,
  twosComplement8,
  xor8,
} from '../port/framer/checksum.ts'
import { type CountFormat, countBytes, frames } from '../port/framer/frames.ts'
import { idleFrames } from '../port/framer/idle-frames.ts'
import type { TraitedFraming } from '../port/framer/traits.ts'
import type { OptionFault } from './device-type.ts'

export type ChecksumKind = 'twos-complement-8' | 'sum-8' | 'xor-8' | 'crc-16-modbus'

/** As in a configuration: bytes in hex. The checksum's places count in the frame without its `end`. */
export interface ByteFraming {
  readonly start?: string
  readonly length?: number
  /** Where the length stands in the frame. */
  readonly lengthAt?: number
  /** Default `uint8`. */
  readonly lengthFormat?: CountFormat
  /** Bytes that the length leaves out; default 0: it counts the whole frame. */
  readonly lengthPlus?: number
  readonly end?: string
  readonly idleMs?: number
  /** Default 256. */
  readonly lengthMax?: number
  readonly checksum?: {
    readonly kind: ChecksumKind
    /** Default 0. */
    readonly from?: number
    readonly to?: number
    readonly at?: number
  }
}

const LENGTH_MAX_DEFAULT = 256

const CHECKSUMS: Readonly<Record<ChecksumKind, (range: ChecksumRange) => Checksum>> = {
  'twos-complement-8': twosComplement8,
  'sum-8': sum8,
  'xor-8': xor8,
  'crc-16-modbus': crc16modbus,
}

export function hexBytes(hex = ''): readonly number[] {
  return [...Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')]
}

export function lengthMaxOf({ lengthMax = LENGTH_MAX_DEFAULT }: ByteFraming): number {
  return lengthMax
}

/** Bytes of the checksum; undefined: these frames have none. */
export function checksumWidth({ checksum }: ByteFraming): number | undefined {
  return checksum && CHECKSUMS[checksum.kind]({ from: 0 }).width
}

/** Where the checksum of a frame of this length stands. */
export function checksumPlace(framing: ByteFraming, length: number): number | undefined {
  const width = checksumWidth(framing)
  if (!framing.checksum || width === undefined) return undefined
  const { to, at } = framing.checksum
  return at ?? to ?? length - hexBytes(framing.end).length - width
}

/** Fills in the checksum of a request, which may be longer or shorter than a reply: it stands where it was put. */
export function sealAt(framing: ByteFraming, frame: Uint8Array, at: number): Uint8Array {
  const { checksum } = framing
  assert(checksum, 'a frame without a checksum was to be sealed')
  const { kind, from = 0, to = at } = checksum
  return CHECKSUMS[kind]({ from: Math.min(from, at), to: Math.min(to, at), at }).seal(frame)
}

/** The framing of a description without faults. */
export function byteFraming(framing: ByteFraming): TraitedFraming {
  const { length, lengthAt, lengthFormat = 'uint8', lengthPlus = 0, idleMs } = framing
  const start = hexBytes(framing.start)
  const end = hexBytes(framing.end)
  const lengthMax = lengthMaxOf(framing)
  const { kind, from = 0, to, at } = framing.checksum ?? {}
  const range = { from, ...(to === undefined ? {} : { to }), ...(at === undefined ? {} : { at }) }
  const shared = { start, lengthMax, ...(kind && { checksum: CHECKSUMS[kind](range) }) }
  if (idleMs !== undefined) return idleFrames({ ...shared, idleMs })
  const counted =
    lengthAt === undefined ? undefined : { at: lengthAt, format: lengthFormat, plus: lengthPlus }
  const known = length ?? counted
  return frames({ ...shared, end, ...(known === undefined ? {} : { length: known }) })
}

/** What is wrong with a description. Fields are JSON pointers. */
export function* framingFaults(framing: ByteFraming): Generator<OptionFault> {
  const { start, length, lengthAt, end, idleMs } = framing
  const fault = (key: string, message: string) => ({ field: `/framing${key}`, message })
  const ways = [length, lengthAt, end, idleMs].filter((way) => way !== undefined)
  if (ways.length === 0)
    yield fault('', 'where does a frame end? Give "length", "lengthAt", "end" or "idleMs"')
  if (length !== undefined && lengthAt !== undefined) yield fault('/lengthAt', 'not beside "length"')
  if (idleMs !== undefined && ways.length > 1) {
    yield fault('/idleMs', 'silence ends a frame only where nothing else does')
  }
  if (idleMs === undefined && start === undefined) yield fault('', 'what is a frame found by? Give "start"')
  for (const key of ['lengthFormat', 'lengthPlus'] as const) {
    if (framing[key] !== undefined && lengthAt === undefined) yield fault(`/${key}`, 'only with "lengthAt"')
  }
  yield* lengthFaults(framing)
  yield* checksumFaults(framing)
}

function* lengthFaults(framing: ByteFraming): Generator<OptionFault> {
  const { length, lengthAt, lengthFormat = 'uint8' } = framing
  const least = hexBytes(framing.start).length + (checksumWidth(framing) ?? 0) + hexBytes(framing.end).length
  const lengthMax = lengthMaxOf(framing)
  if (length !== undefined && length <= least) {
    yield { field: '/framing/length', message: 'no room for anything between the start and the end' }
  }
  if (length !== undefined && length > lengthMax) {
    yield { field: '/framing/length', message: `longer than "lengthMax", ${lengthMax}` }
  }
  if (lengthAt !== undefined && lengthAt + countBytes(lengthFormat) > lengthMax) {
    yield { field: '/framing/lengthAt', message: `beyond "lengthMax", ${lengthMax}` }
  }
}

function* checksumFaults(framing: ByteFraming): Generator<OptionFault> {
  const { checksum, length } = framing
  if (!checksum) return
  const { from = 0, to, at } = checksum
  const width = checksumWidth(framing) ?? 0
  const pointer = '/framing/checksum'
  if (to !== undefined && to <= from) yield { field: `${pointer}/to`, message: 'not behind "from"' }
  if (at !== undefined && at + width > from && at < (to ?? Number.POSITIVE_INFINITY)) {
    yield { field: `${pointer}/at`, message: 'a checksum cannot be summed itself: give "to"' }
  }
  if (length === undefined) return
  const room = length - hexBytes(framing.end).length
  const place = checksumPlace(framing, length) ?? 0
  if (place + width > room || (to ?? place) > room) {
    yield { field: pointer, message: `it does not fit into the ${room} bytes of a frame` }
  }
  if (from >= (to ?? place)) yield { field: `${pointer}/from`, message: 'there is nothing to sum' }
}
