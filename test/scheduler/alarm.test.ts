import { expect, test } from 'vitest'
import { Alarm } from '../../src/scheduler/alarm.ts'
import { VirtualClock } from '../virtual-clock.ts'

function alarmOn(clock: VirtualClock): { alarm: Alarm; rings: number[] } {
  const rings: number[] = []
  return { alarm: new Alarm(clock, () => rings.push(clock.now())), rings }
}

test('an alarm goes off once, at the earliest time that was asked for', async () => {
  const clock = new VirtualClock()
  const { alarm, rings } = alarmOn(clock)
  for (const time of [30, 10, 20]) alarm.at(time)
  expect(clock.pending).toBe(1)
  await clock.advance(100)
  expect(rings).toEqual([10])
  expect(clock.pending).toBe(0)
})

test('an alarm can be asked again from its own callback', async () => {
  const clock = new VirtualClock()
  const rings: number[] = []
  const alarm: Alarm = new Alarm(clock, () => {
    rings.push(clock.now())
    if (rings.length < 3) alarm.at(clock.now() + 5)
  })
  alarm.at(5)
  await clock.advance(100)
  expect(rings).toEqual([5, 10, 15])
})

test('a cleared alarm is silent and leaves no timer', async () => {
  const clock = new VirtualClock()
  const { alarm, rings } = alarmOn(clock)
  alarm.at(10)
  alarm.clear()
  expect(clock.pending).toBe(0)
  alarm.at(20)
  await clock.advance(100)
  expect(rings).toEqual([20])
})

test('an alarm at no time at all sets no timer', () => {
  const clock = new VirtualClock()
  alarmOn(clock).alarm.at(Number.POSITIVE_INFINITY)
  expect(clock.pending).toBe(0)
})

test('an alarm for a time that is past goes off, though not inline', async () => {
  const clock = new VirtualClock()
  await clock.advance(50)
  const { alarm, rings } = alarmOn(clock)
  alarm.at(10)
  expect(rings).toEqual([])
  await clock.advance(0)
  expect(rings).toEqual([50])
})
