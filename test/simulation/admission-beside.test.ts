/** Random tables, decided by the scheduler's admission and by the model: who starts, and in what order. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admit, agedRank } from '../../src/scheduler/admission.ts'
import { claimsConflict, claimsOf } from '../../src/scheduler/claims.ts'
import type { Claim, Rank } from '../../src/scheduler/declaration.ts'
import { compareRows, Queue, type Row } from '../../src/scheduler/queue.ts'
import { type Call, mayStart, type Table } from './admission-model.ts'

const TABLES = 4_000
const NOW_MS = 60_000

const PORT_OF: Readonly<Record<string, string>> = {
  meter: 'port:bus1',
  relay: 'port:bus1',
  pump: 'port:bus2',
}
const onPort = (resource: string): Claim => ({ resource, mode: 'exclusive' })

const claims = fc
  .uniqueArray(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('port:bus1', 'port:bus2', 'port:bus3') },
      { weight: 3, arbitrary: fc.constantFrom('valve', 'tank') },
      { weight: 1, arbitrary: fc.constant('gateway') },
    ),
    { maxLength: 3, size: 'max' },
  )
  .chain((resources) =>
    fc.tuple(
      ...resources.map((resource) =>
        fc
          .constantFrom<Claim['mode']>('shared', 'exclusive')
          // Every call shares the gateway without saying so.
          .map((mode): Claim => ({ resource, mode: resource === 'gateway' ? 'exclusive' : mode })),
      ),
    ),
  )

/** Around the two bounds more often than anywhere else: to the millisecond, and on either side of them. */
const waitedMs = fc.oneof(
  fc.nat(30_000),
  fc.constantFrom(0, 1_999, 2_000, 2_001, 9_999, 10_000, 10_001, 20_000),
)

interface Sketch {
  readonly claims: readonly Claim[]
  readonly rank: Rank
  readonly device: string | undefined
  readonly isReady: boolean
  readonly waitedMs: number
  readonly isRunning: boolean
}

const sketch: fc.Arbitrary<Sketch> = fc
  .record({
    claims,
    rank: fc.constantFrom<Rank>('stop', 'interactive', 'interactive', 'automation', 'poll'),
    device: fc.constantFrom('meter', 'relay', 'pump', undefined),
    isReady: fc.boolean().chain((ready) => (ready ? fc.constant(true) : fc.boolean())),
    waitedMs,
    isRunning: fc.boolean(),
  })
  .map((parts) => {
    const port = parts.device && PORT_OF[parts.device]
    return {
      ...parts,
      // A call to a device wants its port, whatever else it wants.
      claims: port
        ? [onPort(port), ...parts.claims.filter(({ resource }) => resource !== port)]
        : parts.claims,
      // A stop command goes out at once, on whatever line; and only a line makes wait.
      isReady: parts.isReady || parts.rank === 'stop' || port === undefined,
    }
  })

/** Of those that should run, those run that can beside the ones before. */
function runningOf(sketches: readonly Sketch[]): ReadonlySet<Sketch> {
  const running = new Set<Sketch>()
  for (const each of sketches) {
    if (!each.isRunning) continue
    const wanted = claimsOf(each.claims)
    const isFree = [...running].every((other) => !claimsConflict(claimsOf(other.claims), wanted))
    if (isFree) running.add(each)
  }
  return running
}

/** Who starts by the scheduler's admission, which is given all that wait, in order. */
function starts(sketches: readonly Sketch[]): readonly string[] {
  const queue = new Queue<Row>()
  const running = runningOf(sketches)
  const waiting: Row[] = []
  for (const [order, each] of sketches.entries()) {
    const row: Row = {
      order,
      device: each.device,
      claims: claimsOf(each.claims),
      queuedAtMs: NOW_MS - each.waitedMs,
      rank: agedRank(each.rank, each.waitedMs),
      isReady: each.isReady,
    }
    queue.insert(row)
    if (running.has(each)) queue.start(row)
    else waiting.push(row)
  }
  return admit(queue, waiting.sort(compareRows), NOW_MS).map(({ order }) => String(order))
}

function tableOf(sketches: readonly Sketch[]): Table {
  const running = runningOf(sketches)
  const calls = sketches.map((each, order): Call => {
    return {
      id: String(order),
      state: running.has(each) ? 'running' : 'waiting',
      index: 0,
      ...(each.device === undefined ? {} : { device: each.device }),
      effect: 'read',
      parallelSafe: false,
      serial: true,
      claims: each.claims,
      rank: each.rank,
      order,
      enqueuedAt: NOW_MS - each.waitedMs,
      ...(each.isReady ? {} : { notYet: 'reply' }),
    }
  })
  return { now: NOW_MS, calls, ageMs: { automation: 10_000, poll: 10_000 } }
}

describe('the admission and the model of it', () => {
  test(`start the same calls in the same order, in ${TABLES} tables`, () => {
    const table = fc.array(sketch, { minLength: 1, maxLength: 12, size: 'max' })
    fc.assert(
      fc.property(table, (sketches) => {
        expect(starts(sketches)).toEqual(mayStart(tableOf(sketches)))
      }),
      { numRuns: TABLES },
    )
  })
})
