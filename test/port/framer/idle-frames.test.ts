import { describe, expect, test } from 'vitest'
import { crc16modbus } from '../../../src/port/framer/checksum.ts'
import { idleFrames } from '../../../src/port/framer/idle-frames.ts'
import { bytes, collected } from './collected.ts'

const framing = idleFrames({ idleMs: 40, start: [0x01], checksum: crc16modbus({ from: 0 }), lengthMax: 16 })
// Eastron's protocol description: the answer to the question for the voltage.
const FRAME = '01 04 04 43 66 33 34 1b 38'

describe('a frame that silence ends', () => {
  test('is what came before the silence, in however many pieces', () => {
    const { framer, frames } = collected(framing)
    framer.push(bytes('01 04 04 43'))
    framer.push(bytes('66 33 34 1b 38'))
    expect(frames).toEqual([])
    framer.idle()
    expect(frames).toEqual([FRAME])
    framer.idle()
    expect(frames).toEqual([FRAME])
  })

  test('is counted and dropped if its start or its checksum is wrong', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(bytes('02 04 04 43 66 33 34 28 38'))
    framer.idle()
    framer.push(bytes('01 04 04 43 66 33 35 1b 38'))
    framer.idle()
    expect(frames).toEqual([])
    expect(errors).toEqual([
      { kind: 'form', length: 9 },
      { kind: 'checksum', length: 9 },
    ])
  })

  test('is dropped whole if it is longer than any, and the next one is taken', () => {
    const { framer, frames, errors } = collected(framing)
    framer.push(new Uint8Array(10))
    framer.push(new Uint8Array(10))
    expect(framer.held).toBeGreaterThan(0)
    framer.push(bytes(FRAME))
    framer.idle()
    expect(frames).toEqual([])
    expect(errors).toEqual([
      { kind: 'overflow', length: 20 },
      { kind: 'junk', length: 9 },
    ])
    framer.push(bytes(FRAME))
    framer.idle()
    expect(frames).toEqual([FRAME])
  })

  test('is forgotten with the opening of the port', () => {
    const { framer, frames } = collected(framing)
    framer.push(bytes('01 04'))
    framer.reset()
    framer.push(bytes(FRAME))
    framer.idle()
    expect(frames).toEqual([FRAME])
  })

  test('asks the line for at least its own silence', () => {
    expect(framing.idleMs).toBe(40)
    expect(framing.silenceEndsFrame).toBe(true)
  })
})
