/**
 * Every framer is total: whatever the bytes are and however they are cut, the frames are the same, what is held is
 * bounded, and after a silence a good frame is found again.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { crc16modbus, sum8, twosComplement8, xor8 } from '../../src/port/framer/checksum.ts'
import { fixedLength } from '../../src/port/framer/fixed-length.ts'
import { frames } from '../../src/port/framer/frames.ts'
import { idleFrames } from '../../src/port/framer/idle-frames.ts'
import { lines } from '../../src/port/framer/lines.ts'
import { modbusRtu, modbusRtuRequests } from '../../src/port/framer/modbus-rtu.ts'
import { nmea } from '../../src/port/framer/nmea.ts'
import type { FrameErrorKind, Framing } from '../../src/port/framing.ts'
import type { FuzzProperty } from './fuzz-property.ts'
import { nearly } from './mutation.ts'
import { workOf } from './work-count.ts'

interface Variant {
  readonly name: string
  readonly framing: Framing
  /** What a device sends, one frame each. */
  readonly sent: readonly Uint8Array[]
  /** Of a frame as it is given out. */
  readonly lengthMax: number
  /** Bytes on the wire are all in a frame or in an error; lines also have ends, which are in neither. */
  readonly isBinary: boolean
}

const CRC = crc16modbus({ from: 0 })

function binary(name: string, framing: Framing, sent: readonly Uint8Array[]): Variant {
  return { name, framing, sent, lengthMax: framing.frameLengthMax, isBinary: true }
}

function text(name: string, framing: Framing, lengthMax: number, sent: readonly string[]): Variant {
  return { name, framing, sent: sent.map((one) => Buffer.from(one, 'latin1')), lengthMax, isBinary: false }
}

function sealed(hex: string): Uint8Array {
  return CRC.seal([...Buffer.from(hex, 'hex'), 0, 0])
}

const VARIANTS: readonly Variant[] = [
  binary(
    'fixed length with a checksum',
    fixedLength({ start: [0xff, 0x86], length: 9, checksum: twosComplement8({ from: 1, to: 8 }) }),
    [Buffer.from('ff86019040000000a9', 'hex'), Buffer.from('ff86026047000000d1', 'hex')],
  ),
  binary('fixed length without one', fixedLength({ start: [0xaa], length: 5 }), [
    Buffer.from('aa01020304', 'hex'),
    Buffer.from('aaaaaaaaaa', 'hex'),
  ]),
  binary(
    'frames with a length field',
    frames({
      start: [0x42, 0x4d],
      length: { at: 2, format: 'uint16be', plus: 4 },
      checksum: sum8({ from: 0 }),
      lengthMax: 32,
    }),
    [sum8({ from: 0 }).seal(Buffer.from('424d0004010203ff', 'hex')), Buffer.from('424d000190', 'hex')],
  ),
  binary(
    'frames with an end',
    frames({ start: [0x02], end: [0x03, 0x0d], checksum: xor8({ from: 1 }), lengthMax: 24 }),
    [Buffer.from('02313203030d', 'hex'), Buffer.from('023102310331030d', 'hex')],
  ),
  binary('frames that silence ends', idleFrames({ idleMs: 20, start: [1], checksum: CRC, lengthMax: 20 }), [
    sealed('0103020102'),
    sealed('010303'),
  ]),
  binary('frames that only silence tells', idleFrames({ idleMs: 20, lengthMax: 8 }), [Buffer.from('abc')]),
  binary('Modbus replies', modbusRtu(), [
    sealed('0103020102'),
    sealed('018302'),
    sealed('01100001000a'),
    sealed(`0104f0${'00ff'.repeat(120)}`),
  ]),
  binary('Modbus requests', modbusRtuRequests(), [
    sealed('010300000002'),
    sealed('0110000100020400010002'),
    sealed('01050001ff00'),
  ]),
  text('lines of any end', lines({ terminator: 'auto', lengthMax: 12 }), 12, [
    'OK\r\n',
    'PWR=01\n',
    '\r',
    'x\r',
  ]),
  text('lines that CR ends', lines({ terminator: '\r', lengthMax: 9 }), 9, ['MVMAX 80\r', '\n\r', 'ok\r']),
  text('lines that CRLF ends', lines({ terminator: '\r\n', lengthMax: 6 }), 6, [
    '+OK\r\n',
    '\r\r\n',
    'abcdef\r\n',
  ]),
  text('lines with a prompt', lines({ terminator: 'auto', prompt: ':', lengthMax: 8 }), 8, [
    'PWR=01\r:',
    ':',
  ]),
  text('a prompt after CRLF', lines({ terminator: '\r\n', prompt: '> >', lengthMax: 8 }), 8, [
    'abcdefg\r\n> >',
    '> > >',
    'abcdefg\r> >',
  ]),
  text('NMEA sentences', nmea(), 160, [
    '$GPGLL,4916.45,N,12311.12,W,225444,A,*1D\r\n',
    '$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n',
  ]),
]

type Told = { readonly frame: string } | { readonly kind: FrameErrorKind; readonly length: number }

/** Pushes the chunks, and says what was told; asserts what holds at every step. */
function tellsOf(variant: Variant, chunks: readonly (Uint8Array | 'silence')[]): Told[] {
  const { framing, lengthMax, isBinary } = variant
  const told: Told[] = []
  const framer = framing.create({
    frame(frame) {
      assert.ok(frame.length <= lengthMax, `a frame of ${frame.length} bytes where ${lengthMax} are the most`)
      told.push({ frame: Buffer.from(frame).toString('hex') })
    },
    error: (kind, length) => {
      assert.ok(length > 0, `an error of ${length} bytes`)
      told.push({ kind, length })
    },
  })
  let pushed = 0
  for (const chunk of chunks) {
    if (chunk === 'silence') framer.idle()
    else framer.push(chunk)
    if (chunk !== 'silence') pushed += chunk.length
    assert.ok(framer.held <= framing.frameLengthMax, `${framer.held} bytes are held`)
    if (chunk === 'silence') assert.equal(framer.held, 0, 'bytes are held after a silence')
  }
  framer.idle()
  if (isBinary)
    assert.equal(
      told.reduce((sum, one) => sum + bytesIn(one), 0),
      pushed,
      'bytes are lost',
    )
  return told
}

function bytesIn(one: Told): number {
  return 'frame' in one ? one.frame.length / 2 : one.length
}

/**
 * Bytes given up at one place may be told in parts, as they come, and a part may be junk where the whole is a
 * checksum fault. So what must be the same are the frames, and the number of bytes given up between them.
 */
function merged(told: readonly Told[]): (string | number)[] {
  const sums: (string | number)[] = []
  for (const one of told) {
    const last = sums.at(-1)
    if ('frame' in one) sums.push(one.frame)
    else if (typeof last === 'number') sums[sums.length - 1] = last + one.length
    else sums.push(one.length)
  }
  return sums
}

function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let offset = 0
  for (let index = 0; offset < bytes.length; index += 1) {
    const size = cuts[index % cuts.length] ?? 1
    chunks.push(bytes.subarray(offset, offset + size))
    offset += size
  }
  return chunks
}

function total(variant: Variant): FuzzProperty {
  const { name, sent } = variant
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 })
  const spells = fc.array(nearly(sent), { minLength: 1, maxLength: 3 })
  const property = fc.property(spells, cuts, fc.constantFrom(...sent), (bytes, sizes, good) => {
    const whole = tellsOf(
      variant,
      bytes.flatMap((spell) => [spell, 'silence' as const]),
    )
    const cut = tellsOf(
      variant,
      bytes.flatMap((spell) => [...pieces(spell, sizes), 'silence' as const]),
    )
    const single = tellsOf(
      variant,
      bytes.flatMap((spell) => [...pieces(spell, [1]), 'silence' as const]),
    )
    assert.deepEqual(merged(cut), merged(whole), 'the cuts change what is told')
    assert.deepEqual(merged(single), merged(whole), 'single bytes change what is told')

    const alone = tellsOf(variant, [good])
    const again = tellsOf(variant, [...bytes.flatMap((spell) => [spell, 'silence' as const]), good])
    assert.deepEqual(again.slice(whole.length), alone, 'after a silence a frame is not found again')
  })
  return {
    name: `framer: ${name}`,
    runs: 100,
    check: async (runs) => fc.assert(property, runs),
  }
}

/** Bytes of the shorter input of the two that are compared; more than most frames have. */
const WORK_BYTES_MIN = 800
/** Ten times the bytes cost about ten times the work; what grows with their square costs a hundred times. */
const WORK_GROWTH_MAX = 15

function linear(variant: Variant): FuzzProperty {
  const { name, framing, sent } = variant
  const cuts = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 4 })
  const property = fc.property(nearly(sent), fc.option(cuts), (spell, sizes) => {
    fc.pre(spell.length > 0)
    const short = repeated(spell, Math.ceil(WORK_BYTES_MIN / spell.length))
    const workFor = (bytes: Uint8Array): number => {
      const chunks = sizes === null ? [bytes] : pieces(bytes, sizes)
      const framer = framing.create({ frame: () => {}, error: () => {} })
      return workOf(() => {
        for (const chunk of chunks) framer.push(chunk)
        framer.idle()
      })
    }
    const [once, tenTimes] = [workFor(short), workFor(repeated(short, 10))]
    assert.ok(
      tenTimes <= WORK_GROWTH_MAX * once,
      `${tenTimes} steps for ten times the bytes, ${once} for once`,
    )
  })
  return { name: `framer work: ${name}`, runs: 6, check: async (runs) => fc.assert(property, runs) }
}

function repeated(bytes: Uint8Array, times: number): Uint8Array {
  return Buffer.concat(Array.from({ length: times }, () => bytes))
}

export const FRAMERS: readonly FuzzProperty[] = [...VARIANTS.map(total), ...VARIANTS.map(linear)]
