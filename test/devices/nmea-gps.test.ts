import { describe, expect, test } from 'vitest'
import gps from '../../devices/nmea-gps.ts'
import { gradeOf, obstaclesTo } from '../../src/driver/contract.ts'
import { pushedFields } from '../../src/driver/contract-vectors.ts'

const device = gps.describe({})
const checked = (data: string) => {
  const sum = [...Buffer.from(data)].reduce((all, byte) => all ^ byte, 0)
  return `$${data}*${sum.toString(16).padStart(2, '0')}\r\n`
}

/** What the tool answers after these sentences. */
function position(...sentences: readonly string[]) {
  return device.tools.get_position?.get?.(pushedFields(device, { text: sentences.join('') }), {})
}

// capture: SignalK nmea0183-signalk
const RMC = '$GPRMC,085412.000,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A*65\r\n'
const GGA = '$GPGGA,172814.0,3723.46587704,N,12202.26957864,W,2,6,1.2,18.893,M,-25.669,M,2.0,0031*4F\r\n'
// capture: pynmea2
const SOUTH = '$GPGGA,184353.07,1929.045,S,02410.506,E,1,04,2.6,100.00,M,-33.9,M,,0000*6D\r\n'
const EMPTY = '$GPGGA,,,,,,,,,,,,,,*56\r\n'
const NOWHERE = {
  latitude: null,
  longitude: null,
  altitude: null,
  speed: null,
  course: null,
  satellites: null,
  fix: 'none',
}

describe('the position', () => {
  test('comes from RMC with speed and course', () => {
    expect(position(RMC)).toEqual({
      ...NOWHERE,
      latitude: 52.371997,
      longitude: 4.90964,
      speed: 0.58,
      course: 251.34,
      fix: 'gps',
    })
  })

  test('comes from GGA with altitude and satellites', () => {
    expect(position(GGA)).toEqual({
      ...NOWHERE,
      latitude: 37.391097951,
      longitude: -122.037826311,
      altitude: 18.893,
      satellites: 6,
      fix: 'dgps',
    })
    expect(position(SOUTH)).toMatchObject({ latitude: -19.484083, longitude: 24.1751, altitude: 100 })
  })

  test('has no number of satellites where the field counts nothing', () => {
    const gga = (count: string) =>
      position(checked(`GPGGA,184353.07,1929.045,S,02410.506,E,1,${count},2.6,100.00,M,-33.9,M,,0000`))
    expect(gga('04')).toMatchObject({ satellites: 4, altitude: 100 })
    expect(gga('2.6')).toMatchObject({ satellites: null, altitude: 100 })
    expect(gga('-4')).toMatchObject({ satellites: null, altitude: 100 })
  })

  test('is put together from what each sentence says', () => {
    expect(position(GGA, RMC)).toMatchObject({
      latitude: 52.371997,
      altitude: 18.893,
      satellites: 6,
      speed: 0.58,
    })
  })

  test.each(['GP', 'GN', 'GL', 'GA'])('comes from the talker %s', (talker) => {
    expect(
      position(checked(`${talker}RMC,1,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A`)),
    ).toMatchObject({
      latitude: 52.371997,
    })
  })

  test('has speed and course from VTG', () => {
    expect(position(checked('GNVTG,54.7,T,34.4,M,5.5,N,10.2,K,A'))).toMatchObject({
      course: 54.7,
      speed: 5.5,
    })
    expect(position(RMC, checked('GNVTG,,T,,M,,N,,K,N'))).toMatchObject({ course: null, speed: null })
  })

  // By hand: 34.49795459 / 60 = 0.5749659098, 45.03431408 / 60 = 0.7505719013; 51.0093 / 60 = 0.850155.
  test('is as fine as the sentence, a tenth of a millimetre at most', () => {
    // capture: gpsd, a Trimble receiver with a base station
    const base = '$GNRMC,132819.60,A,4134.49795459,N,09345.03431408,W,0.148,124.888,180320,11.5985,E,D*3F\r\n'
    expect(position(base)).toMatchObject({ latitude: 41.57496591, longitude: -93.750571901 })
    // capture: gpsd, a Zeus plotter on board
    const coarse = '$GPRMC,094737,A,5251.0093,N,00518.8170,E,5.6,230.5,200818,1.4,E,A*1F\r\n'
    expect(position(coarse)).toMatchObject({ latitude: 52.850155, longitude: 5.313617 })
  })

  test('is unknown before anything was heard', () => {
    expect(position()).toEqual(NOWHERE)
  })
})

describe('without a fix there is no position', () => {
  test('when the fields are empty', () => {
    expect(position(EMPTY)).toEqual(NOWHERE)
    expect(position(GGA, RMC, EMPTY)).toEqual(NOWHERE)
  })

  test('when the status of RMC says so, whatever stands beside it', () => {
    const void_ = checked('GPRMC,085412.000,V,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,N')
    expect(position(GGA, void_)).toEqual({ ...NOWHERE, satellites: 6 })
    const old = checked('GPRMC,085412.000,V,5222.3198,N,00454.5784,E,0.58,251.34,030414,,')
    expect(position(RMC, old)).toEqual(NOWHERE)
  })

  test('when GSA says so, or the quality of GGA is 0', () => {
    expect(position(RMC, checked('GPGSA,A,1,,,,,,,,,,,,,,,'))).toEqual(NOWHERE)
    expect(position(RMC, checked('GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1'))).toEqual(position(RMC))
    expect(position(checked('GPGGA,1,3723.4658,N,12202.2695,W,0,00,99,,M,,M,,'))).toEqual({
      ...NOWHERE,
      satellites: 0,
    })
  })

  test('when the position is none', () => {
    for (const place of [
      '9222.3,N,00454.5,E',
      '5260.0,N,00454.5,E',
      '5222.3,X,00454.5,E',
      '5222.3,N,18100.0,E',
    ]) {
      expect(position(checked(`GPRMC,1,A,${place},0.58,251.34,030414,,,A`)), place).toEqual(NOWHERE)
    }
  })
})

describe('what is no word on the position', () => {
  test('leaves it as it was', () => {
    const others = [
      RMC.replace('*65', '*64'),
      checked('GPGSV,3,1,11,03,03,111,00,04,15,270,00,06,01,010,00,13,06,292,00'),
      checked('PGRMC,A,0,100,,,,,,A,3,1,2,4,30'),
      checked('GPGGA,1'),
      checked('GPRMC'),
    ]
    expect(position(RMC, ...others)).toEqual(position(RMC))
    expect(pushedFields(device, { text: others.join('') })).toEqual({})
  })
})

test('the tool asks nothing of the device', () => {
  const { get_position } = device.tools
  expect(get_position).toMatchObject({ effect: 'read', parallelSafe: true })
  expect(get_position?.exchange).toBeUndefined()
  expect(get_position?.run).toBeUndefined()
  expect(device.poll).toBeUndefined()
  expect(device.pushed?.silenceMs).toBe(5000)
})

test('the simulated receiver pushes every second, and loses its fix at the end of a round', () => {
  const log: unknown[] = []
  const sent: Uint8Array[] = []
  let nowMs = 0
  let tick = () => {}
  let everyMs = 0
  device.simulator?.({
    now: () => nowMs,
    random: () => 0.5,
    executed: (command, detail) => log.push([command, detail]),
    send: (bytes) => sent.push(bytes),
    every: (intervalMs, callback) => {
      everyMs = intervalMs
      tick = callback
    },
  })
  const at = (ms: number) => {
    nowMs = ms
    sent.length = 0
    tick()
    return position(Buffer.concat(sent).toString('latin1')) as { latitude: number | null; fix: string }
  }
  expect(everyMs).toBe(1000)
  expect(at(0)).toMatchObject({ latitude: 52.371997, satellites: 8, fix: 'gps' })
  expect(at(150_000).latitude).not.toBe(at(0).latitude)
  expect(at(590_000)).toEqual({ ...NOWHERE, satellites: 0 })
  expect(log.slice(-1)).toEqual([['position', { hasFix: false }]])
})

test('it is a platinum type, which says what has no class in Home Assistant', async () => {
  expect(await obstaclesTo('platinum', gps)).toEqual([])
  expect(await gradeOf(gps)).toBe('platinum')
  const { readings } = gps.describe({})
  const unclassified = Object.keys(readings).filter((field) => readings[field]?.deviceClass === null)
  expect(unclassified.toSorted()).toEqual(['course', 'latitude', 'longitude', 'satellites'])
})
