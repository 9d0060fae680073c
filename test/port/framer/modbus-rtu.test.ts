import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc16modbus } from '../../../src/port/framer/checksum.ts'
import { modbusRtu, modbusRtuRequests } from '../../../src/port/framer/modbus-rtu.ts'
import { bytes, collected, framesIn, hex } from './collected.ts'

const seal = (body: ArrayLike<number>) => crc16modbus({ from: 0 }).seal([...Array.from(body), 0, 0])

describe('replies', () => {
  test.each([
    ['three registers of a float, from the Eastron manual', '01 04 04 43 66 33 34 1b 38'],
    // capture: esphome/feature-requests issue 49
    ['ten registers', '01 04 14 08 d1 00 6c 00 00 00 f4 00 00 00 26 00 00 01 f4 00 64 00 00 51 34'],
    ['a bitmap of coils', '01 01 01 05 91 8b'],
    ['the echo of a written coil', '01 05 00 00 ff 00 8c 3a'],
    ['the echo of a toggled coil', '01 05 00 00 55 00 f2 9a'],
    ['the echo of a written register', '01 06 00 01 08 fc df 8b'],
    ['the count of written coils', '01 0f 00 00 00 08 54 0d'],
    ['an exception', '01 84 02 c2 c1'],
    ['the exception of a write', '01 85 03 02 91'],
    ['the energy reset of a PZEM', '01 42 80 11'],
    ['the failure of that reset', '01 c2 01 b0 a0'],
    // capture: esphome issue 2444; the sensor answers as unit FE
    ['a reply of unit FE', 'fe 04 08 00 00 00 00 00 01 02 13 06 77'],
  ])('take %s', (_, frame) => {
    const { framer, frames, errors } = collected(modbusRtu())
    framer.push(bytes(frame))
    expect(frames).toEqual([frame])
    expect(errors).toEqual([])
  })

  test('come out of one chunk one by one', () => {
    const { framer, frames } = collected(modbusRtu())
    framer.push(bytes('02 03 04 00 ec 00 00 08 c6 02 03 04 00 ec 00 00 08 c6'))
    expect(frames).toEqual(['02 03 04 00 ec 00 00 08 c6', '02 03 04 00 ec 00 00 08 c6'])
  })

  test('that are damaged are counted and not given', () => {
    const { framer, frames, errors } = collected(modbusRtu())
    framer.push(bytes('01 04 04 43 66 33 35 1b 38'))
    framer.idle()
    expect(frames).toEqual([])
    expect(errors[0]?.kind).toBe('checksum')
  })

  test('are found behind noise from the turn of the line', () => {
    for (const noise of ['00', 'ff', '00 00', '01 03', 'ff 01']) {
      const { framer, frames } = collected(modbusRtu())
      framer.push(bytes(`${noise} 01 04 04 43 66 33 34 1b 38`))
      framer.idle()
      expect(frames, noise).toEqual(['01 04 04 43 66 33 34 1b 38'])
    }
  })

  test('cut off in the middle are given up in silence, and the next one is clean', () => {
    const { framer, frames, errors } = collected(modbusRtu())
    framer.push(bytes('01 04 14 08 d1 00 6c 00 00 00 f4 00 00 00 26 00 00 01 f4 00'))
    expect(framer.held).toBe(20)
    framer.idle()
    expect(framer.held).toBe(0)
    expect(errors).toEqual([{ kind: 'junk', length: 20 }])
    framer.push(bytes('01 04 04 43 66 33 34 1b 38'))
    expect(frames).toEqual(['01 04 04 43 66 33 34 1b 38'])
  })

  test('hidden behind an echo that looks like the start of one are found in silence', () => {
    const { framer, frames } = collected(modbusRtu())
    framer.push(bytes('01 04 00 00 00 02 71 cb 01 04 04 43 66 33 34 1b 38'))
    framer.idle()
    expect(frames).toEqual(['01 04 04 43 66 33 34 1b 38'])
  })

  test('longer than the standard allows are no candidates', () => {
    const { framer, errors } = collected(modbusRtu())
    framer.push(bytes('01 03 fc'))
    expect(errors).toEqual([{ kind: 'junk', length: 2 }])
    expect(framer.held).toBe(1)
  })
})

describe('requests', () => {
  test.each([
    '01 04 00 00 00 02 71 cb',
    '03 04 00 00 00 50 f1 d4',
    '01 05 00 00 55 00 f2 9a',
    '01 0f 00 00 00 08 01 ff be d5',
    '00 06 40 00 00 01 5c 1b',
    '01 42 80 11',
  ])('take %s', (frame) => {
    expect(framesIn(modbusRtuRequests(), bytes(frame), [1])).toEqual([frame])
  })

  test('have the length that their own count says', () => {
    const write = hex(seal([1, 0x10, 0, 0, 0, 2, 4, 1, 2, 3, 4]))
    expect(framesIn(modbusRtuRequests(), bytes(`${write} ${write}`), [3])).toEqual([write, write])
  })
})

describe('any bytes in any chunks', () => {
  const reply = fc
    .tuple(
      fc.integer({ min: 1, max: 247 }),
      fc.constantFrom(3, 4),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 125 }),
    )
    .map(([unit, code, words]) =>
      seal([unit, code, 2 * words.length, ...words.flatMap((word) => [word >> 8, word & 0xff])]),
    )
  const echo = fc
    .tuple(
      fc.constantFrom(1, 2),
      fc.constantFrom(5, 6, 15, 16),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
    )
    .map(([unit, code, data]) => seal([unit, code, ...data]))
  const likely = fc
    .array(fc.constantFrom(0, 1, 2, 3, 4, 5, 0x83, 0xff), { maxLength: 30 })
    .map((values) => Uint8Array.from(values))
  const part = fc.oneof(reply, echo, likely, fc.uint8Array({ maxLength: 300 }))
  const stream = fc.array(part, { maxLength: 6 }).map((parts) => Buffer.concat(parts))
  const sizes = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 5 })

  test('give the same frames, and never hold more than one', () => {
    fc.assert(
      fc.property(stream, sizes, (input, pieces) => {
        for (const framing of [modbusRtu(), modbusRtuRequests()]) {
          expect(framesIn(framing, input, pieces)).toEqual(framesIn(framing, input, [input.length + 1]))
          const { framer, frames, errors } = collected(framing)
          framer.push(input)
          expect(framer.held).toBeLessThan(framing.frameLengthMax)
          framer.idle()
          expect(framer.held).toBe(0)
          const taken = frames.reduce((sum, frame) => sum + bytes(frame).length, 0)
          const lost = errors.reduce((sum, { length }) => sum + length, 0)
          expect(taken + lost).toBe(input.length)
        }
      }),
    )
  })

  test('lose no frame that stands alone on a silent line', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.oneof(reply, echo), (noise, frame) => {
        const { framer, frames } = collected(modbusRtu())
        framer.push(noise)
        framer.idle()
        framer.push(frame)
        expect(frames.at(-1)).toBe(hex(frame))
      }),
    )
  })
})

test('a stream made to be searched at every byte costs a bounded time for each', () => {
  const hostile = new Uint8Array(300_000).map((_, index) => [3, 3, 250][index % 3] ?? 0)
  const { framer } = collected(modbusRtu())
  const start = performance.now()
  for (let offset = 0; offset < hostile.length; offset += 64)
    framer.push(hostile.subarray(offset, offset + 64))
  expect(performance.now() - start).toBeLessThan(8_000)
  expect(framer.held).toBeLessThan(256)
})
