import { afterEach, describe, expect, it } from 'vitest'
import { EVENTS_KEPT, SUBSCRIBERS_MAX } from '../../../src/limits.ts'
import type { TraceEntry } from '../../../src/port/status.ts'
import type { Home } from '../../../src/tool/home.ts'
import { MESSAGES_WAITING_MAX } from '../../../src/transport/http/event-stream.ts'
import { VirtualClock } from '../../virtual-clock.ts'
import { ADMIN_TOKEN, type FakeHome, fakeHome, READ_TOKEN, TRACE } from '../fake-home.ts'
import { type EventReader, readEvents } from './event-reader.ts'
import { bearer, closeServers, problem, serve } from './serve.ts'

const readers: EventReader[] = []

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.leave()
  await closeServers()
})

/** A server on a socket, and a way to listen to it. */
async function listening(home: FakeHome = fakeHome()) {
  const clock = new VirtualClock()
  const app = serve({ home, clock })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const listen = async (path: string, headers: Record<string, string> = {}, token = ADMIN_TOKEN) => {
    const reader = await readEvents(`${address}${path}`, token, headers)
    readers.push(reader)
    return reader
  }
  return { app, clock, home, listen }
}

const entry = (seq: number): TraceEntry => ({
  seq,
  at: '2026-01-01T00:00:00.000Z',
  direction: 'rx',
  hex: 'ff 86',
  text: '..',
})
const reading = (value: number) => ({ device: 'office_co2', field: 'co2', value })

describe('the stream of events', () => {
  it('tells of each event with its id, type and data as it comes', async () => {
    const { home, listen } = await listening()
    const reader = await listen('/v1/events', {}, READ_TOKEN)
    expect(reader.response.statusCode).toBe(200)
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    home.feed.publish('reading', reading(742))
    home.feed.publish('event', { text: 'line 1\nline 2\r\n\n', sign: '\u2028°' })
    await expect.poll(() => reader.events().length).toBe(2)
    const [first, second] = reader.events()
    expect(first).toEqual({ id: expect.stringMatching(/^e_\w{16}-0$/), event: 'reading', data: reading(742) })
    expect(second).toEqual({
      id: expect.stringMatching(/-1$/),
      event: 'event',
      data: { text: 'line 1\nline 2\r\n\n', sign: '\u2028°' },
    })
  })

  it.each(['header', 'query'])('is taken up behind the last event, by the %s', async (way) => {
    const { home, listen } = await listening()
    const before = await listen('/v1/events')
    for (const value of [1, 2, 3]) home.feed.publish('reading', reading(value))
    await expect.poll(() => before.events().length).toBe(3)
    const lastId = before.events()[0]?.id ?? ''
    const after = await (way === 'header'
      ? listen('/v1/events', { 'last-event-id': lastId })
      : listen(`/v1/events?lastEventId=${lastId}`))
    home.feed.publish('reading', reading(4))
    await expect.poll(() => after.events().length).toBe(3)
    expect(after.events().map(({ event, data }) => [event, data])).toEqual(
      [2, 3, 4].map((value) => ['reading', reading(value)]),
    )
  })

  it('takes the header before the query, for a browser sends both when it connects again', async () => {
    const { home, listen } = await listening()
    const before = await listen('/v1/events')
    for (const value of [1, 2, 3]) home.feed.publish('reading', reading(value))
    await expect.poll(() => before.events().length).toBe(3)
    const [first, second] = before.events().map(({ id }) => id ?? '')
    const after = await listen(`/v1/events?lastEventId=${first}`, { 'last-event-id': second ?? '' })
    await expect.poll(() => after.events().length).toBe(1)
    expect(after.events()[0]?.data).toEqual(reading(3))
  })

  it('says first that events are gone, then tells of all that are left', async () => {
    const { home, listen } = await listening()
    for (let value = 0; value < EVENTS_KEPT + 10; value += 1) home.feed.publish('reading', value)
    const reader = await listen('/v1/events?lastEventId=e_of_an_earlier_run-3')
    await expect.poll(() => reader.events().length, { timeout: 5_000 }).toBe(EVENTS_KEPT + 1)
    const [missed, ...kept] = reader.events()
    expect(missed).toEqual({ event: 'missed', data: { lastEventId: 'e_of_an_earlier_run-3' } })
    expect(kept.map(({ data }) => data)).toEqual(
      Array.from({ length: EVENTS_KEPT }, (_, index) => index + 10),
    )
  })

  it('says that it lives every 15 s', async () => {
    const { clock, listen } = await listening()
    const reader = await listen('/v1/events')
    await expect.poll(reader.text).toBe('retry: 2000\n\n')
    await clock.advance(14_999)
    await clock.advance(1)
    await expect.poll(reader.text).toBe('retry: 2000\n\n:\n\n')
    await clock.advance(30_000)
    await expect.poll(reader.text).toBe('retry: 2000\n\n:\n\n:\n\n:\n\n')
  })

  it('cuts off a client that does not read, and nobody else', async () => {
    const { home, listen } = await listening()
    const [deaf, well] = [await listen('/v1/events'), await listen('/v1/events')]
    deaf.response.pause()
    const text = 'x'.repeat(1_000)
    let told = 0
    const heard = () => well.events().length
    // In portions, so that the one that reads stays within its bound.
    for (let portion = 0; portion < 5; portion += 1) {
      for (let index = 0; index < MESSAGES_WAITING_MAX / 2; index += 1)
        home.feed.publish('device', { text, told: told++ })
      const last = `"told":${told - 1}}\n\n`
      await expect.poll(() => well.text().endsWith(last), { timeout: 10_000 }).toBe(true)
    }
    deaf.response.resume()
    expect(await deaf.ended).toBe('cut')
    expect(deaf.text().split('\n\n').length).toBeLessThan(told)
    expect(heard()).toBe(told)
  }, 30_000)

  it('lets go of everything when its client goes', async () => {
    const subscribed = { count: 0 }
    const feed = fakeHome()
    const events: Home['events'] = (lastEventId, listener) => {
      const subscription = feed.events(lastEventId, listener)
      if (!subscription) return undefined
      subscribed.count += 1
      const unsubscribe = () => {
        subscribed.count -= 1
        subscription.unsubscribe()
      }
      return { ...subscription, unsubscribe }
    }
    const { clock, listen } = await listening({ ...feed, events })
    const idle = { pending: clock.pending, subscribed: subscribed.count }
    const reader = await listen('/v1/events')
    expect([clock.pending, subscribed.count]).toEqual([idle.pending + 1, idle.subscribed + 1])
    reader.leave()
    await expect.poll(() => [clock.pending, subscribed.count]).toEqual([idle.pending, idle.subscribed])
  })

  it('ends whole when the server closes, with all that was told', async () => {
    const { app, clock, home, listen } = await listening()
    const reader = await listen('/v1/events')
    home.feed.publish('device', { id: 'd1' })
    const closed = app.close()
    expect(await reader.ended).toBe('end')
    await closed
    expect(reader.events().map(({ data }) => data)).toEqual([{ id: 'd1' }])
    expect(clock.pending).toBe(0)
  })

  it('is 503 when too many clients listen', async () => {
    const home = fakeHome()
    const app = serve({ home: { ...home, events: () => undefined } })
    const reply = await app.inject({ url: '/v1/events', headers: bearer(READ_TOKEN) })
    expect(reply.json()).toEqual(problem('too-many-streams', 'Too many clients are listening', 503))
    expect(reply.headers['retry-after']).toBe('30')
  })

  it('has no head to ask for, and is refused with an id that is none', async () => {
    const app = serve()
    const headers = bearer(READ_TOKEN)
    expect((await app.inject({ method: 'HEAD', url: '/v1/events', headers })).statusCode).toBe(404)
    for (const query of ['lastEventId=', `lastEventId=${'x'.repeat(129)}`, 'last=1']) {
      expect((await app.inject({ url: `/v1/events?${query}`, headers })).statusCode).toBe(422)
    }
  })
})

describe('the stream of a trace', () => {
  const STREAM = '/v1/ports/office_co2/trace/stream'

  it('tells of each entry under its number, and lets go when its client goes', async () => {
    const { home, listen } = await listening()
    const reader = await listen(STREAM)
    await expect.poll(() => home.traceWatchers.size).toBe(1)
    for (const watcher of home.traceWatchers) watcher(entry(2))
    await expect.poll(reader.events).toEqual([{ id: '2', event: 'entry', data: entry(2) }])
    reader.leave()
    await expect.poll(() => home.traceWatchers.size).toBe(0)
  })

  it.each([
    ['the last entry that was kept', '1', false, []],
    ['the one before it', '0', false, [1]],
    ['one of an earlier run', '7', true, [1]],
    ['no number', 'e_1-2', true, [1]],
  ])('is taken up behind %s', async (_name, id, isMissed, replayed) => {
    const { home, listen } = await listening()
    const reader = await listen(`${STREAM}?lastEventId=${id}`)
    for (const watcher of home.traceWatchers) watcher(entry(8))
    const missed = isMissed ? [{ event: 'missed', data: { lastEventId: id } }] : []
    await expect.poll(reader.events).toEqual([
      ...missed,
      ...TRACE.filter(({ seq }) => (replayed as number[]).includes(seq)).map((data) => ({
        id: String(data.seq),
        event: 'entry',
        data,
      })),
      { id: '8', event: 'entry', data: entry(8) },
    ])
  })

  it('says that entries are gone when the oldest that is kept is not the next one', async () => {
    const { listen } = await listening({ ...fakeHome(), trace: () => [entry(5), entry(6)] })
    const [gap, whole] = [await listen(`${STREAM}?lastEventId=3`), await listen(`${STREAM}?lastEventId=4`)]
    await expect.poll(() => gap.events().map(({ event }) => event)).toEqual(['missed', 'entry', 'entry'])
    await expect.poll(() => whole.events().map(({ event }) => event)).toEqual(['entry', 'entry'])
  })

  it('is 503 beyond the streams that one server holds', async () => {
    const { home, listen } = await listening()
    const opened = await Promise.all(Array.from({ length: SUBSCRIBERS_MAX }, () => listen(STREAM)))
    expect(opened.every(({ response }) => response.statusCode === 200)).toBe(true)
    const one = await listen(STREAM)
    expect(one.response.statusCode).toBe(503)
    expect(home.traceWatchers.size).toBe(SUBSCRIBERS_MAX)
  })
})
