import { describe, expect, it } from 'vitest'
import mhZ19 from '../../devices/mh-z19.ts'
import modbusRelay from '../../devices/modbus-relay.ts'
import nmeaGps from '../../devices/nmea-gps.ts'
import { type RecordedEntry, replay } from '../../src/driver/replay.ts'

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
const entry = (ms: number, direction: 'tx' | 'rx', hex: string): RecordedEntry => ({
  at: at(ms),
  direction,
  bytes: Buffer.from(hex.replaceAll(' ', ''), 'hex'),
})

describe('a replay', () => {
  const sensor = mhZ19.describe({})

  it('names the request by its tool and says what the reply to it means', () => {
    // Frames of the manual, and capture: PyPMS.
    const replayed = replay(sensor, [
      entry(0, 'tx', 'ff 01 86 00 00 00 00 00 79'),
      entry(12, 'rx', 'ff 86 02 7c 42'),
      entry(14, 'rx', '00 00 00 ba'),
      entry(900, 'tx', 'ff 01 79 a0 00 00 00 00 e6'),
    ])
    expect(replayed).toMatchObject([
      { kind: 'request', request: { tool: 'read_co2' } },
      { kind: 'reply', tool: 'read_co2', isAsked: true, verdict: { kind: 'value', value: { co2: 636 } } },
      { kind: 'request', request: { tool: 'set_self_calibration', arguments: { on: true } } },
    ])
  })

  it('counts a frame whose checksum is wrong as an error, not as a value', () => {
    const replayed = replay(sensor, [entry(0, 'rx', 'ff 86 01 f4 00 00 00 00 84')])
    expect(replayed).toEqual([{ at: at(0), kind: 'frame_error', error: 'checksum', length: 9 }])
  })

  it('says of a reply whose request it has not seen only that it would fit', () => {
    const [reply] = replay(sensor, [entry(0, 'rx', 'ff 86 02 7b 42 00 00 00 bb')])
    expect(reply).toMatchObject({ kind: 'reply', isAsked: false, verdict: { value: { co2: 635 } } })
  })

  it('takes a second reply for one that nobody asked for', () => {
    const reply = 'ff 86 02 7b 42 00 00 00 bb'
    const replayed = replay(sensor, [
      entry(0, 'tx', 'ff 01 86 00 00 00 00 00 79'),
      entry(10, 'rx', reply + reply),
    ])
    expect(replayed.map((one) => one.kind === 'reply' && one.isAsked)).toEqual([false, true, false])
  })

  it('leaves a request that no tool sends unnamed', () => {
    expect(replay(sensor, [entry(0, 'tx', '01 02 03')])).toMatchObject([
      { kind: 'request', request: undefined },
    ])
  })

  it('knows arguments that no example has', () => {
    const relays = modbusRelay.describe(modbusRelay.sample)
    // Modbus 05, unit 1, coil 6, on; CRC by the standard's polynomial.
    const [request] = replay(relays, [entry(0, 'tx', '01 05 00 06 ff 00 6c 3b')])
    expect(request).toMatchObject({
      request: { tool: 'set_relay', arguments: { channel: 6, on: true } },
    })
  })

  it('gives up half a frame when the line falls silent, and finds the next one', () => {
    const replayed = replay(sensor, [
      entry(0, 'rx', 'ff 86 02'),
      entry(500, 'rx', 'ff 86 02 7b 42 00 00 00 bb'),
    ])
    expect(replayed.at(-1)).toMatchObject({ kind: 'reply', verdict: { value: { co2: 635 } } })
    expect(replayed[0]).toMatchObject({ kind: 'frame_error' })
  })

  it('does not join two halves with a silence between them', () => {
    const replayed = replay(sensor, [entry(0, 'rx', 'ff 86 02'), entry(500, 'rx', '7c 42 00 00 00 ba')])
    expect(replayed.filter(({ kind }) => kind === 'reply')).toEqual([])
    expect(replayed.length).toBeGreaterThan(0)
  })

  it('shows what a device pushes', () => {
    const gps = nmeaGps.describe({})
    // The example sentence of NMEA 0183 for GGA.
    const sentence = '$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n'
    const bytes = Buffer.from(sentence)
    const replayed = replay(gps, [{ at: at(0), direction: 'rx', bytes }])
    expect(replayed).toMatchObject([{ kind: 'pushed', fields: { altitude: 545.4 } }])
  })
})
