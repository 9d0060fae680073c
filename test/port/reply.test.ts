import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANY_SHAPE, anyOverlap, type ReplyShape, shapesOverlap, startsWith } from '../../src/port/reply.ts'

/** Modbus replies by the serial line specification: unit, function, byte count; an exception is unit, function | 0x80. */
const unit1Read1 = startsWith([0x01, 0x03, 0x02], 7)
const unit1Read2 = startsWith([0x01, 0x03, 0x04], 9)
const unit2Read1 = startsWith([0x02, 0x03, 0x02], 7)
const unit1Exception = startsWith([0x01, 0x83], 5)

describe('reply shapes', () => {
  it('tells units, functions and lengths apart', () => {
    expect(shapesOverlap(unit1Read1, unit2Read1)).toBe(false)
    expect(shapesOverlap(unit1Read1, unit1Read2)).toBe(false)
    expect(shapesOverlap(unit1Read1, unit1Exception)).toBe(false)
  })

  it('cannot tell two reads of one register each apart: the reply names no register', () => {
    expect(shapesOverlap(unit1Read1, startsWith([0x01, 0x03, 0x02], 7))).toBe(true)
  })

  it('finds the exception that two reads of different length share', () => {
    expect(anyOverlap([unit1Read1, unit1Exception], [unit1Read2, unit1Exception])).toBe(true)
    expect(anyOverlap([unit1Read1], [unit1Read2])).toBe(false)
  })

  it('takes any frame for any other where a reply names nothing', () => {
    expect(shapesOverlap(ANY_SHAPE, unit1Read1)).toBe(true)
    expect(shapesOverlap(ANY_SHAPE, ANY_SHAPE)).toBe(true)
  })

  it('knows that a short frame has no room for a byte far behind', () => {
    const short: ReplyShape = { length: 2, bytes: [] }
    expect(shapesOverlap(short, { bytes: [[5, 0x41]] })).toBe(false)
    expect(shapesOverlap(short, { bytes: [[1, 0x41]] })).toBe(true)
  })

  it('agrees with trying every frame of up to three bytes over a small alphabet', () => {
    const shape: fc.Arbitrary<ReplyShape> = fc.record(
      {
        length: fc.integer({ min: 0, max: 3 }),
        bytes: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1 })), {
          selector: ([offset]) => offset,
          maxLength: 3,
        }),
      },
      { requiredKeys: ['bytes'] },
    )
    const frames = Array.from({ length: 5 }, (_, length) =>
      Array.from({ length: 2 ** length }, (_, bits) =>
        Array.from({ length }, (_, index) => (bits >> index) & 1),
      ),
    ).flat()
    const fits = (frame: number[], { length, bytes }: ReplyShape) =>
      (length === undefined || frame.length === length) &&
      bytes.every(([offset, value]) => frame[offset] === value)
    fc.assert(
      fc.property(shape, shape, (one, other) => {
        expect(shapesOverlap(one, other)).toBe(frames.some((frame) => fits(frame, one) && fits(frame, other)))
      }),
      { numRuns: 2_000 },
    )
  })
})
