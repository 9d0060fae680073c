import { describe, expect, test } from 'vitest'
import { crc16modbus, crc16modbusOf, sum8, twosComplement8, xor8 } from '../../../src/port/framer/checksum.ts'
import { bytes, hex } from './collected.ts'

const DIGITS = Buffer.from('123456789')

describe('crc16modbus', () => {
  test('has the check value of CRC-16/MODBUS', () => {
    expect(crc16modbusOf(DIGITS)).toBe(0x4b37)
  })

  test('stands at the end of the frame, low byte first', () => {
    const crc = crc16modbus({ from: 0 })
    expect(hex(crc.seal([...DIGITS, 0, 0]))).toBe(`${hex(DIGITS)} 37 4b`)
    // Eastron's own example of a request and its answer.
    expect(crc.matches(bytes('01 04 00 00 00 02 71 cb'))).toBe(true)
    expect(crc.matches(bytes('01 04 04 43 66 33 34 1b 38'))).toBe(true)
    expect(crc.matches(bytes('01 04 04 43 66 33 35 1b 38'))).toBe(false)
    expect(crc.matches(bytes('01 04 00 00 00 02 cb 71'))).toBe(false)
  })

  test('is not in a frame that is too short for it', () => {
    const crc = crc16modbus({ from: 0 })
    expect(crc.matches(bytes(''))).toBe(false)
    expect(crc.matches(bytes('ff'))).toBe(false)
  })
})

describe('twosComplement8', () => {
  const checksum = twosComplement8({ from: 1, to: 8 })

  // Commands of the MH-Z19 from its manual, and two answers of a real sensor (capture: PyPMS).
  test.each([
    'ff 01 86 00 00 00 00 00 79',
    'ff 01 79 a0 00 00 00 00 e6',
    'ff 01 88 07 d0 00 00 00 a0',
    'ff 01 99 00 00 00 13 88 cb',
    'ff 86 02 7c 42 00 00 00 ba',
    'ff 86 02 7b 42 00 00 00 bb',
  ])('is right in %s', (frame) => {
    expect(checksum.matches(bytes(frame))).toBe(true)
    const damaged = bytes(frame)
    damaged[3] = (damaged[3] ?? 0) ^ 1
    expect(checksum.matches(damaged)).toBe(false)
    expect(hex(checksum.seal(damaged.with(3, bytes(frame)[3] ?? 0).with(8, 0)))).toBe(frame)
  })

  test('is false for a frame that ends before it', () => {
    expect(checksum.matches(bytes('ff 86 01 f4'))).toBe(false)
  })
})

describe('sum8', () => {
  test('adds bytes 2 to 7 of an SDS011 frame, whose tail stands behind it', () => {
    const checksum = sum8({ from: 2, to: 8 })
    // capture: PyPMS
    expect(checksum.matches(bytes('aa c0 d4 04 3a 0a a1 60 1d ab'))).toBe(true)
    expect(checksum.matches(bytes('aa c0 d4 04 3a 0a a1 60 00 ab'))).toBe(false)
  })

  test('wraps at eight bits, as the relay boards of LCUS have it', () => {
    expect(hex(sum8({ from: 0, to: 3 }).seal([0xa0, 0x02, 0x01, 0]))).toBe('a0 02 01 a3')
    expect(hex(sum8({ from: 0, to: 3 }).seal([0xff, 0xff, 0x03, 0]))).toBe('ff ff 03 01')
  })
})

test('xor8 is the checksum between $ and * of an NMEA sentence', () => {
  // capture: SignalK
  const sentence = 'GPRMC,085412.000,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A'
  const checksum = xor8({ from: 0, to: sentence.length })
  expect(checksum.matches(Buffer.concat([Buffer.from(sentence), bytes('65')]))).toBe(true)
  expect(checksum.matches(Buffer.concat([Buffer.from(sentence), bytes('64')]))).toBe(false)
})

test('a range that cannot be is refused when it is declared', () => {
  expect(() => sum8({ from: 4, to: 2 })).toThrow('range')
})
