import { describe, expect, it } from 'vitest'
import { DeviceState } from '../../src/driver/device-state.ts'
import { VirtualClock } from '../virtual-clock.ts'

const STALE_AFTER_MS = 90_000

function bench() {
  const clock = new VirtualClock({ wallStart: Date.UTC(2026, 0, 1) })
  const state = new DeviceState(clock, { co2: { unit: 'ppm' }, mode: {} })
  return { clock, state, readings: () => state.readings(STALE_AFTER_MS, state.availability === 'offline') }
}

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()

describe('the availability of a device', () => {
  it('is unknown until it has been asked', async () => {
    const { clock, state } = bench()
    await clock.advance(5_000)
    expect(state).toMatchObject({ availability: 'unknown', reason: null, since: at(0), misses: 0 })
  })

  it('is online from its first answer on', async () => {
    const { clock, state } = bench()
    await clock.advance(5_000)
    state.answered()
    await clock.advance(5_000)
    state.answered()
    expect(state).toMatchObject({ availability: 'online', reason: null, since: at(5), misses: 0 })
  })

  it('is degraded after a miss and offline after three in a row, each since its own beginning', async () => {
    const { clock, state } = bench()
    state.answered()
    const seen: string[] = []
    for (let miss = 1; miss <= 4; miss += 1) {
      await clock.advance(1_000)
      state.missed(`no reply, number ${miss}`)
      seen.push(`${state.availability} since ${state.since}: ${state.reason}`)
    }
    expect(seen).toEqual([
      `degraded since ${at(1)}: no reply, number 1`,
      `degraded since ${at(1)}: no reply, number 2`,
      `offline since ${at(3)}: no reply, number 3`,
      `offline since ${at(3)}: no reply, number 4`,
    ])
    expect(state.misses).toBe(4)
  })

  it('is online again with the next answer', () => {
    const { state } = bench()
    for (let miss = 0; miss < 5; miss += 1) state.missed('no reply')
    state.answered()
    expect(state).toMatchObject({ availability: 'online', reason: null, misses: 0 })
  })

  it('is degraded, never offline, as long as something comes that is no answer', () => {
    const { state } = bench()
    state.missed('no reply')
    state.missed('no reply')
    for (let round = 0; round < 5; round += 1) state.garbled('only damaged frames')
    expect(state).toMatchObject({ availability: 'degraded', reason: 'only damaged frames', misses: 0 })
    state.missed('no reply')
    expect(state).toMatchObject({ availability: 'degraded', misses: 1 })
  })

  it('is no longer offline when a late reply or an event comes, but not online without an answer', async () => {
    const { clock, state } = bench()
    for (let miss = 0; miss < 3; miss += 1) state.missed('no reply')
    await clock.advance(7_000)
    state.heard()
    expect(state).toMatchObject({ availability: 'degraded', reason: 'no reply', misses: 0, since: at(7) })
    expect(state.heardAt).toBe(7_000)
  })

  it('stays unknown when a device that nobody has asked sends an event', () => {
    const { state } = bench()
    state.heard()
    expect(state.availability).toBe('unknown')
  })
})

describe('the readings of a device', () => {
  it('are the fields that its type declares, with unit, time and age', async () => {
    const { clock, state, readings } = bench()
    await clock.advance(2_000)
    state.answered()
    state.measured({ co2: 544, mode: 'auto', temperature: 21 })
    await clock.advance(1_500)
    const measured = { measuredAt: at(2), ageMs: 1_500, stale: false }
    expect(readings()).toEqual({
      co2: { value: 544, unit: 'ppm', ...measured },
      mode: { value: 'auto', unit: null, ...measured },
    })
  })

  it('are not made by names that every object has', () => {
    const { state, readings } = bench()
    state.measured(JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}'))
    expect(readings()).toEqual({})
  })

  it('keep their last value where there is no new one, and its own age', async () => {
    const { clock, state, readings } = bench()
    state.measured({ co2: 544, mode: 'auto' })
    await clock.advance(1_000)
    state.measured({ co2: null, mode: 'off' })
    await clock.advance(1_000)
    expect(readings()).toMatchObject({
      co2: { value: 544, measuredAt: at(0), ageMs: 2_000 },
      mode: { value: 'off', measuredAt: at(1), ageMs: 1_000 },
    })
  })

  it('take false and zero for the values that they are', () => {
    const { state, readings } = bench()
    state.measured({ co2: 0, mode: false })
    expect(readings()).toMatchObject({ co2: { value: 0 }, mode: { value: false } })
  })

  it('are stale beyond their age, and all of them when the device is offline', async () => {
    const { clock, state, readings } = bench()
    state.answered()
    state.measured({ co2: 544 })
    await clock.advance(STALE_AFTER_MS)
    expect(readings().co2?.stale).toBe(false)
    await clock.advance(1)
    expect(readings().co2?.stale).toBe(true)
    state.measured({ co2: 545 })
    expect(readings().co2?.stale).toBe(false)
    for (let miss = 0; miss < 3; miss += 1) state.missed('no reply')
    expect(readings().co2).toMatchObject({ value: 545, ageMs: 0, stale: true })
  })

  it('age by the clock that only goes forward, whatever the time of the wall does', async () => {
    const { clock, state, readings } = bench()
    state.measured({ co2: 544 })
    await clock.advance(1_000)
    const wall = clock.wall.bind(clock)
    clock.wall = () => wall() - 3_600_000
    expect(readings().co2).toMatchObject({ measuredAt: at(0), ageMs: 1_000, stale: false })
  })
})
