import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../src/driver/device-type.ts'
import { hasShape } from '../../src/driver/exchange.ts'
import {
  readBits,
  readRegisters,
  writeCoil,
  writeCoils,
  writeRegister,
  writeRegisters,
} from '../../src/driver/modbus.ts'
import { crc16modbus } from '../../src/port/framer/checksum.ts'
import { anyOverlap } from '../../src/port/reply.ts'
import { bytes, hex } from '../port/framer/collected.ts'

const seal = (body: string) => hex(crc16modbus({ from: 0 }).seal(bytes(`${body} 00 00`)))

function verdict(exchange: Exchange<unknown>, frame: string) {
  return exchange.reply?.match(bytes(frame))
}

describe('requests', () => {
  test.each([
    // Eastron's manual; frames on the wire in reaper7/SDM_Energy_Meter issue 59 and esphome issue 3912.
    ['01 04 00 00 00 02 71 cb', readRegisters({ unit: 1, kind: 'input', address: 0, count: 2 })],
    ['01 04 00 46 00 02 90 1e', readRegisters({ unit: 1, kind: 'input', address: 0x46, count: 2 })],
    ['03 04 00 00 00 50 f1 d4', readRegisters({ unit: 3, kind: 'input', address: 0, count: 80 })],
    ['f8 03 00 02 00 01 31 a3', readRegisters({ unit: 0xf8, kind: 'holding', address: 2, count: 1 })],
    ['01 01 00 00 00 08 3d cc', readBits({ unit: 1, kind: 'coil', address: 0, count: 8 })],
    // The relay boards of Waveshare.
    ['01 05 00 00 ff 00 8c 3a', writeCoil({ unit: 1, address: 0, value: true })],
    ['01 05 00 00 00 00 cd ca', writeCoil({ unit: 1, address: 0, value: false })],
    ['01 05 00 00 55 00 f2 9a', writeCoil({ unit: 1, address: 0, value: 'toggle' })],
    ['01 05 00 ff ff 00 bc 0a', writeCoil({ unit: 1, address: 0xff, value: true })],
    ['01 0f 00 00 00 08 01 ff be d5', writeCoils({ unit: 1, address: 0, values: new Array(8).fill(true) })],
    ['01 06 00 01 08 fc df 8b', writeRegister({ unit: 1, address: 1, value: 2300 })],
    // The example of the Modbus specification, function 10.
    [
      seal('11 10 00 01 00 02 04 00 0a 01 02'),
      writeRegisters({ unit: 0x11, address: 1, values: [0x0a, 0x102] }),
    ],
    [seal('11 02 00 c4 00 16'), readBits({ unit: 0x11, kind: 'discrete', address: 0xc4, count: 22 })],
  ])('%s', (frame, exchange) => {
    expect(hex(exchange.request)).toBe(frame)
  })
})

describe('the reply to a read', () => {
  const read = readRegisters({ unit: 1, kind: 'input', address: 0, count: 2 })

  test('gives the registers', () => {
    expect(verdict(read, '01 04 04 43 66 33 34 1b 38')).toEqual({ kind: 'value', value: [0x4366, 0x3334] })
  })

  test('gives the bits, the least significant first, and no more than were asked for', () => {
    const coils = readBits({ unit: 1, kind: 'coil', address: 0, count: 3 })
    expect(verdict(coils, '01 01 01 05 91 8b')).toEqual({ kind: 'value', value: [true, false, true] })
    // The example of the specification: inputs 197 to 218.
    const inputs = readBits({ unit: 0x11, kind: 'discrete', address: 0xc4, count: 22 })
    const reply = verdict(inputs, seal('11 02 03 ac db 35'))
    const bits = [...'0011010111011011101011'].map((bit) => bit === '1')
    expect(reply?.kind === 'value' && (reply.value as boolean[])).toEqual(bits)
  })

  test.each([
    ['another unit', '02 04 04 43 66 33 34 28 38'],
    ['another function', seal('01 03 04 43 66 33 34')],
    ['another length', seal('01 04 02 43 66')],
    ['its own echo', '01 04 00 00 00 02 71 cb'],
    ['the exception of another function', seal('01 83 02')],
    ['nothing', ''],
  ])('is not %s', (_, frame) => {
    expect(verdict(read, frame)).toBeUndefined()
  })
})

describe('an exception', () => {
  test.each([
    [1, true],
    [2, true],
    [3, true],
    [4, false],
    [5, false],
    [8, false],
    [11, false],
    [0x99, false],
  ])('%d proves that nothing was done: %s', (code, provenNotDone) => {
    const frame = seal(`01 86 ${hex(Uint8Array.of(code))}`)
    expect(verdict(writeRegister({ unit: 1, address: 0, value: 1 }), frame)).toMatchObject({
      kind: 'refused',
      deviceCode: code,
      provenNotDone,
    })
  })

  test('6 means busy', () => {
    expect(verdict(writeRegister({ unit: 1, address: 0, value: 1 }), seal('01 86 06'))).toMatchObject({
      kind: 'busy',
    })
  })

  test('ends a read at once', () => {
    const read = readRegisters({ unit: 1, kind: 'input', address: 0, count: 2 })
    expect(verdict(read, '01 84 02 c2 c1')).toMatchObject({ kind: 'refused', deviceCode: 2 })
  })
})

describe('the acknowledgement of a write', () => {
  test('is everything that the device repeats', () => {
    const on = writeCoil({ unit: 1, address: 0, value: true })
    expect(verdict(on, '01 05 00 00 ff 00 8c 3a')).toEqual({ kind: 'value', value: true })
    // A valid frame of the wrong content: switched off, another coil, another unit.
    expect(verdict(on, '01 05 00 00 00 00 cd ca')).toBeUndefined()
    expect(verdict(on, seal('01 05 00 01 ff 00'))).toBeUndefined()
    expect(verdict(on, seal('02 05 00 00 ff 00'))).toBeUndefined()
  })

  test('of many is their address and their count', () => {
    const all = writeCoils({ unit: 1, address: 0, values: new Array(8).fill(true) })
    expect(verdict(all, '01 0f 00 00 00 08 54 0d')).toEqual({ kind: 'value', value: true })
    expect(verdict(all, seal('01 0f 00 00 00 07'))).toBeUndefined()
  })

  test('of a broadcast does not exist', () => {
    expect(writeRegister({ unit: 0, address: 0x4000, value: 1 }).reply).toBeNull()
    expect(hex(writeRegister({ unit: 0, address: 0x4000, value: 1 }).request)).toBe('00 06 40 00 00 01 5c 1b')
  })
})

const unit = fc.integer({ min: 1, max: 4 })
const address = fc.integer({ min: 0, max: 3 })
const exchange: fc.Arbitrary<Exchange<unknown>> = fc.oneof(
  fc
    .record({ unit, kind: fc.constantFrom('holding' as const, 'input' as const), address, count: unit })
    .map(readRegisters),
  fc
    .record({ unit, kind: fc.constantFrom('coil' as const, 'discrete' as const), address, count: unit })
    .map(readBits),
  fc.record({ unit, address, value: fc.constantFrom(true, false, 'toggle' as const) }).map(writeCoil),
  fc.record({ unit, address, value: fc.integer({ min: 0, max: 2 }) }).map(writeRegister),
  fc
    .record({ unit, address, values: fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }) })
    .map(writeCoils),
)
const nearFrame = fc.oneof(
  exchange.map((one) => one.request),
  fc
    .tuple(unit, fc.constantFrom(1, 2, 3, 4, 5, 6, 15, 0x81, 0x83, 0x85), fc.uint8Array({ maxLength: 10 }))
    .map(([one, code, rest]) => Uint8Array.from([one, code, ...rest])),
  fc
    .tuple(
      unit,
      fc.constantFrom(1, 2, 3, 4),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 255 }),
    )
    .map(([one, code, count, fill]) =>
      Uint8Array.from([one, code, count, ...new Array(count + 2).fill(fill)]),
    ),
)

test('shapes are never narrower than what is matched', () => {
  fc.assert(
    fc.property(exchange, nearFrame, ({ reply }, frame) => {
      if (!reply?.match(frame)) return
      expect(reply.shapes.some((shape) => hasShape(frame, shape))).toBe(true)
    }),
    { numRuns: 3000 },
  )
})

test('two requests whose shapes do not overlap never take one frame both', () => {
  fc.assert(
    fc.property(exchange, exchange, nearFrame, (one, other, frame) => {
      if (!one.reply || !other.reply || anyOverlap(one.reply.shapes, other.reply.shapes)) return
      expect(one.reply.match(frame) !== undefined && other.reply.match(frame) !== undefined).toBe(false)
    }),
    { numRuns: 3000 },
  )
})

test('reads of one unit, function and length overlap, and others do not', () => {
  const read = (unit: number, count: number) =>
    readRegisters({ unit, kind: 'holding', address: 7, count }).reply?.shapes ?? []
  const replyOf = (shapes: ReturnType<typeof read>) => shapes.slice(0, 1)
  expect(anyOverlap(replyOf(read(1, 2)), replyOf(read(1, 2)))).toBe(true)
  expect(anyOverlap(replyOf(read(1, 2)), replyOf(read(1, 3)))).toBe(false)
  expect(anyOverlap(read(1, 2), read(2, 2))).toBe(false)
})
