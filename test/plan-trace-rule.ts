/**
 * Which calls of a batch must wait for which, said a second time, from the documented rules alone and pair by pair:
 * what the planner and the lane share is not asked here.
 */
import type { Policy } from '../src/index.ts'

/** What the rules need to know of one call. */
export interface RuledCall {
  /** This call may overlap with others of its kind. */
  readonly isSafe: boolean
  /** Declared serial on purpose. */
  readonly isSerial: boolean
  readonly claims: Readonly<Record<string, 'shared' | 'exclusive'>>
}

/** For each call the earlier ones that it waits for, directly or through others. */
export type Waits = readonly ReadonlySet<number>[]

export function ruledWaits(calls: readonly RuledCall[], policy: Policy): Waits {
  const areTogether = calls.length > 1 && calls.every(({ isSafe }) => isSafe)
  return closureOf(
    calls.map((later, at) =>
      calls.slice(0, at).flatMap((earlier, index) => {
        const isApart = {
          partition: () => !calls.slice(index, at + 1).every(({ isSafe }) => isSafe),
          batch: () => !areTogether,
          resource: () => isBarrier(earlier) || isBarrier(later),
        }[policy]()
        return isApart || conflict(earlier, later) ? [index] : []
      }),
    ),
  )
}

/** The partitions by index. Under `resource` a call stands one behind the last of those that it waits for. */
export function ruledPartitions(calls: readonly RuledCall[], policy: Policy): number[][] {
  const waits = ruledWaits(calls, policy)
  const places: number[] = []
  for (const [at, call] of calls.entries()) {
    const before = at === 0 ? -1 : (places[at - 1] ?? -1)
    if (policy === 'resource') {
      places.push(Math.max(-1, ...[...(waits[at] ?? [])].map((index) => places[index] ?? -1)) + 1)
    } else if (policy === 'batch') {
      places.push(calls.every(({ isSafe }) => isSafe) ? 0 : at)
    } else {
      places.push(call.isSafe && calls[at - 1]?.isSafe ? before : before + 1)
    }
  }
  return Array.from({ length: Math.max(-1, ...places) + 1 }, (_, partition) =>
    places.flatMap((place, index) => (place === partition ? [index] : [])),
  )
}

/** Whom each waits for in the end, if these are whom it waits for at first hand. */
export function closureOf(direct: readonly (readonly number[])[]): Waits {
  const waits: Set<number>[] = []
  for (const earlier of direct) {
    waits.push(new Set(earlier.flatMap((index) => [index, ...(waits[index] ?? [])])))
  }
  return waits
}

function isBarrier({ isSafe, isSerial, claims }: RuledCall): boolean {
  return !isSafe && !(isSerial && Object.keys(claims).length > 0)
}

/** A line is exclusive whatever is said of it, and whoever claims the gateway overlaps nothing at all. */
function conflict(one: RuledCall, other: RuledCall): boolean {
  if (one.claims.gateway === 'exclusive' || other.claims.gateway === 'exclusive') return true
  return Object.entries(one.claims).some(([resource, mode]) => {
    const otherMode = other.claims[resource]
    if (otherMode === undefined) return false
    return resource.startsWith('port:') || mode === 'exclusive' || otherMode === 'exclusive'
  })
}
