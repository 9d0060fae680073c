/** What is known of a device from what came over its line: its readings, and whether it answers. */
import { describe, expect, it } from 'vitest'
import type { ToolSpec } from '../../src/driver/device-type.ts'
import { exchangeOf, mapped, value } from '../../src/driver/exchange.ts'
import { twosComplement8 } from '../../src/port/framer/checksum.ts'
import { fixedLength } from '../../src/port/framer/fixed-length.ts'
import { startsWith } from '../../src/port/reply.ts'
import {
  type DriverBench,
  driverBench,
  levelIs,
  PUMP_ON,
  pump,
  READ_LEVEL,
  readLevel,
  sealed,
} from './driver-bench.ts'

const TIMEOUT_MS = 500
const UNIT_2_IS_5 = '02 03 02 00 05 3c 47'
const answer = (hex: string, afterMs = 10) => ({ hex, afterMs })

async function ask({ run, clock }: DriverBench, times = 1, command = 'read_level'): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    run(command)
    await clock.advance(2 * TIMEOUT_MS)
  }
}

const seen = ({ driver }: DriverBench) => {
  const { availability, reason } = driver.status()
  return { availability, reason, misses: driver.misses }
}

describe('the readings of a device', () => {
  it('are the fields of a value that its type declares, of reads and of settings', async () => {
    const made = await driverBench({
      readings: { level: { unit: '%' }, pump: {} },
      tools: {
        read_level: {
          description: 'The level.',
          effect: 'read',
          exchange: () => mapped(readLevel(), ({ level }) => ({ level, raw: level })),
        },
        set_pump: { description: 'The pump.', effect: 'set', exchange: () => pump(true) },
      },
    })
    made.device.answer(READ_LEVEL, answer(levelIs(7))).answer(PUMP_ON, answer(PUMP_ON))
    expect(made.driver.status().readings).toEqual({})
    await ask(made)
    await ask(made, 1, 'set_pump')
    expect(made.driver.status().readings).toMatchObject({
      level: { value: 7, unit: '%', stale: false },
      pump: { value: true, unit: null },
    })
    expect(Object.keys(made.driver.status().readings)).toEqual(['level', 'pump'])
  })

  it('are those that the tool makes of its value, where it says so', async () => {
    const tool: ToolSpec = {
      description: 'The level.',
      effect: 'read',
      exchange: readLevel,
      readings: (value) => ({ level: 2 * (value as { level: number }).level }),
    }
    const made = await driverBench({ tools: { read_level: tool } })
    made.device.answer(READ_LEVEL, answer(levelIs(7)))
    const asked = made.run('read_level')
    await made.clock.advance(100)
    expect(asked.value?.value).toEqual({ level: 7 })
    expect(made.driver.status().readings).toMatchObject({ level: { value: 14 } })
  })

  it('cannot spoil a command that is over when the code that makes them fails', async () => {
    const tool: ToolSpec = {
      description: 'The pump.',
      effect: 'act',
      exchange: () => pump(true),
      readings: () => {
        throw new TypeError('a mistake of the author')
      },
    }
    const made = await driverBench({ tools: { press: tool } })
    made.device.answer(PUMP_ON, answer(PUMP_ON))
    const asked = made.run('press')
    await made.clock.advance(100)
    expect(asked.value).toEqual({ value: { pump: true } })
    expect(made.errors).toHaveLength(1)
  })

  it('outside of their bounds are nonsense: null for the caller, and the last good one stays', async () => {
    const made = await driverBench({ readings: { level: { min: 0, max: 100 } } })
    made.device.answer(READ_LEVEL, answer(levelIs(42)))
    await ask(made)
    made.device.answer(READ_LEVEL, answer(levelIs(101)))
    const asked = made.run('read_level')
    await made.clock.advance(100)
    expect(asked.value?.value).toEqual({ level: null })
    expect(made.driver.status().readings).toMatchObject({ level: { value: 42, ageMs: 1_075 } })
    expect(made.driver.status().availability).toBe('online')
  })

  it('are stale after three polling intervals, or a minute where nothing is polled', async () => {
    for (const [device, staleAfterMs] of [
      [{ pollMs: 5_000 }, 15_000],
      [{}, 60_000],
    ] as const) {
      const made = await driverBench({ device })
      made.device.answer(READ_LEVEL, answer(levelIs(7)))
      await ask(made)
      const { ageMs = 0 } = made.driver.status().readings.level ?? {}
      await made.clock.advance(staleAfterMs - ageMs)
      expect(made.driver.status().readings.level?.stale).toBe(false)
      await made.clock.advance(1)
      expect(made.driver.status().readings.level?.stale).toBe(true)
    }
  })
})

describe('a device', () => {
  it('is shown with its names, and as unknown until it was asked', async () => {
    const { driver } = await driverBench()
    expect(driver.status()).toEqual({
      id: 'tank',
      name: 'Tank',
      area: 'Cellar',
      type: 'tank',
      port: 'bus1',
      availability: 'unknown',
      reason: null,
      since: '2026-01-01T00:00:00.001Z',
      readings: {},
    })
  })

  it('that stays silent is degraded, and offline from the third time on', async () => {
    const made = await driverBench()
    const reason = 'no reply within 500 ms'
    await ask(made)
    expect(seen(made)).toEqual({ availability: 'degraded', reason, misses: 1 })
    await ask(made, 2)
    expect(seen(made)).toEqual({ availability: 'offline', reason, misses: 3 })
    made.device.answer(READ_LEVEL, answer(levelIs(7)))
    await ask(made)
    expect(seen(made)).toEqual({ availability: 'online', reason: null, misses: 0 })
  })

  it('answers also when it refuses, so a refusal ends a row of misses', async () => {
    for (const refusal of ['03 83 02', '03 83 04', '03 83 06']) {
      const made = await driverBench()
      await ask(made, 2)
      made.device.answer(READ_LEVEL, answer(sealed(refusal)))
      await ask(made)
      expect(seen(made), refusal).toEqual({ availability: 'online', reason: null, misses: 0 })
    }
  })

  it('that sends damaged frames only is there, and degraded', async () => {
    const made = await driverBench()
    await ask(made, 2)
    made.device.answer(READ_LEVEL, answer(levelIs(7).replace(/..$/, '00')))
    await ask(made, 4)
    expect(seen(made)).toMatchObject({ availability: 'degraded', misses: 0 })
    expect(seen(made).reason).toContain('checksum')
  })

  it('that breaks off its replies is there: a byte is no silence', async () => {
    const made = await driverBench()
    made.device.answer(READ_LEVEL, answer('03 03 02 00'))
    await ask(made, 4)
    expect(seen(made)).toEqual({ availability: 'degraded', reason: 'no reply within 500 ms', misses: 0 })
  })

  it('is not taken to be there by the frames of another unit of its bus', async () => {
    const made = await driverBench()
    made.device.answer(READ_LEVEL, answer(UNIT_2_IS_5), answer(UNIT_2_IS_5, 200))
    await ask(made, 3)
    expect(seen(made)).toMatchObject({ availability: 'offline', misses: 3 })
  })

  it('that answers too late is there: late bytes are bytes', async () => {
    const made = await driverBench({ line: { timeoutMs: TIMEOUT_MS, replyLatencyMaxMs: 800 } })
    made.device.answer(READ_LEVEL, answer(levelIs(7), 600))
    await ask(made, 5)
    expect(made.port.status().counters.lateReplies).toBe(5)
    expect(seen(made)).toMatchObject({ availability: 'degraded', misses: 0 })
    expect(made.driver.status().readings).toEqual({})
  })

  for (const [addressed, availability] of [
    [false, 'degraded'],
    [true, 'offline'],
  ] as const) {
    const line = addressed ? 'shares its line' : 'has a line to itself'
    it(`that ${line} is ${availability} while whole frames come that nobody waits for`, async () => {
      const framing = fixedLength({ start: [0xff], length: 9, checksum: twosComplement8({ from: 1, to: 8 }) })
      const request = Uint8Array.from([0xff, 0x01, 0x99, 0, 0, 0, 0, 0, 0x66])
      const exchange = () =>
        exchangeOf(request, [{ shape: startsWith([0xff, 0x99], 9), verdict: () => value(1) }])
      const tools: Record<string, ToolSpec> = {
        read_level: { description: 'The level.', effect: 'read', exchange },
      }
      const made = await driverBench({ tools, addressed, framing })
      // capture: PyPMS, a real sensor in 2021
      made.device.answer('ff 01 99 00 00 00 00 00 66', answer('ff 86 02 7c 42 00 00 00 ba'))
      await ask(made, 3)
      expect(made.port.status().counters).toMatchObject({ foreignFrames: 3, timeouts: 3 })
      expect(seen(made).availability).toBe(availability)
    })
  }
})

describe('the events of a device', () => {
  const events = [
    {
      name: 'alarm',
      match: (frame: Uint8Array) => (frame[1] === 0x03 && frame[4] === 99 ? { alarm: true } : undefined),
    },
  ]

  it('show that it is there, although it does not answer', async () => {
    const made = await driverBench({ events })
    await ask(made, 2)
    made.device.send(levelIs(99))
    await made.clock.advance(100)
    expect(seen(made)).toMatchObject({ availability: 'degraded', misses: 0 })
    expect(made.port.status().counters.events).toBe(1)
  })

  it('are not what a failing pattern makes of a frame', async () => {
    const failing = { name: 'alarm', match: () => JSON.parse('no JSON') }
    const { driver, errors } = await driverBench({ events: [failing] })
    expect(driver.recognises(Uint8Array.from([1, 2, 3]))).toBe(false)
    expect(errors).toHaveLength(1)
  })
})

describe('a device whose port is gone', () => {
  it('is offline for the reason of the port and since then, with its values stale, and back with it', async () => {
    const made = await driverBench()
    made.device.answer(READ_LEVEL, answer(levelIs(7)))
    await ask(made)
    expect(made.driver.status()).toMatchObject({
      availability: 'online',
      readings: { level: { stale: false } },
    })
    made.wire.unplug()
    await made.clock.advance(300)
    const { since } = made.port.status()
    expect(made.driver.status()).toMatchObject({
      availability: 'offline',
      reason: 'port bus1 (bus1) is absent',
      since,
      readings: { level: { value: 7, stale: true } },
    })
    expect(made.driver.refusal('read_level')).toMatchObject({
      code: 'device_unavailable',
      details: { state: 'absent' },
    })
    made.wire.replug()
    await made.clock.advance(300)
    expect(made.driver.refusal('read_level')).toBeUndefined()
    expect(made.driver.status()).toMatchObject({
      availability: 'online',
      readings: { level: { stale: false } },
    })
  })

  it('has missed nothing: nobody could ask it', async () => {
    const made = await driverBench()
    made.wire.unplug()
    await made.clock.advance(300)
    await ask(made, 5)
    expect(made.driver.misses).toBe(0)
  })

  it('has missed nothing either where the port went away under the question', async () => {
    const made = await driverBench()
    made.run('read_level')
    await made.clock.advance(50)
    made.wire.unplug()
    await made.clock.advance(1)
    expect(made.driver.misses).toBe(0)
  })
})
