/**
 * Who may start. A waiting call is admitted when all its claims are free at once and nothing that stands before it and
 * conflicts with it holds it back. Before it stand the waiting calls of a higher rank, and those of its own rank that
 * were accepted earlier. Nothing is held while waiting for something else, so there is no deadlock. Order within a lane
 * is no matter of this file: a call is in the table only when it waits for nothing of its lane.
 *
 * What a waiting call holds back:
 * - ready: everything behind it that conflicts;
 * - not ready yet (a reply that it could take, settling), or stuck behind such a call to its own device: only calls to
 *   its device, so that one slow unit of a bus does not stop the others;
 * - of several claims, for its first 2 s: nothing, so that it makes no convoy; after that as the others, so that it
 *   does not starve.
 *
 * Ageing: after 10 s in the table a poll gains the rank `automation`, and an automation the rank `interactive`, once.
 * So an automation starts at the latest when, 10 s on, the conflicting calls that were accepted before it are over,
 * however many people keep calling; a poll likewise among automations. People go before polls for ever, and nothing
 * gains the rank `stop`.
 *
 * Cost of an event: the rows that want a resource that it freed exclusively, from the front to the first that holds
 * back all others, so one row and one more for each in front of it that is not ready or has several claims. Only where
 * a resource becomes free for one that wants it exclusively are the rows that share it looked at too.
 */
import { type ClaimMode, type Claims, claimsConflict, modesConflict, ownClaimCount } from './claims.ts'
import type { Rank } from './declaration.ts'
import { compareRows, type Queue, type Row } from './queue.ts'

/** Time in the table after which a call gains a rank. */
export const AGEING_MS = 10_000
/** Time in the table after which a call of several claims holds back others. */
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

/** What a row frees that waits on but is not ready: it holds back fewer, and so do the rows that it makes stuck. */
export function freedByUnready<R extends Row>(queue: Queue<R>, row: R): Freed {
  const freed = [...row.claims]
  for (const other of queue.several) {
    if (other.device === row.device) freed.push(...other.claims)
  }
  return freed
}

/** The waiting rows that could start now because of what was freed, in order. A superset: `admit` decides. */
export function candidates<R extends Row>(queue: Queue<R>, freed: Freed, nowMs: number): readonly R[] {
  const found = new Set<R>()
  for (const [resource, mode] of freed) {
    const line = queue.line(resource)
    if (!line) continue
    let stopper: R | undefined
    for (const row of line.waitingExclusive) {
      if (row.isReady) found.add(row)
      if (reach(queue, row, nowMs) !== 'everything') continue
      stopper = row
      break
    }
    if (mode === 'shared') continue
    for (const row of line.waitingShared) {
      if (row.isReady && !(stopper && compareRows(stopper, row) < 0)) found.add(row)
    }
  }
  return [...found].sort(compareRows)
}

/** Which of the rows, given in order, start now: one decision over the whole table, which it does not change. */
export function admit<R extends Row>(queue: Queue<R>, rows: readonly R[], nowMs: number): readonly R[] {
  const admitted: R[] = []
  const taken = new Map<string, ClaimMode>()
  for (const row of rows) {
    if (!row.isReady || !queue.isWaiting(row)) continue
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
  const holdsBack = (earlier: R): boolean => {
    const reached = reach(queue, earlier, nowMs)
    if (reached === 'device') return earlier.device !== undefined && earlier.device === row.device
    return reached === 'everything'
  }
  for (const [resource, mode] of row.claims) {
    const line = queue.line(resource)
    for (const earlier of line?.waitingExclusive ?? []) {
      if (compareRows(earlier, row) >= 0) break
      if (holdsBack(earlier)) return true
    }
    if (mode === 'shared') continue
    for (const earlier of line?.waitingShared ?? []) {
      if (compareRows(earlier, row) < 0 && holdsBack(earlier)) return true
    }
  }
  return false
}

/** What a waiting row holds back, of all that stands behind it and conflicts with it. */
function reach<R extends Row>(queue: Queue<R>, row: R, nowMs: number): 'everything' | 'device' | 'nothing' {
  if (isPatient(row, nowMs)) return 'nothing'
  return row.isReady && !isStuck(queue, row) ? 'everything' : 'device'
}

function isPatient(row: Row, nowMs: number): boolean {
  if (row.rank === 'stop' || ownClaimCount(row.claims) < 2) return false
  return nowMs < row.queuedAtMs + SEVERAL_CLAIMS_PATIENCE_MS
}

/** Ready, but behind a call to its own device that is not. */
function isStuck<R extends Row>(queue: Queue<R>, row: R): boolean {
  if (row.device === undefined) return false
  for (const earlier of queue.unready(row.device)) {
    if (compareRows(earlier, row) >= 0) return false
    if (claimsConflict(earlier.claims, row.claims)) return true
  }
  return false
}
