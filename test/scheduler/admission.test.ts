import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AGEING_MS, admit, agedRank, candidates, holdsBack } from '../../src/scheduler/admission.ts'
import { claimsConflict, claimsOf } from '../../src/scheduler/claims.ts'
import type { Claim, Rank } from '../../src/scheduler/declaration.ts'
import { compareRows, Queue, type Row } from '../../src/scheduler/queue.ts'

const exclusive = (resource: string): Claim => ({ resource, mode: 'exclusive' })
const shared = (resource: string): Claim => ({ resource, mode: 'shared' })

let nextOrder = 0
function row(claims: readonly Claim[], parts: Partial<Omit<Row, 'claims'>> = {}): Row {
  nextOrder += 1
  return {
    order: nextOrder,
    lane: nextOrder,
    device: undefined,
    claims: claimsOf(claims),
    queuedAtMs: 0,
    rank: 'interactive',
    notBeforeMs: 0,
    ...parts,
  }
}

/** Who starts of these, all of which wait, beside those that run. */
function admitted(waiting: readonly Row[], nowMs = 0, running: readonly Row[] = []): readonly Row[] {
  const queue = new Queue<Row>()
  for (const each of running) {
    queue.insert(each)
    queue.start(each)
  }
  for (const each of waiting) queue.insert(each)
  return admit(queue, [...waiting].sort(compareRows), nowMs)
}

describe('a waiting call is admitted', () => {
  test('when all its claims are free at once', () => {
    const [one, other] = [row([exclusive('a')]), row([exclusive('b'), shared('c')])]
    expect(admitted([one, other])).toEqual([one, other])
  })

  test('not while one of its claims is held', () => {
    const late = row([exclusive('a'), exclusive('b')])
    expect(admitted([late], 0, [row([exclusive('b')])])).toEqual([])
    expect(admitted([late], 0, [row([shared('b')])])).toEqual([])
    expect(admitted([row([shared('b')])], 0, [row([shared('b')])])).toHaveLength(1)
  })

  test('beside others that share its resources', () => {
    expect(admitted([row([shared('a')]), row([shared('a')]), row([exclusive('a')])])).toHaveLength(2)
  })

  test('in order of acceptance within a rank', () => {
    const [first, second] = [row([exclusive('a')]), row([exclusive('a')])]
    expect(admitted([second, first])).toEqual([first])
  })

  test('not past an earlier one of its rank that conflicts and waits itself', () => {
    const holder = row([shared('a')])
    const writer = row([exclusive('a')])
    const reader = row([shared('a')])
    expect(admitted([writer, reader], 0, [holder])).toEqual([])
  })

  test('in the order of ranks: stop, interactive, automation, poll', () => {
    const ranks: Rank[] = ['poll', 'automation', 'interactive', 'stop']
    const rows = ranks.map((rank) => row([exclusive('a')], { rank }))
    while (rows.length > 0) expect(admitted(rows)).toEqual([rows.pop()])
  })

  test('alone, if it claims the gateway exclusively', () => {
    const alone = row([exclusive('gateway')])
    const after = row([])
    expect(admitted([alone, after], 0, [row([exclusive('a')])])).toEqual([])
    expect(admitted([alone, after])).toEqual([alone])
    expect(admitted([after], 0, [alone])).toEqual([])
  })
})

describe('a call that may not start yet', () => {
  const device = { device: 'meter' }

  test('starts when its time has come', () => {
    const settling = row([exclusive('a')], { notBeforeMs: 50 })
    expect(admitted([settling], 49)).toEqual([])
    expect(admitted([settling], 50)).toEqual([settling])
  })

  test('is passed by calls to other devices of its port', () => {
    const settling = row([exclusive('a')], { ...device, notBeforeMs: 50 })
    const other = row([exclusive('a')], { device: 'relay' })
    expect(admitted([settling, other])).toEqual([other])
  })

  test('holds back calls to its own device, of its rank and of lower ones', () => {
    const settling = row([exclusive('a')], { ...device, notBeforeMs: 50 })
    expect(admitted([settling, row([exclusive('a')], device)])).toEqual([])
    expect(admitted([settling, row([exclusive('a')], { ...device, rank: 'poll' })])).toEqual([])
  })

  test('does not hold back a call of a higher rank to its own device', () => {
    const settling = row([exclusive('a')], { ...device, notBeforeMs: 50 })
    const stop = row([exclusive('a')], { ...device, rank: 'stop' })
    expect(admitted([settling, stop])).toEqual([stop])
  })

  test('holds back conflicting later calls of its own lane, and no others of it', () => {
    const settling = row([exclusive('a')], { ...device, lane: 1, notBeforeMs: 50 })
    const conflicting = row([exclusive('a')], { device: 'relay', lane: 1 })
    const elsewhere = row([exclusive('b')], { lane: 1 })
    expect(admitted([settling, conflicting, elsewhere])).toEqual([elsewhere])
  })

  test('without a device holds back nobody of another lane', () => {
    const settling = row([exclusive('a')], { notBeforeMs: 50 })
    expect(admitted([settling, row([exclusive('a')])])).toHaveLength(1)
  })

  test('keeps its place', () => {
    const settling = row([exclusive('a')], { ...device, notBeforeMs: 50 })
    const later = row([exclusive('a')])
    expect(admitted([later, settling], 50)).toEqual([settling])
  })
})

describe('a call of several claims', () => {
  const holder = row([exclusive('a')])
  const several = row([exclusive('a'), exclusive('b')], { lane: 1, queuedAtMs: 100 })
  const later = row([exclusive('b')])

  test('holds back nobody of other lanes for its first 2 s', () => {
    expect(admitted([several, later], 2_099, [holder])).toEqual([later])
  })

  test('holds back everybody after that', () => {
    expect(admitted([several, later], 2_100, [holder])).toEqual([])
  })

  test('holds back later calls of its own lane at once', () => {
    const sameLane = row([exclusive('b')], { lane: 1 })
    expect(admitted([several, sameLane], 200, [holder])).toEqual([])
  })

  test('goes first all the same where it may start', () => {
    expect(admitted([later, several], 200)).toEqual([several])
  })

  test('holds back everybody at once if it is a stop command', () => {
    const stop = row([exclusive('a'), exclusive('b')], { rank: 'stop', queuedAtMs: 100 })
    expect(admitted([stop, later], 100, [holder])).toEqual([])
  })
})

test('a waiting call gains one rank at most, and none gains stop', () => {
  const aged = (rank: Rank) => [0, AGEING_MS - 1, AGEING_MS, 100 * AGEING_MS].map((ms) => agedRank(rank, ms))
  expect(aged('poll')).toEqual(['poll', 'poll', 'automation', 'automation'])
  expect(aged('automation')).toEqual(['automation', 'automation', 'interactive', 'interactive'])
  expect(aged('interactive')).toEqual(Array(4).fill('interactive'))
  expect(aged('stop')).toEqual(Array(4).fill('stop'))
  expect(AGEING_MS).toBe(10_000)
})

describe('the index', () => {
  const claim = fc.record({
    resource: fc.constantFrom('a', 'b', 'port:c', 'gateway'),
    mode: fc.constantFrom('shared' as const, 'exclusive' as const),
  })
  const parts = fc.record({
    claims: fc.array(claim, { maxLength: 3 }),
    lane: fc.nat(3),
    device: fc.constantFrom(undefined, 'x', 'y'),
    rank: fc.constantFrom<Rank>('interactive', 'automation', 'poll', 'stop'),
    delayMs: fc.constantFrom(0, 0, 30, 3_000),
  })
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('queue' as const), parts }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('raise' as const), which: fc.nat() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(30, 2_500) }),
    },
  )

  /** The rule by its words, over all rows. */
  function mayStart(each: Row, waiting: readonly Row[], running: readonly Row[], nowMs: number): boolean {
    if (each.notBeforeMs > nowMs) return false
    if (running.some((other) => claimsConflict(other.claims, each.claims))) return false
    return !waiting.some(
      (earlier) =>
        compareRows(earlier, each) < 0 &&
        claimsConflict(earlier.claims, each.claims) &&
        holdsBack(earlier, each, nowMs),
    )
  }

  test('finds after every event exactly those whom the rule over the whole table admits', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const queue = new Queue<Row>()
        const waiting: Row[] = []
        const running: Row[] = []
        let now = 0
        let woken: Row[] = []
        let freed: Row | undefined
        const take = (rows: Row[], which: number) => rows.splice(which % rows.length, 1)[0]

        for (const event of steps) {
          woken = []
          freed = undefined
          if (event.kind === 'queue') {
            const { claims, delayMs, ...rest } = event.parts
            const queued = row(claims, { ...rest, queuedAtMs: now, notBeforeMs: now + delayMs })
            queue.insert(queued)
            waiting.push(queued)
            woken = [queued]
          } else if (event.kind === 'end' && running.length > 0) {
            freed = take(running, event.which)
            if (freed) queue.end(freed)
          } else if (event.kind === 'cancel' && waiting.length > 0) {
            freed = take(waiting, event.which)
            if (freed) queue.remove(freed)
          } else if (event.kind === 'raise' && waiting.length > 0) {
            const raised = waiting[event.which % waiting.length]
            if (raised) {
              queue.raise(raised, agedRank(raised.rank, AGEING_MS))
              woken = [raised]
            }
          } else if (event.kind === 'time') {
            const before = now
            now += event.ms
            woken = waiting.filter((each) => each.notBeforeMs > before && each.notBeforeMs <= now)
          }

          const rows = [...new Set([...woken, ...candidates(queue, freed?.claims ?? [], now)])].sort(
            compareRows,
          )
          const started = admit(queue, rows, now)

          const expected: Row[] = []
          for (const each of [...waiting].sort(compareRows)) {
            const others = waiting.filter((other) => !expected.includes(other))
            if (mayStart(each, others, [...running, ...expected], now)) expected.push(each)
          }
          expect(started).toEqual(expected)

          for (const each of started) {
            queue.start(each)
            waiting.splice(waiting.indexOf(each), 1)
            running.push(each)
          }
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('looks at one row for an event on a port, however many wait there and elsewhere', () => {
    const queue = new Queue<Row>()
    const holder = row([exclusive('port:0')])
    queue.insert(holder)
    queue.start(holder)
    for (let index = 0; index < 1_000; index += 1) queue.insert(row([exclusive(`port:${index % 4}`)]))
    queue.end(holder)
    expect(candidates(queue, holder.claims, 0)).toHaveLength(1)
  })
})
