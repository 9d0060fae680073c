import { describe, expect, it } from 'vitest'
import { EVENTS_KEPT, SUBSCRIBERS_MAX } from '../../src/limits.ts'
import { EventFeed, type FeedEvent } from '../../src/tool/event-feed.ts'
import { VirtualClock } from '../virtual-clock.ts'

function collector() {
  const events: FeedEvent[] = []
  return { events, listener: (event: FeedEvent) => events.push(event) }
}

const data = ({ events }: { events: FeedEvent[] }) => events.map((event) => event.data)

describe('the feed of events', () => {
  it('sends what comes after the subscription, in order', () => {
    const feed = new EventFeed(new VirtualClock())
    feed.publish('reading', 'before')
    const client = collector()
    feed.subscribe(undefined, client.listener)
    feed.publish('reading', 1)
    feed.publish('port', 2)
    expect(client.events.map(({ type }) => type)).toEqual(['reading', 'port'])
    expect(data(client)).toEqual([1, 2])
  })

  it('takes up again exactly where a client left off', () => {
    const feed = new EventFeed(new VirtualClock())
    const first = collector()
    const subscription = feed.subscribe(undefined, first.listener)
    feed.publish('reading', 1)
    feed.publish('reading', 2)
    subscription?.unsubscribe()
    feed.publish('reading', 3)
    const second = collector()
    const resumed = feed.subscribe(first.events[0]?.id, second.listener)
    feed.publish('reading', 4)
    expect(resumed?.missed).toBe(false)
    expect(data(second)).toEqual([2, 3, 4])
    expect(data(first)).toEqual([1, 2])
  })

  it('says so when events are gone, and sends those that are left', () => {
    const feed = new EventFeed(new VirtualClock())
    const first = collector()
    const subscription = feed.subscribe(undefined, first.listener)
    feed.publish('reading', 0)
    subscription?.unsubscribe()
    for (let number = 1; number <= EVENTS_KEPT + 1; number += 1) feed.publish('reading', number)
    const second = collector()
    expect(feed.subscribe(first.events[0]?.id, second.listener)?.missed).toBe(true)
    expect(second.events).toHaveLength(EVENTS_KEPT)
    expect(data(second)[0]).toBe(2)
  })

  it('takes no id of an earlier run of the gateway for its own', () => {
    const before = new EventFeed(new VirtualClock({ seed: 1 }))
    const ids = collector()
    before.subscribe(undefined, ids.listener)
    before.publish('reading', 'old')
    const after = new EventFeed(new VirtualClock({ seed: 2 }))
    after.publish('reading', 'new')
    const client = collector()
    expect(after.subscribe(ids.events[0]?.id, client.listener)?.missed).toBe(true)
    expect(data(client)).toEqual(['new'])
  })

  it('takes a bounded number of listeners', () => {
    const feed = new EventFeed(new VirtualClock())
    for (let count = 0; count < SUBSCRIBERS_MAX; count += 1) {
      expect(feed.subscribe(undefined, () => {})).toBeDefined()
    }
    expect(feed.subscribe(undefined, () => {})).toBeUndefined()
  })

  it('goes on when a listener leaves while it is told', () => {
    const feed = new EventFeed(new VirtualClock())
    const stays = collector()
    const leaves = feed.subscribe(undefined, () => leaves?.unsubscribe())
    feed.subscribe(undefined, stays.listener)
    feed.publish('reading', 1)
    feed.publish('reading', 2)
    expect(data(stays)).toEqual([1, 2])
  })
})
