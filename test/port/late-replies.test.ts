import { describe, expect, it } from 'vitest'
import { LATE_REPLIES_MAX } from '../../src/limits.ts'
import { LATE_QUIET_MS, LateReplies } from '../../src/port/late-replies.ts'
import { type ReplyMatcher, startsWith } from '../../src/port/reply.ts'

function readOfOneRegister(unit: number): ReplyMatcher<number> {
  return {
    shapes: [startsWith([unit, 0x03, 0x02], 7)],
    match: (frame) =>
      frame[0] === unit && frame[1] === 3 ? (frame[3] ?? 0) * 256 + (frame[4] ?? 0) : undefined,
  }
}

/** The reply that came 200 ms after its timeout in pymodbus issue 2636: register 0 is 17. */
const lateSeventeen = Uint8Array.from([0x01, 0x03, 0x02, 0x00, 0x11, 0x78, 0x48])
const unit1 = readOfOneRegister(1)
const unit2 = readOfOneRegister(2)

describe('the list of replies that may still come', () => {
  it('holds back a request that could take one of them, until its time is over', () => {
    const list = new LateReplies()
    list.add(unit1, 2_000)
    expect(list.blockedUntil(unit1.shapes, 500)).toBe(2_000)
    expect(list.blockedUntil(unit1.shapes, 1_999)).toBe(2_000)
    expect(list.blockedUntil(unit1.shapes, 2_000)).toBe(0)
    expect(list.size).toBe(0)
  })

  it('lets every other request go', () => {
    const list = new LateReplies()
    list.add(unit1, 2_000)
    expect(list.blockedUntil(unit2.shapes, 500)).toBe(0)
  })

  it('recognises the late reply, and is free after a short silence', () => {
    const list = new LateReplies()
    list.add(unit1, 2_000)
    expect(list.recognise(lateSeventeen, 700)).toBe(true)
    expect(list.blockedUntil(unit1.shapes, 700)).toBe(700 + LATE_QUIET_MS)
    expect(list.blockedUntil(unit1.shapes, 700 + LATE_QUIET_MS)).toBe(0)
  })

  it('waits for the whole window when the same reply comes a second time', () => {
    const list = new LateReplies()
    list.add(unit1, 2_000)
    list.recognise(lateSeventeen, 700)
    expect(list.recognise(lateSeventeen, 750)).toBe(true)
    expect(list.recognise(lateSeventeen, 800)).toBe(true)
    expect(list.blockedUntil(unit1.shapes, 800)).toBe(2_000)
  })

  it('knows nothing of a frame that nobody asked for', () => {
    const list = new LateReplies()
    list.add(unit2, 2_000)
    expect(list.recognise(lateSeventeen, 700)).toBe(false)
  })

  it('says when it shrinks by itself', () => {
    const list = new LateReplies()
    expect(list.nextEnd()).toBeUndefined()
    list.add(unit1, 2_000)
    list.add(unit2, 1_500)
    expect(list.nextEnd()).toBe(1_500)
  })

  it('beyond its bound holds back everything rather than forgetting something', () => {
    const list = new LateReplies()
    for (let index = 0; index < LATE_REPLIES_MAX; index += 1) list.add(unit1, 1_000)
    list.add(unit1, 5_000)
    expect(list.size).toBe(LATE_REPLIES_MAX)
    expect(list.blockedUntil(unit2.shapes, 0)).toBe(5_000)
  })
})
