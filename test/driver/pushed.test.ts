/** Devices that talk of their own accord: what they push becomes readings, and tools answer from it without the port. */
import { expect, test } from 'vitest'
import gps from '../../devices/nmea-gps.ts'
import { driverBench } from './driver-bench.ts'

// capture: SignalK nmea0183-signalk
const RMC = '$GPRMC,085412.000,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A*65\r\n'
// capture: pynmea2
const EMPTY = '$GPGGA,,,,,,,,,,,,,,*56\r\n'

async function receiver() {
  const { framing, tools, readings, line, pushed } = gps.describe({})
  if (!pushed) throw new Error('a receiver pushes')
  const made = await driverBench({ framing, tools, readings, line, pushed, addressed: false })
  const say = async (text: string) => {
    made.device.send(Buffer.from(text).toString('hex'))
    await made.clock.advance(200)
  }
  const position = async () => {
    const asked = made.run('get_position')
    await made.clock.advance(0)
    return asked
  }
  return { ...made, say, position }
}

test('a tool answers from what was pushed, and sends nothing', async () => {
  const { device, driver, say, position } = await receiver()
  await say(RMC)
  expect((await position()).value?.value).toMatchObject({ latitude: 52.371997, speed: 0.58, fix: 'gps' })
  expect(driver.status()).toMatchObject({
    availability: 'online',
    readings: { latitude: { value: 52.371997, unit: '°' }, fix: { value: 'gps' } },
  })
  expect(device.heard).toEqual([])
})

test('a pushed null takes the place of the value before', async () => {
  const { say, position } = await receiver()
  await say(RMC)
  await say(EMPTY)
  expect((await position()).value?.value).toMatchObject({ latitude: null, fix: 'none' })
})

test('before anything was pushed, and after a silence, there is no answer', async () => {
  const { clock, say, position } = await receiver()
  expect((await position()).error?.code).toBe('device_unavailable')
  await say(RMC)
  await clock.advance(4000)
  expect((await position()).error).toBeUndefined()
  await clock.advance(1500)
  expect((await position()).error?.code).toBe('device_unavailable')
})

test('a sentence that is damaged changes nothing', async () => {
  const { port, say, position } = await receiver()
  await say(RMC)
  await say(RMC.replace('5222', '5322'))
  expect((await position()).value?.value).toMatchObject({ latitude: 52.371997 })
  expect(port.status().counters.frameErrors.checksum).toBe(1)
})
