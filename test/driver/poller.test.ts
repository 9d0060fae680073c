import { describe, expect, it } from 'vitest'
import { Poller } from '../../src/driver/poller.ts'
import { VirtualClock } from '../virtual-clock.ts'

/** A poll takes `takesMs`, and the device has missed as often as the test says when it ends. */
function bench(everyMs: number, poll: { takesMs?: number; misses?: (pollCount: number) => number } = {}) {
  const clock = new VirtualClock()
  const startedAt: number[] = []
  let ended = 0
  const poller = new Poller({
    clock,
    everyMs,
    poll: () => {
      startedAt.push(clock.now())
      return new Promise((resolve) => {
        clock.after(poll.takesMs ?? 0, () => {
          ended += 1
          resolve()
        })
      })
    },
    misses: () => poll.misses?.(ended) ?? 0,
  })
  const gaps = () => startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0))
  return { clock, poller, startedAt, gaps }
}

describe('polling', () => {
  it('asks for the first time soon, at a moment that differs from device to device', async () => {
    const firsts = new Set<number>()
    const clock = new VirtualClock()
    for (let device = 0; device < 20; device += 1) {
      const poller = new Poller({
        clock,
        everyMs: 30_000,
        poll: async () => void firsts.add(clock.now()),
        misses: () => 0,
      })
      poller.start()
    }
    await clock.advance(250)
    expect(firsts.size).toBe(20)
  })

  it('keeps its interval, however long the polls take', async () => {
    const { clock, poller, startedAt, gaps } = bench(1_000, { takesMs: 400 })
    poller.start()
    await clock.advance(10_250)
    expect(startedAt).toHaveLength(11)
    expect(new Set(gaps())).toEqual(new Set([1_000]))
    expect(poller.skipped).toBe(0)
  })

  it('skips what is due while the poll before still waits, and counts it', async () => {
    const { clock, poller, startedAt } = bench(1_000, { takesMs: 2_500 })
    poller.start()
    await clock.advance(250 + 2_500)
    // Due at 0, 1 and 2 s after the first: the last two are skipped.
    expect(startedAt).toHaveLength(1)
    expect(poller.skipped).toBe(2)
    await clock.advance(750)
    expect(startedAt).toHaveLength(2)
  })

  it('asks a device that never answers less and less often, after three misses', async () => {
    const { clock, poller, gaps } = bench(100, { takesMs: 50, misses: (polls) => polls })
    poller.start()
    await clock.advance(300_000)
    // 50 ms of the poll itself, and then the back-off.
    const backOffs = [500, 1_000, 2_000, 4_000, 8_000, 10_000, 20_000, 40_000, 60_000, 60_000]
    expect(gaps().slice(0, 12)).toEqual([100, 100, ...backOffs.map((backOffMs) => backOffMs + 50)])
    expect(poller.skipped).toBe(0)
  })

  it('backs off only where the back-off is longer than the interval', async () => {
    const { clock, poller, gaps } = bench(30_000, { misses: (polls) => polls })
    poller.start()
    await clock.advance(450_000)
    expect(gaps().slice(0, 11)).toEqual([...new Array(9).fill(30_000), 40_000, 60_000])
  })

  it('returns to its interval as soon as the device has answered', async () => {
    const { clock, poller, gaps } = bench(100, { misses: (polls) => (polls < 5 ? polls : 0) })
    poller.start()
    await clock.advance(5_000)
    expect(gaps().slice(0, 7)).toEqual([100, 100, 500, 1_000, 100, 100, 100])
  })

  it('asks no more after its stop, also not when a poll ends after it, and leaves no timer', async () => {
    const { clock, poller, startedAt } = bench(1_000, { takesMs: 500, misses: () => 9 })
    poller.start()
    await clock.advance(400)
    poller.stop()
    poller.stop()
    await clock.advance(200_000)
    expect(startedAt).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('polls once per interval, however often it is started', async () => {
    const { clock, poller, startedAt } = bench(1_000)
    poller.start()
    poller.start()
    await clock.advance(999)
    expect(startedAt).toHaveLength(1)
  })
})
