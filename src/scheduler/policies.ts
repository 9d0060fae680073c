/**
 * The order of calls within one lane: which earlier calls must be settled before a call may be admitted, and which
 * partition it belongs to. The lane, the plan and `partition()` all ask here, so there is no second opinion.
 *
 * It follows from declarations, arguments and claims in declared order alone, never from time.
 */
import {
  type ClaimMode,
  ClaimOrder,
  type ClaimPlace,
  type Claims,
  claimsOf,
  GATEWAY,
  ownClaimCount,
} from './claims.ts'
import { type Declaration, isParallelSafe, type Policy } from './declaration.ts'

/** What a policy needs to know of a call. */
export interface OrderedCall {
  /** Undefined: an unknown tool. */
  readonly declaration: Declaration | undefined
  readonly arguments: Readonly<Record<string, unknown>>
  readonly claims: Claims
}

/**
 * Why a call waits for an earlier one of its lane.
 * - `partition`: the earlier one is in the partition before.
 * - `turn`: the calls of the lane run one at a time.
 * - `alone`: one of the two overlaps with nothing of its lane.
 * - `claim`: both need the resource.
 */
export type WaitReason =
  | { readonly kind: 'partition' | 'turn' | 'alone' }
  | { readonly kind: 'claim'; readonly resource: string }

export interface Wait {
  /** Position in the lane, from 0. */
  readonly index: number
  readonly reason: WaitReason
}

export interface Placement {
  /** From 0. */
  readonly partition: number
  /** Enough of the earlier calls: all others that count are waited for through these. */
  readonly waitsFor: readonly Wait[]
}

/**
 * Whatever the policy, calls of one lane whose claims conflict run in declared order: where they stand in one
 * partition they take turns.
 */
export interface LaneOrder {
  place(call: OrderedCall): Placement
  /**
   * Says that the lane was filled at once and is whole. The places of all its calls anew, if they form one partition
   * after all; else undefined.
   */
  joinAll(): readonly Placement[] | undefined
}

export function createLaneOrder(policy: Policy): LaneOrder {
  switch (policy) {
    case 'partition':
      return new PartitionOrder()
    case 'batch':
      return new BatchOrder()
    case 'resource':
      return new ResourceOrder()
  }
}

/** Consecutive parallel-safe calls run together, any other call by itself; a partition waits for the one before. */
class PartitionOrder implements LaneOrder {
  #calls = 0
  #partition = -1
  #isParallel = false
  #current: number[] = []
  #waits: readonly Wait[] = []
  #turns = new ClaimOrder()

  place(call: OrderedCall): Placement {
    const index = this.#calls
    this.#calls += 1
    const isSafe = isParallelSafe(call.declaration, call.arguments)
    if (!(isSafe && this.#isParallel)) {
      this.#waits = this.#current.map((earlier) => ({ index: earlier, reason: { kind: 'partition' } }))
      this.#current = []
      this.#partition += 1
      this.#isParallel = isSafe
      this.#turns = new ClaimOrder()
    }
    this.#current.push(index)
    const waitsFor = [...this.#waits, ...claimWaits(this.#turns.place(index, call.claims))]
    return { partition: this.#partition, waitsFor }
  }

  joinAll(): undefined {}
}

/** All together if there are several and all are parallel-safe, which only a whole lane can tell; else in turn. */
class BatchOrder implements LaneOrder {
  #calls = 0
  #areAllSafe = true
  #together: Placement[] = []
  readonly #turns = new ClaimOrder()

  place(call: OrderedCall): Placement {
    const index = this.#calls
    this.#calls += 1
    this.#areAllSafe &&= isParallelSafe(call.declaration, call.arguments)
    if (this.#areAllSafe) {
      this.#together.push({ partition: 0, waitsFor: claimWaits(this.#turns.place(index, call.claims)) })
    } else {
      this.#together = []
    }
    const waitsFor: Wait[] = index === 0 ? [] : [{ index: index - 1, reason: { kind: 'turn' } }]
    return { partition: index, waitsFor }
  }

  joinAll(): readonly Placement[] | undefined {
    return this.#calls > 1 && this.#areAllSafe ? this.#together : undefined
  }
}

/** Only conflicting claims keep declared order. What has not said how it may overlap is a barrier. */
class ResourceOrder implements LaneOrder {
  #calls = 0
  readonly #order = new ClaimOrder()

  place(call: OrderedCall): Placement {
    const claims = isBarrier(call) ? withBarrier(call.claims) : call.claims
    const place = this.#order.place(this.#calls, claims)
    this.#calls += 1
    return { partition: place.level, waitsFor: claimWaits(place) }
  }

  joinAll(): undefined {}
}

function isBarrier(call: OrderedCall): boolean {
  if (isParallelSafe(call.declaration, call.arguments)) return false
  return !(call.declaration?.serial && ownClaimCount(call.claims) > 0)
}

/** Within its lane a barrier is what a call with an exclusive claim on the gateway is to everybody. */
function withBarrier(claims: Claims): Claims {
  return new Map<string, ClaimMode>(claims).set(GATEWAY, 'exclusive')
}

function claimWaits({ waitsFor }: ClaimPlace): readonly Wait[] {
  return Array.from(waitsFor, ([index, resource]) => ({
    index,
    reason: resource === GATEWAY ? { kind: 'alone' } : { kind: 'claim', resource },
  }))
}

/**
 * The calls grouped as they would run, each group in declared order; under `resource` by earliest start.
 * `declarationOf` gives undefined for a tool that is unknown.
 */
export function partition<
  C extends { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> | undefined },
>(
  calls: readonly C[],
  declarationOf: (name: string) => Declaration | undefined,
  policy: Policy = 'partition',
): C[][] {
  const order = createLaneOrder(policy)
  const groups: C[][] = []
  for (const call of calls) {
    const declaration = declarationOf(call.name)
    const claims = claimsOf(declaration?.claims ?? [])
    const placement = order.place({ declaration, arguments: call.arguments ?? {}, claims })
    const group = groups[placement.partition]
    if (group) group.push(call)
    else groups[placement.partition] = [call]
  }
  return order.joinAll() ? [[...calls]] : groups
}
