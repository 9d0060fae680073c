import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc16modbus, sum8, twosComplement8 } from '../../../src/port/framer/checksum.ts'
import { type FrameOptions, frames } from '../../../src/port/framer/frames.ts'
import { bytes, collected, framesIn } from './collected.ts'

function heard(options: FrameOptions, text: string) {
  const { framer, frames: found, errors } = collected(frames(options))
  framer.push(bytes(text))
  return { frames: found, errors, held: framer.held }
}

const fixed: FrameOptions = {
  start: [0xff],
  length: 9,
  checksum: twosComplement8({ from: 1, to: 8 }),
  lengthMax: 256,
}
/** JBD: `dd … 77` with the length of the data at byte 3, and a checksum of our own in the place of theirs. */
const counted: FrameOptions = {
  start: [0xdd],
  length: { at: 3, format: 'uint8', plus: 6 },
  end: [0x77],
  checksum: sum8({ from: 2 }),
  lengthMax: 64,
}
const ended: FrameOptions = { start: [0xaa, 0xb4], end: [0xab], checksum: sum8({ from: 2 }), lengthMax: 20 }

describe('frames of one length', () => {
  test('are found behind noise, a false start and a damaged frame', () => {
    const frame = 'ff 86 02 7c 42 00 00 00 ba'
    expect(heard(fixed, `00 12 ff ${frame}`).frames).toEqual([frame])
    expect(heard(fixed, `ff 86 02 7c 42 00 00 00 bb ${frame}`).frames).toEqual([frame])
  })
})

describe('frames with their length in them', () => {
  test('end where it says, with the end in its place and the checksum before it', () => {
    expect(heard(counted, 'dd 03 00 02 77 77 f0 77').frames).toEqual(['dd 03 00 02 77 77 f0 77'])
    expect(heard(counted, 'dd 03 00 02 77 77 f1 77').frames).toEqual([])
    expect(heard(counted, 'dd 03 00 02 77 77 f0 78').frames).toEqual([])
  })

  test('are none where it is too short for the frame or longer than any', () => {
    expect(heard({ ...counted, length: { at: 3, format: 'uint8', plus: 0 } }, 'dd 03 00 02').held).toBe(0)
    expect(heard(counted, 'dd 03 00 ff').held).toBe(0)
  })

  test('count in two bytes as well, in either order', () => {
    const wide = (format: 'uint16be' | 'uint16le'): FrameOptions => ({
      start: [0x5a],
      length: { at: 1, format, plus: 3 },
      lengthMax: 600,
    })
    const frame = `5a 01 02 ${'00 '.repeat(258)}`.trim()
    expect(heard(wide('uint16be'), frame).frames).toEqual([frame])
    expect(heard(wide('uint16le'), '5a 02 00 07 08').frames).toEqual(['5a 02 00 07 08'])
  })
})

describe('frames with an end', () => {
  test('reach from the start to the first end', () => {
    expect(heard(ended, '01 aa b4 06 01 07 ab aa b4 02 02 ab').frames).toEqual([
      'aa b4 06 01 07 ab',
      'aa b4 02 02 ab',
    ])
  })

  test('that never end are given up at the limit', () => {
    const { frames: found, errors, held } = heard(ended, `aa b4 ${'00 '.repeat(20)}aa b4 02 02 ab`)
    expect(found).toEqual(['aa b4 02 02 ab'])
    expect(errors.length).toBeGreaterThan(0)
    expect(held).toBe(0)
  })
})

test('any bytes in any chunks give the same frames, and no more is held than one', () => {
  const good = ['ff 86 02 7c 42 00 00 00 ba', 'dd 03 00 02 77 77 f0 77', 'aa b4 06 01 07 ab'].map(bytes)
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 30 }),
    fc.constantFrom(...good, bytes('aa b4'), bytes('dd')),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(fixed, counted, ended),
      fc.array(part, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }),
      (options, parts, sizes) => {
        const framing = frames(options)
        const stream = Buffer.concat(parts)
        expect(framesIn(framing, stream, sizes)).toEqual(framesIn(framing, stream, [stream.length + 1]))
        const { framer } = collected(framing)
        framer.push(stream)
        expect(framer.held).toBeLessThanOrEqual(framing.frameLengthMax)
      },
    ),
  )
})

test('two descriptions have one key only if they mean the same', () => {
  const keys = [
    fixed,
    counted,
    ended,
    { ...fixed, checksum: crc16modbus({ from: 0 }) },
    { ...fixed, length: 8 },
  ]
  expect(new Set(keys.map((options) => frames(options).key)).size).toBe(5)
  expect(frames(fixed).key).toBe(frames({ ...fixed }).key)
})
