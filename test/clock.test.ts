import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isoTime, newId, pause, systemClock } from '../src/clock.ts'
import { VirtualClock } from './virtual-clock.ts'

const DAY_MS = 86_400_000

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('the clock of the system', () => {
  it('calls back once, not inline, and never before its time', () => {
    vi.useFakeTimers()
    const calls: number[] = []
    systemClock.after(20, () => calls.push(systemClock.now()))
    const startedAt = systemClock.now()
    expect(calls).toEqual([])
    vi.advanceTimersByTime(19)
    expect(calls).toEqual([])
    vi.advanceTimersByTime(1_000)
    expect(calls).toHaveLength(1)
    expect((calls[0] ?? 0) - startedAt).toBeGreaterThanOrEqual(20)
  })

  it('waits on when the timer of the host fires early', () => {
    let now = 1_000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const set = vi.spyOn(globalThis, 'setTimeout').mockImplementation((() => 0) as never)
    const fire = () => {
      const [callback] = set.mock.lastCall ?? []
      callback?.()
    }
    let calls = 0
    systemClock.after(10, () => {
      calls += 1
    })
    now = 1_009.4
    fire()
    expect(calls).toBe(0)
    expect(set.mock.lastCall?.[1]).toBe(1)
    now = 1_010
    fire()
    expect(calls).toBe(1)
    expect(set).toHaveBeenCalledTimes(2)
  })

  it('keeps a delay that is longer than the host can wait in one piece', () => {
    vi.useFakeTimers()
    let calls = 0
    systemClock.after(60 * DAY_MS, () => {
      calls += 1
    })
    systemClock.after(Number.POSITIVE_INFINITY, () => {
      calls += 1_000
    })
    vi.advanceTimersByTime(60 * DAY_MS - 1)
    expect(calls).toBe(0)
    vi.advanceTimersByTime(1)
    expect(calls).toBe(1)
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(calls).toBe(1)
  })

  it('calls back later for a delay of nothing or less', () => {
    vi.useFakeTimers()
    let calls = 0
    for (const delayMs of [0, -5, Number.NEGATIVE_INFINITY]) {
      systemClock.after(delayMs, () => {
        calls += 1
      })
    }
    expect(calls).toBe(0)
    vi.advanceTimersByTime(1)
    expect(calls).toBe(3)
  })

  it('never calls back after a cancel, however often it is cancelled, and be it in its last piece', () => {
    vi.useFakeTimers()
    const timer = systemClock.after(60 * DAY_MS, () => expect.unreachable())
    vi.advanceTimersByTime(50 * DAY_MS)
    timer.cancel()
    timer.cancel()
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has a time that only goes forward, the time of the wall, and bytes that nobody can guess', () => {
    const before = systemClock.now()
    expect(systemClock.now()).toBeGreaterThanOrEqual(before)
    expect(Math.abs(systemClock.wall() - Date.now())).toBeLessThan(1_000)
    expect(systemClock.randomBytes(32)).toHaveLength(32)
    expect(systemClock.randomBytes(32)).not.toEqual(systemClock.randomBytes(32))
    const random = systemClock.random()
    expect(random >= 0 && random < 1).toBe(true)
  })
})

describe('an id', () => {
  it('is its prefix and 16 characters of base 36, from the randomness of the clock alone', () => {
    const clock = new VirtualClock({ seed: 7 })
    const id = newId(clock, 'b')
    expect(id).toMatch(/^b_[0-9a-z]{16}$/)
    expect(newId(clock, 'b')).not.toBe(id)
    expect(newId(new VirtualClock({ seed: 7 }), 'b')).toBe(id)
  })
})

describe('a time that is shown', () => {
  it('is ISO 8601 in UTC with milliseconds', () => {
    expect(isoTime(Date.UTC(2026, 1, 3, 4, 5, 6, 7))).toBe('2026-02-03T04:05:06.007Z')
  })
})

describe('a pause', () => {
  it('lasts as long as it was asked to', async () => {
    const clock = new VirtualClock()
    let over = false
    void pause(clock, 100).then(() => {
      over = true
    })
    await clock.advance(99)
    expect(over).toBe(false)
    await clock.advance(1)
    expect(over).toBe(true)
  })

  it('ends at once when its signal aborts, and leaves neither timer nor listener', async () => {
    const clock = new VirtualClock()
    const abort = new AbortController()
    const paused = pause(clock, 100, abort.signal)
    expect(clock.pending).toBe(1)
    abort.abort()
    await paused
    expect(clock.pending).toBe(0)
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
  })

  it('leaves no listener behind when its time is over, and does not begin after an abort', async () => {
    const clock = new VirtualClock()
    const abort = new AbortController()
    const paused = pause(clock, 100, abort.signal)
    await clock.advance(100)
    await paused
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    abort.abort()
    await pause(clock, 100, abort.signal)
    expect(clock.pending).toBe(0)
  })
})
