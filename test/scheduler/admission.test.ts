import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AGEING_MS,
  admit,
  agedRank,
  candidates,
  type Freed,
  freedByUnready,
} from '../../src/scheduler/admission.ts'
import { claimsConflict, claimsOf, ownClaimCount } from '../../src/scheduler/claims.ts'
import type { Claim, Rank } from '../../src/scheduler/declaration.ts'
import { compareRows, Queue, type Row } from '../../src/scheduler/queue.ts'

const exclusive = (resource: string): Claim => ({ resource, mode: 'exclusive' })
const shared = (resource: string): Claim => ({ resource, mode: 'shared' })

let nextOrder = 0
function row(claims: readonly Claim[], parts: Partial<Omit<Row, 'claims'>> = {}): Row {
  nextOrder += 1
  return {
    order: nextOrder,
    device: undefined,
    claims: claimsOf(claims),
    queuedAtMs: 0,
    rank: 'interactive',
    isReady: true,
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
  const meter = { device: 'meter' }
  const unready = (parts: Partial<Row> = {}) => row([exclusive('a')], { ...meter, isReady: false, ...parts })

  test('is not admitted', () => {
    expect(admitted([unready()])).toEqual([])
  })

  test('is passed by calls to other devices of its port', () => {
    const other = row([exclusive('a')], { device: 'relay' })
    expect(admitted([unready(), other])).toEqual([other])
  })

  test('holds back calls to its own device, of its rank and of lower ones', () => {
    expect(admitted([unready(), row([exclusive('a')], meter)])).toEqual([])
    expect(admitted([unready(), row([exclusive('a')], { ...meter, rank: 'poll' })])).toEqual([])
  })

  test('does not hold back a call of a higher rank to its own device', () => {
    const stop = row([exclusive('a')], { ...meter, rank: 'stop' })
    expect(admitted([unready(), stop])).toEqual([stop])
  })

  test('does not make the calls behind it to its device hold back others', () => {
    const [settling, stuck] = [unready(), row([exclusive('a')], meter)]
    const other = row([exclusive('a')], { device: 'relay' })
    expect(admitted([settling, stuck, other])).toEqual([other])
  })

  test('does not hold back a call to its device that touches another resource', () => {
    const elsewhere = row([exclusive('b')], meter)
    expect(admitted([unready(), elsewhere])).toEqual([elsewhere])
  })

  test('without a device holds back nobody', () => {
    const [one, other] = [row([exclusive('a')], { isReady: false }), row([exclusive('a')])]
    expect(admitted([one, other])).toEqual([other])
  })
})

describe('a call of several claims', () => {
  const holder = row([exclusive('a')])
  const several = row([exclusive('a'), exclusive('b')], { queuedAtMs: 100 })
  const later = row([exclusive('b')])

  test('holds back nobody for its first 2 s', () => {
    expect(admitted([several, later], 2_099, [holder])).toEqual([later])
  })

  test('holds back everybody after that', () => {
    expect(admitted([several, later], 2_100, [holder])).toEqual([])
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
    device: fc.constantFrom(undefined, 'x', 'x', 'y'),
    rank: fc.constantFrom<Rank>('interactive', 'automation', 'poll', 'stop'),
    isReady: fc.constantFrom(true, true, false),
  })
  const pick = <K extends string>(kind: K) => fc.record({ kind: fc.constant(kind), which: fc.nat() })
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('queue' as const), parts }) },
    { weight: 4, arbitrary: pick('end') },
    { weight: 1, arbitrary: pick('cancel') },
    { weight: 1, arbitrary: pick('raise') },
    { weight: 2, arbitrary: pick('unready') },
    { weight: 2, arbitrary: pick('ready') },
    { weight: 2, arbitrary: fc.constant({ kind: 'time' as const, ms: 1_500 }) },
  )

  class Table {
    readonly queue = new Queue<Row>()
    readonly waiting: Row[] = []
    readonly running: Row[] = []
    nowMs = 0

    /** The rule by its words, over all rows. */
    mayStart(each: Row, started: readonly Row[]): boolean {
      const conflicts = (other: Row) => claimsConflict(other.claims, each.claims)
      if (!each.isReady || [...this.running, ...started].some(conflicts)) return false
      return !this.waiting.some(
        (earlier) =>
          !started.includes(earlier) &&
          compareRows(earlier, each) < 0 &&
          conflicts(earlier) &&
          this.#holdsBack(earlier, each),
      )
    }

    #holdsBack(earlier: Row, each: Row): boolean {
      const isYoung = this.nowMs - earlier.queuedAtMs < 2_000
      if (ownClaimCount(earlier.claims) > 1 && isYoung && earlier.rank !== 'stop') return false
      const isStuckBehind = (other: Row) =>
        !other.isReady &&
        other.device !== undefined &&
        other.device === earlier.device &&
        compareRows(other, earlier) <= 0 &&
        claimsConflict(other.claims, earlier.claims)
      if (earlier.isReady && !this.waiting.some(isStuckBehind)) return true
      return earlier.device !== undefined && earlier.device === each.device
    }

    /** What was freed by the event, and which rows it concerns. */
    apply(event: typeof step extends fc.Arbitrary<infer E> ? E : never): { freed: Freed; woken: Row[] } {
      const { queue, waiting, running } = this
      if (event.kind === 'queue') {
        const { claims, ...rest } = event.parts
        const queued = row(claims, { ...rest, queuedAtMs: this.nowMs })
        queue.insert(queued)
        waiting.push(queued)
        return { freed: queued.isReady ? [] : freedByUnready(queue, queued), woken: [queued] }
      }
      if (event.kind === 'time') {
        this.nowMs += event.ms
        return { freed: [], woken: [] }
      }
      const rows = event.kind === 'end' ? running : waiting
      const chosen = rows[event.which % Math.max(1, rows.length)]
      if (!chosen) return { freed: [], woken: [] }
      switch (event.kind) {
        case 'end':
          queue.end(chosen)
          running.splice(running.indexOf(chosen), 1)
          return { freed: chosen.claims, woken: [] }
        case 'cancel':
          queue.remove(chosen)
          waiting.splice(waiting.indexOf(chosen), 1)
          return { freed: chosen.claims, woken: [] }
        case 'raise':
          queue.raise(chosen, agedRank(chosen.rank, AGEING_MS))
          return { freed: chosen.isReady ? [] : freedByUnready(queue, chosen), woken: [chosen] }
        case 'ready':
          queue.setReady(chosen, true)
          return { freed: [], woken: [chosen] }
        case 'unready':
          queue.setReady(chosen, false)
          return { freed: freedByUnready(queue, chosen), woken: [] }
      }
    }

    start(rows: readonly Row[]): void {
      for (const each of rows) {
        this.queue.start(each)
        this.waiting.splice(this.waiting.indexOf(each), 1)
        this.running.push(each)
      }
    }
  }

  test('finds after every event exactly those whom the rule over the whole table admits', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const table = new Table()
        for (const event of steps) {
          const { freed, woken } = table.apply(event)
          const found = candidates(table.queue, freed, table.nowMs)
          const rows = [...new Set([...woken, ...found])].sort(compareRows)
          const started = admit(table.queue, rows, table.nowMs)

          const expected: Row[] = []
          for (const each of [...table.waiting].sort(compareRows)) {
            if (table.mayStart(each, expected)) expected.push(each)
          }
          expect(started).toEqual(expected)
          table.start(started)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('finds whom a row of several claims lets go that gets stuck behind one that is not ready', () => {
    const queue = new Queue<Row>()
    const meter = { device: 'meter' }
    const [holder, settling] = [row([exclusive('a')]), row([exclusive('a')], meter)]
    const several = row([exclusive('a'), exclusive('b')], meter)
    const later = row([exclusive('b')], { device: 'relay' })
    for (const each of [holder, settling, several, later]) queue.insert(each)
    queue.start(holder)
    const found = (freed: Freed) => admit(queue, candidates(queue, freed, 3_000), 3_000)
    expect(found(later.claims)).toEqual([])
    queue.setReady(settling, false)
    expect(found(freedByUnready(queue, settling))).toEqual([later])
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
