/**
 * The one table of claims of the process: the rows that wait, in order, and the rows that run, by resource. It keeps
 * the order and decides nothing; admission.ts has the rule.
 *
 * Rows that want a resource exclusively stand in a sorted array, for every event asks who is in front. Rows that share
 * it are an unordered set: only somebody who wants it exclusively asks for them, and of `gateway`, which every row
 * shares, that is rare.
 */
import { assert } from '../errors.ts'
import { type ClaimMode, type Claims, ownClaimCount } from './claims.ts'
import type { Rank } from './declaration.ts'

/** A call in the table. */
export interface Row {
  /** Order of acceptance in the process: first come, first served. */
  readonly order: number
  readonly device: string | undefined
  readonly claims: Claims
  /** Since when it waits for nothing of its lane any more. */
  readonly queuedAtMs: number
  /** Changed only by `Queue.raise`. */
  rank: Rank
  /** False: it keeps its place and may not start yet. Changed only by `Queue.setReady`. */
  isReady: boolean
}

const RANK_ORDER: Readonly<Record<Rank, number>> = { stop: 0, interactive: 1, automation: 2, poll: 3 }

export function compareRows(one: Row, other: Row): number {
  return RANK_ORDER[one.rank] - RANK_ORDER[other.rank] || one.order - other.order
}

/** One resource. */
export interface Line<R extends Row> {
  /** In order. */
  readonly waitingExclusive: readonly R[]
  readonly waitingShared: ReadonlySet<R>
  readonly running: Readonly<Record<ClaimMode, number>>
}

interface MutableLine<R extends Row> extends Line<R> {
  readonly waitingExclusive: R[]
  readonly waitingShared: Set<R>
  readonly running: Record<ClaimMode, number>
}

export class Queue<R extends Row> {
  readonly #lines = new Map<string, MutableLine<R>>()
  readonly #waiting = new Set<R>()
  readonly #unreadyByDevice = new Map<string, R[]>()
  readonly #several = new Set<R>()

  isWaiting(row: R): boolean {
    return this.#waiting.has(row)
  }

  /** Undefined: nobody waits for the resource or holds it. */
  line(resource: string): Line<R> | undefined {
    return this.#lines.get(resource)
  }

  /** The waiting rows of the device that are not ready, in order. */
  unready(device: string): readonly R[] {
    return this.#unreadyByDevice.get(device) ?? []
  }

  /** The waiting rows of several claims. */
  get several(): ReadonlySet<R> {
    return this.#several
  }

  insert(row: R): void {
    assert(!this.#waiting.has(row), 'a row is in the table once')
    this.#waiting.add(row)
    for (const [resource, mode] of row.claims) {
      const line = this.#lineFor(resource)
      if (mode === 'exclusive') insertInto(line.waitingExclusive, row)
      else line.waitingShared.add(row)
    }
    if (ownClaimCount(row.claims) > 1) this.#several.add(row)
    if (!row.isReady) this.#addUnready(row)
  }

  /** Takes a waiting row out. */
  remove(row: R): void {
    assert(this.#waiting.delete(row), 'only a waiting row is taken out')
    for (const [resource, mode] of row.claims) {
      const line = this.#lineFor(resource)
      if (mode === 'exclusive') removeFrom(line.waitingExclusive, row)
      else line.waitingShared.delete(row)
      this.#dropIfIdle(resource, line)
    }
    this.#several.delete(row)
    if (!row.isReady) this.#removeUnready(row)
  }

  /** A waiting row runs from now on and holds all its claims. */
  start(row: R): void {
    this.remove(row)
    for (const [resource, mode] of row.claims) {
      const { running } = this.#lineFor(resource)
      const isFree = running.exclusive === 0 && (mode === 'shared' || running.shared === 0)
      assert(isFree, 'a row starts only where all its claims are free')
      running[mode] += 1
    }
  }

  /** A running row is over and holds nothing any more. */
  end(row: R): void {
    for (const [resource, mode] of row.claims) {
      const line = this.#lineFor(resource)
      line.running[mode] -= 1
      this.#dropIfIdle(resource, line)
    }
  }

  raise(row: R, rank: Rank): void {
    this.remove(row)
    row.rank = rank
    this.insert(row)
  }

  setReady(row: R, isReady: boolean): void {
    assert(this.#waiting.has(row), 'only a waiting row becomes ready')
    if (row.isReady === isReady) return
    if (isReady) this.#removeUnready(row)
    else this.#addUnready(row)
    row.isReady = isReady
  }

  #addUnready(row: R): void {
    if (row.device === undefined) return
    const rows = this.#unreadyByDevice.get(row.device)
    if (rows) insertInto(rows, row)
    else this.#unreadyByDevice.set(row.device, [row])
  }

  #removeUnready(row: R): void {
    if (row.device === undefined) return
    const rows = this.#unreadyByDevice.get(row.device)
    if (rows) removeFrom(rows, row)
    if (rows?.length === 0) this.#unreadyByDevice.delete(row.device)
  }

  #lineFor(resource: string): MutableLine<R> {
    let line = this.#lines.get(resource)
    if (!line) {
      line = { waitingExclusive: [], waitingShared: new Set(), running: { exclusive: 0, shared: 0 } }
      this.#lines.set(resource, line)
    }
    return line
  }

  #dropIfIdle(resource: string, line: MutableLine<R>): void {
    const waiting = line.waitingExclusive.length + line.waitingShared.size
    if (waiting + line.running.exclusive + line.running.shared === 0) this.#lines.delete(resource)
  }
}

function insertInto<R extends Row>(rows: R[], row: R): void {
  rows.splice(indexFor(rows, row), 0, row)
}

function removeFrom<R extends Row>(rows: R[], row: R): void {
  const index = indexFor(rows, row)
  assert(rows[index] === row, 'a waiting row stands at its place')
  rows.splice(index, 1)
}

/** Where the row stands, or would stand, in the sorted rows. */
function indexFor(rows: readonly Row[], row: Row): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = rows[middle]
    if (other && compareRows(other, row) < 0) low = middle + 1
    else high = middle
  }
  return low
}
