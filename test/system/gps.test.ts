/**
 * What satellite receivers really said, played to the gateway and to gpsd at once, each on a pseudo-terminal of its
 * own. gpsd was written elsewhere: where it says that a receiver is, there the gateway must say that it is.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PortStatus } from '../../src/port/status.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type EventListener, listen } from './event-listener.ts'
import { type GatewayProcess, startGateway, until } from './gateway-process.ts'
import { type Readings, Receiver } from './gps-receiver.ts'
import type { Report } from './gpsd.ts'
import { damaged, isSound, timeOfDay } from './nmea-log.ts'

/** `times`: how many times of day gpsd reports, counted in what its own regression tests expect of it. */
const RECORDINGS = [
  { id: 'car', file: 'bt451.nmea', minuteDecimals: 5, times: 12, withFix: 12 },
  { id: 'sydney', file: 'sl869.nmea', minuteDecimals: 4, times: 8, withFix: 8 },
  { id: 'base', file: 'nmea-fuzzy-cases.nmea', minuteDecimals: 8, times: 14, withFix: 14 },
  { id: 'restart', file: 'gp-320fw-2019-04-07-coldboot.nmea', minuteDecimals: 4, times: 9, withFix: 1 },
] as const

const METRES_PER_SECOND = 1852 / 3600
/** In degrees. gpsd has its first position from GLL, if that comes first; the gateway waits for RMC or GGA. */
const A_METRE = 1e-5
/** gpsd prints nine decimals of a degree, three of a speed. */
const GPSD_DEGREES = 1e-9
const GPSD_SPEED = 0.001

let gateway: GatewayProcess
let events: EventListener
const receivers = new Map<string, Receiver>()

beforeAll(async () => {
  await Promise.all(
    RECORDINGS.map(async (recording) => receivers.set(recording.id, await Receiver.create(recording))),
  )
  const all = [...receivers.values()]
  gateway = await startGateway(`devices:\n${all.map(({ config }) => config).join('')}`)
  await Promise.all(all.map(isOpen))
  events = await listen(gateway)
  await Promise.all(all.map((receiver) => receiver.play(gateway)))
})

afterAll(async () => {
  events?.remove()
  await gateway?.remove()
  for (const receiver of receivers.values()) await receiver.remove()
})

function receiverOf(id: string): Receiver {
  const receiver = receivers.get(id)
  if (!receiver) throw new Error(`no receiver ${id}`)
  return receiver
}

function isOpen(receiver: Receiver): Promise<PortStatus> {
  return until(
    () => receiver.port(gateway),
    ({ state }) => state === 'open',
  )
}

/** What gpsd said last of each time of day. */
function reportsOf({ gpsd }: Receiver): Map<string, Report> {
  return new Map(gpsd.reports.flatMap((report) => (report.time ? [[timeOfDay(report.time), report]] : [])))
}

/** The values of a device's readings as they were streamed, from the n-th event on. */
function streamed(id: string, from = 0) {
  return events.heard
    .slice(from)
    .filter(({ type, data }) => type === 'reading' && data.device === id)
    .map(({ data }) => data)
}

const number = (readings: Readings, field: string) => readings[field]?.value as number | undefined

describe.each(RECORDINGS)('the recording $file', ({ id, minuteDecimals, times, withFix }) => {
  /** Half of the last digit that the receiver says, in degrees. */
  const within = (0.5 * 10 ** -minuteDecimals) / 60 + GPSD_DEGREES

  it('has the positions, heights, speeds and courses that gpsd finds in it', async () => {
    const receiver = receiverOf(id)
    const reports = await until(
      () => reportsOf(receiver),
      ({ size }) => size >= times,
    )
    let positions = 0
    for (const [time, report] of reports) {
      const { epoch, readings } = receiver.shown.findLast((shown) => shown.epoch.time === time) ?? {}
      if (!epoch || !readings) throw new Error(`gpsd reports ${time}, which was never said`)
      const says = (field: string) => number(readings, field)
      if (report.lat === undefined || report.lon === undefined) {
        expect([time, readings.fix?.value, says('latitude'), says('longitude'), says('altitude')]).toEqual([
          time,
          'none',
          undefined,
          undefined,
          undefined,
        ])
        continue
      }
      positions += 1
      expect(readings.fix?.value, time).not.toBe('none')
      expectNear(says('latitude'), report.lat, within, `latitude at ${time}`)
      expectNear(says('longitude'), report.lon, within, `longitude at ${time}`)
      if (epoch.kinds.has('GGA')) expectNear(says('altitude'), report.altMSL, 0.001, `altitude at ${time}`)
      // Where the receiver says no speed, gpsd works one out, and the gateway keeps the last.
      if (!epoch.kinds.has('RMC') || report.speed === undefined) continue
      expectNear(
        (says('speed') ?? Number.NaN) * METRES_PER_SECOND,
        report.speed,
        GPSD_SPEED,
        `speed at ${time}`,
      )
      if (report.track !== undefined) expectNear(says('course'), report.track, 0.001, `course at ${time}`)
    }
    expect(positions).toBeGreaterThanOrEqual(withFix)
  })

  it('is streamed: every value that the gateway shows was an event first', async () => {
    const { shown } = receiverOf(id)
    for (const field of ['latitude', 'longitude', 'altitude', 'speed', 'course', 'satellites', 'fix']) {
      const wanted = shown.flatMap(({ readings }) => {
        const reading = readings[field]
        return reading ? [`${reading.measuredAt} ${reading.value} ${reading.unit}`] : []
      })
      expect(wanted.length, field).toBeGreaterThan(0)
      const heard = await until(
        () =>
          streamed(id)
            .filter((data) => data.field === field)
            .map(({ measuredAt, value, unit }) => `${measuredAt} ${value} ${unit}`),
        (values) => values.includes(wanted.at(-1) ?? ''),
      )
      // In the order in which they were shown, too.
      const places = wanted.map((text) => heard.indexOf(text))
      expect(places, field).not.toContain(-1)
      expect(places, field).toEqual(places.toSorted((a, b) => a - b))
    }
  })

  // Without a fix some receivers go on saying where they were last: that is no position.
  it('is streamed from the first position on that gpsd finds in it, and none before', () => {
    const { gpsd } = receiverOf(id)
    const first = gpsd.reports.find(({ lat }) => lat !== undefined)
    const latitude = streamed(id).find(({ field }) => field === 'latitude')?.value as number | undefined
    const longitude = streamed(id).find(({ field }) => field === 'longitude')?.value as number | undefined
    expectNear(latitude, first?.lat, A_METRE, 'latitude')
    expectNear(longitude, first?.lon, A_METRE, 'longitude')
  })

  it('gives the same events when each sentence comes with a damaged copy before it', async () => {
    const receiver = receiverOf(id)
    const values = (from: number) => streamed(id, from).map(({ field, value }) => `${field} ${value}`)
    const clean = values(0)
    const from = events.heard.length
    const before = (await receiver.port(gateway)).counters
    let copies = 0
    for (const { lines } of receiver.epochs) {
      const doubled = lines.flatMap((line) => {
        if (!isSound(line.toString('latin1'))) return [line]
        copies += 1
        return [damaged(line, copies), line]
      })
      await receiver.say(gateway, doubled)
    }
    await until(
      () => values(from).length,
      (count) => count >= clean.length,
    )
    expect(values(from)).toEqual(clean)
    const after = (await receiver.port(gateway)).counters
    const refused = ({ frameErrors }: PortStatus['counters']) =>
      frameErrors.checksum + frameErrors.form + frameErrors.junk
    expect(refused(after) - refused(before)).toBeGreaterThanOrEqual(copies)
  })

  it('is answered by `baudway call` with where gpsd last saw the receiver', async () => {
    const receiver = receiverOf(id)
    const report = [...reportsOf(receiver).values()].at(-1)
    const last = receiver.shown.findLast(({ epoch }) => epoch.time === timeOfDay(report?.time ?? ''))
    // Its last word is not older than this, however slowly the command starts.
    const { code, stdout } = await until(
      async () => {
        await receiver.say(gateway, last?.epoch.lines ?? [])
        return gateway.command('call', `${id}__get_position`, '--json')
      },
      (finished) => finished.code === 0,
    )
    expect(code).toBe(0)
    const { status, value } = JSON.parse(stdout) as CallResult
    const { latitude, longitude } = value as { latitude: number | null; longitude: number | null }
    expect(status).toBe('ok')
    if (report?.lat === undefined || report.lon === undefined) {
      expect(value).toMatchObject({ latitude: null, longitude: null, altitude: null, fix: 'none' })
    } else {
      expectNear(latitude, report.lat, within, 'latitude')
      expectNear(longitude, report.lon, within, 'longitude')
    }
  })
})

describe('a receiver whose cable is pulled', () => {
  it('has no position to tell, and has one again when it is back', async () => {
    const receiver = receiverOf('car')
    const [drive] = receiver.shown.slice(-2)
    if (!drive) throw new Error('nothing was played')
    await receiver.unplug()
    const state = () => receiver.port(gateway)
    await until(state, (port) => port.state !== 'open')
    const call = () => gateway.post<CallResult>('/v1/calls', { name: 'car__get_position' })
    const silent = await until(call, ({ status }) => status === 'error')
    expect(silent).toMatchObject({
      outcome: 'not_executed',
      error: { code: 'device_unavailable', retryable: true },
    })
    expect((await receiver.status(gateway)).availability).not.toBe('online')

    const from = events.heard.length
    await receiver.pair.plug()
    await isOpen(receiver)
    await receiver.say(gateway, drive.epoch.lines)
    const { latitude, longitude, speed } = drive.readings
    expect(await call()).toMatchObject({
      status: 'ok',
      value: { latitude: latitude?.value, longitude: longitude?.value, speed: speed?.value },
    })
    const heard = await until(
      () => streamed('car', from).map(({ field, value }) => `${field} ${value}`),
      (values) => values.includes(`latitude ${latitude?.value}`),
    )
    expect(heard).toContain(`longitude ${longitude?.value}`)
    expect((await receiver.status(gateway)).availability).toBe('online')
    expect((await state()).counters).toMatchObject({ opens: 2, losses: 1, bytesSent: 0 })
  })
})

function expectNear(
  value: number | null | undefined,
  expected: number | undefined,
  within: number,
  what: string,
) {
  if (value === null || value === undefined || expected === undefined) {
    throw new Error(`${what}: ${value}, and gpsd says ${expected}`)
  }
  expect(Math.abs(value - expected), `${what}: ${value}, and gpsd says ${expected}`).toBeLessThanOrEqual(
    within,
  )
}
