import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nmea } from '../../../src/port/framer/nmea.ts'
import { collected, framesIn } from './collected.ts'

// capture: SignalK nmea0183-signalk
const RMC = '$GPRMC,085412.000,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A*65'
// capture: pynmea2
const GGA = '$GPGGA,184353.07,1929.045,S,02410.506,E,1,04,2.6,100.00,M,-33.9,M,,0000*6D'

function heard(text: string) {
  const { framer, frames, errors } = collected(nmea())
  framer.push(Buffer.from(text, 'latin1'))
  const texts = frames.map((frame) => Buffer.from(frame.replaceAll(' ', ''), 'hex').toString('latin1'))
  return { texts, errors }
}

describe('a sentence', () => {
  test('is published without its line end', () => {
    expect(heard(`${RMC}\r\n${GGA}\r\n`)).toEqual({ texts: [RMC, GGA], errors: [] })
  })

  test('may have more than the standard’s 82 characters', () => {
    const long = '$GPGGA,172814.0,3723.46587704,N,12202.26957864,W,2,6,1.2,18.893,M,-25.669,M,2.0,0031*4F'
    expect(heard(`${long}\r\n`).texts).toEqual([long])
  })

  test('is counted and dropped if its checksum is wrong or missing', () => {
    expect(heard(`${RMC.replace('*65', '*64')}\r\n`)).toEqual({
      texts: [],
      errors: [{ kind: 'checksum', length: RMC.length }],
    })
    const unchecked = RMC.slice(0, -3)
    expect(heard(`${unchecked}\r\n`)).toEqual({
      texts: [],
      errors: [{ kind: 'form', length: unchecked.length }],
    })
  })

  test('is found behind the rest of another that lost its end', () => {
    expect(heard(`$GPRMC,0854${GGA}\r\n`)).toEqual({ texts: [GGA], errors: [{ kind: 'junk', length: 11 }] })
    expect(heard(`54.5784,E,0.58*65\r\n${GGA}\r\n`).texts).toEqual([GGA])
  })

  test('that was damaged anywhere in its data is never published', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: RMC.length - 4 }),
        fc.integer({ min: 1, max: 255 }),
        (at, bits) => {
          const bytes = Buffer.from(`${RMC}\r\n`, 'latin1')
          bytes[at] = (bytes[at] ?? 0) ^ bits
          expect(framesIn(nmea(), bytes, [bytes.length])).toEqual([])
        },
      ),
    )
  })
})
