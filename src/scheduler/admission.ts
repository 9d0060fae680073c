/**
 * Who may start. A waiting call is admitted when all its claims are free at once and nothing that stands before it and
 * conflicts with it holds it back. Before it stand the waiting calls of a higher rank, and those of its own rank that
 * were accepted earlier. Nothing is held while waiting for something else, so there is no deadlock.
 *
 * What a waiting call holds back:
 * - ready: everything behind it that conflicts;
 * - not ready yet (a reply that it could take, settling): only calls of its lane and to its device, so that one slow
 *   unit of a bus does not stop the others;
 * - of several claims, for its first 2 s: only calls of its lane, so that it makes no convoy; after that everything,
 *   so that it does not starve.
 *
 * Ageing: after 10 s in the queue a poll gains the rank `automation`, and an automation the rank `interactive`, once.
 * So an automation starts at the latest when, 10 s on, the conflicting calls that were accepted before it are over,
 * however many people keep calling; a poll likewise among automations. People go before polls for ever, and nothing
 * gains the rank `stop`.
 *
 * Cost of an event: the rows in front of each resource that it freed, up to the first that holds back all others.
 * That is one row, and one more for each row in front of it that is not ready or shares the resource.
 */
import { type ClaimMode, type Claims, modesConflict, ownClaimCount } from './claims.ts'
import type { Rank } from './declaration.ts'
import { compareRows, type Line, type Queue, type Row } from './queue.ts'

/** Time in the queue after which a call gains a rank. */
export const AGEING_MS = 10_000
/** Time in the queue after which a call of several claims holds back others. */
export const SEVERAL_CLAIMS_PATIENCE_MS = 2_000

const AGED: Readonly<Record<Rank, Rank>> = {
  stop: 'stop',
  interactive: 'interactive',
  automation: 'interactive',
  poll: 'automation',
}

/** The rank of a call that was queued with `rank` and has waited for `waitedMs`. */
export function agedRank(rank: Rank, waitedMs: number): Rank {
  return waitedMs >= AGEING_MS ? AGED[rank] : rank
}

/** What has been freed since the last admission, by resource. An exclusive holder kept out everybody, a shared one exclusive ones. */
export type Freed = Iterable<readonly [resource: string, mode: ClaimMode]>

/** The waiting rows that could start now because of what was freed, in order. A superset: `admit` decides. */
export function candidates<R extends Row>(queue: Queue<R>, freed: Freed, nowMs: number): readonly R[] {
  const found = new Set<R>()
  for (const [resource, mode] of freed) {
    const line = queue.line(resource)
    if (!line) continue
    let stopper: R | undefined
    for (const row of line.waiting.exclusive) {
      if (row.notBeforeMs <= nowMs) found.add(row)
      if (reach(row, nowMs) === 'everything') {
        stopper = row
        break
      }
    }
    if (mode === 'shared') continue
    for (const row of line.waiting.shared) {
      if (stopper && compareRows(stopper, row) < 0) break
      if (row.notBeforeMs <= nowMs) found.add(row)
    }
  }
  return [...found].sort(compareRows)
}

/** Which of the rows, given in order, start now: one decision over the whole table, which it does not change. */
export function admit<R extends Row>(queue: Queue<R>, rows: readonly R[], nowMs: number): readonly R[] {
  const admitted: R[] = []
  const taken = new Map<string, ClaimMode>()
  for (const row of rows) {
    if (row.notBeforeMs > nowMs || !queue.isWaiting(row)) continue
    if (!areFree(queue, taken, row.claims) || isHeldBack(queue, row, nowMs)) continue
    admitted.push(row)
    for (const [resource, mode] of row.claims) taken.set(resource, mode)
  }
  return admitted
}

function areFree<R extends Row>(
  queue: Queue<R>,
  taken: ReadonlyMap<string, ClaimMode>,
  claims: Claims,
): boolean {
  for (const [resource, mode] of claims) {
    const running = queue.line(resource)?.running
    if (running && (running.exclusive > 0 || (mode === 'exclusive' && running.shared > 0))) return false
    const takenMode = taken.get(resource)
    if (takenMode && modesConflict(takenMode, mode)) return false
  }
  return true
}

function isHeldBack<R extends Row>(queue: Queue<R>, row: R, nowMs: number): boolean {
  for (const [resource, mode] of row.claims) {
    const waiting = queue.line(resource)?.waiting
    if (!waiting) continue
    if (anyHoldsBack(waiting.exclusive, row, nowMs)) return true
    if (mode === 'exclusive' && anyHoldsBack(waiting.shared, row, nowMs)) return true
  }
  return false
}

function anyHoldsBack(conflicting: Line<Row>['waiting'][ClaimMode], row: Row, nowMs: number): boolean {
  for (const earlier of conflicting) {
    if (compareRows(earlier, row) >= 0) return false
    if (holdsBack(earlier, row, nowMs)) return true
  }
  return false
}

/** Whether a waiting row holds back one that stands behind it and conflicts with it. */
export function holdsBack(earlier: Row, later: Row, nowMs: number): boolean {
  switch (reach(earlier, nowMs)) {
    case 'everything':
      return true
    case 'lane_and_device':
      return earlier.lane === later.lane || (earlier.device !== undefined && earlier.device === later.device)
    case 'lane':
      return earlier.lane === later.lane
  }
}

function reach(row: Row, nowMs: number): 'everything' | 'lane_and_device' | 'lane' {
  const isPatient = row.rank !== 'stop' && ownClaimCount(row.claims) > 1
  if (isPatient && nowMs - row.queuedAtMs < SEVERAL_CLAIMS_PATIENCE_MS) return 'lane'
  return row.notBeforeMs > nowMs ? 'lane_and_device' : 'everything'
}
