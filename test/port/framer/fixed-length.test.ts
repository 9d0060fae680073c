import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { twosComplement8 } from '../../../src/port/framer/checksum.ts'
import { fixedLength } from '../../../src/port/framer/fixed-length.ts'
import { bytes, collected, framesIn, hex } from './collected.ts'

const checksum = twosComplement8({ from: 1, to: 8 })
const framing = fixedLength({ start: [0xff], length: 9, checksum })
const FRAME = 'ff 86 01 f4 40 00 00 00 45'

describe('a framing of fixed length', () => {
  test('gives the frame, whole and once', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes(FRAME))
    expect(frames).toEqual([FRAME])
    expect(errors).toEqual([])
    expect(framer.held).toBe(0)
  })

  // The sensor that was read shifted by one byte for ever (WifWaf/MH-Z19 issue 25).
  test('finds the frame behind a start byte that is none', () => {
    const { framer, frames } = collected(framing)
    framer.push(bytes(`ff ${FRAME}`))
    expect(frames).toEqual([FRAME])
  })

  // Five bytes that a sensor sends as it wakes up (lewapek/sds-dust-sensors issue 6).
  test('drops what comes before a start as junk', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes('ad 50 10 5e dd'))
    framer.push(bytes(FRAME))
    expect(frames).toEqual([FRAME])
    expect(errors).toEqual([{ kind: 'junk', length: 5 }])
  })

  test('counts a damaged frame once and does not give it', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes('ff 86 01 f4 00 00 00 00 84'))
    expect(frames).toEqual([])
    expect(errors).toEqual([{ kind: 'checksum', length: 9 }])
  })

  test('searches inside a rejected frame: a lost byte costs one frame only', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes(`ff 86 01 f4 40 00 00 45 ${FRAME} ${FRAME}`))
    expect(frames).toEqual([FRAME, FRAME])
    expect(errors).toEqual([{ kind: 'checksum', length: 8 }])
  })

  test('takes a frame whose data and checksum look like a start', () => {
    const frame = hex(checksum.seal(bytes('ff 86 ff ff ff 00 00 00 00')))
    const { framer, frames } = collected(framing)
    framer.push(bytes(`${frame} ${FRAME}`))
    expect(frames).toEqual([frame, FRAME])
  })

  test('holds a partial frame until it is continued', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes('ff 86 01 f4'))
    expect(framer.held).toBe(4)
    framer.push(bytes('40 00 00 00 45'))
    expect(frames).toEqual([FRAME])
    expect(errors).toEqual([])
  })

  test('gives a partial frame up as junk when the line has been silent', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes('ff 86 01 f4'))
    framer.idle()
    framer.push(bytes(FRAME))
    expect(frames).toEqual([FRAME])
    expect(errors).toEqual([{ kind: 'junk', length: 4 }])
  })

  test('forgets a partial frame silently after a reset', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes('ff 86 01 f4'))
    framer.reset()
    framer.push(bytes('40 00 00 00 45'))
    expect(frames).toEqual([])
    expect(errors).toEqual([{ kind: 'junk', length: 5 }])
  })

  test('hands out frames that later input does not overwrite', () => {
    const given: Uint8Array[] = []
    const framer = framing.create({ frame: (frame) => given.push(frame), error: () => {} })
    const chunk = Buffer.from(bytes(FRAME))
    framer.push(chunk)
    chunk.fill(0)
    expect(given.map(hex)).toEqual([FRAME])
  })

  test('finds a start of several bytes across chunks', () => {
    const two = fixedLength({ start: [0xaa, 0xc0], length: 10 })
    const frame = 'aa c0 d4 04 3a 0a a1 60 1d ab'
    expect(framesIn(two, bytes(`aa ${frame} aa aa ${frame}`), [1])).toEqual([frame, frame])
    expect(framesIn(two, bytes(`aa ${frame} aa aa ${frame}`), [2, 1])).toEqual([frame, frame])
  })

  test('has one key for what is framed alike', () => {
    expect(fixedLength({ start: [0xff], length: 9, checksum }).key).toBe(framing.key)
    expect(fixedLength({ start: [0xff], length: 9 }).key).not.toBe(framing.key)
    expect(fixedLength({ start: [0xfe], length: 9, checksum }).key).not.toBe(framing.key)
  })
})

describe('any bytes in any chunks', () => {
  const noise = fc.uint8Array({ maxLength: 12 })
  const frame = fc.uint8Array({ minLength: 7, maxLength: 7 }).map((data) => checksum.seal([0xff, ...data, 0]))
  const startBytes = fc
    .array(fc.constantFrom(0xff, 0x86, 0x00), { maxLength: 12 })
    .map((values) => Uint8Array.from(values))
  const stream = fc
    .array(fc.oneof(noise, frame, startBytes), { maxLength: 12 })
    .map((parts) => Buffer.concat(parts))
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 })

  test('give the same frames, and never hold more than one', () => {
    fc.assert(
      fc.property(stream, sizes, (input, pieces) => {
        expect(framesIn(framing, input, pieces)).toEqual(framesIn(framing, input, [input.length + 1]))
        const { framer, frames, errors } = collected(framing)
        framer.push(input)
        expect(framer.held).toBeLessThan(framing.frameLengthMax)
        framer.idle()
        const counted = 9 * frames.length + errors.reduce((sum, { length }) => sum + length, 0)
        expect(counted).toBe(input.length)
      }),
    )
  })
})
