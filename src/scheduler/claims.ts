/**
 * Claims: which calls may not overlap. Two calls conflict if they name one resource and at least one of them needs
 * it exclusively. Every call claims `gateway` shared without saying so; a line is exclusive whatever is said.
 */
import type { Claim } from './declaration.ts'

export const GATEWAY = 'gateway'
const PORT_PREFIX = 'port:'

export type ClaimMode = Claim['mode']

/** All resources of one call with the strongest mode that was asked of each; `gateway` is always among them. */
export type Claims = ReadonlyMap<string, ClaimMode>

export function claimsOf(claims: readonly Claim[]): Claims {
  const modes = new Map<string, ClaimMode>([[GATEWAY, 'shared']])
  for (const { resource, mode } of claims) {
    if (mode === 'exclusive' || isPort(resource)) modes.set(resource, 'exclusive')
    else if (!modes.has(resource)) modes.set(resource, 'shared')
  }
  return modes
}

export function isPort(resource: string): boolean {
  return resource.startsWith(PORT_PREFIX)
}

/** Resources that the call named itself. */
export function ownClaimCount(claims: Claims): number {
  return claims.get(GATEWAY) === 'exclusive' ? claims.size : claims.size - 1
}

export function modesConflict(one: ClaimMode, other: ClaimMode): boolean {
  return one === 'exclusive' || other === 'exclusive'
}

export function claimsConflict(one: Claims, other: Claims): boolean {
  for (const [resource, mode] of one) {
    const otherMode = other.get(resource)
    if (otherMode && modesConflict(mode, otherMode)) return true
  }
  return false
}

interface Holders {
  exclusive: number | undefined
  exclusiveLevel: number
  /** Since the last exclusive one. */
  shared: number[]
  sharedLevel: number
}

/** Where a call stands among those that conflict with it. */
export interface ClaimPlace {
  /** 0: nothing before it conflicts; else one more than the highest level that it waits for. */
  readonly level: number
  /** The nearest earlier calls that conflict, each with the resource; those further back are waited for through them. */
  readonly waitsFor: ReadonlyMap<number, string>
}

/**
 * Keeps declared order between conflicting calls. Each call is looked at once for each of its claims, and is waited
 * for directly by the next exclusive claimant only, so that all edges together are linear in the claims.
 */
export class ClaimOrder {
  readonly #holders = new Map<string, Holders>()

  place(index: number, claims: Claims): ClaimPlace {
    const waitsFor = new Map<number, string>()
    let level = 0
    for (const [resource, mode] of claims) {
      const holders = this.#holders.get(resource)
      if (!holders) continue
      const afterShared = mode === 'exclusive' && holders.shared.length > 0
      if (afterShared) {
        for (const earlier of holders.shared) waitsFor.set(earlier, resource)
        level = Math.max(level, holders.sharedLevel + 1)
      } else if (holders.exclusive !== undefined) {
        waitsFor.set(holders.exclusive, resource)
        level = Math.max(level, holders.exclusiveLevel + 1)
      }
    }
    // Everybody waits for whoever has the gateway, and through it for all before.
    if (claims.get(GATEWAY) === 'exclusive') this.#holders.clear()
    for (const [resource, mode] of claims) this.#hold(resource, mode, index, level)
    return { level, waitsFor }
  }

  #hold(resource: string, mode: ClaimMode, index: number, level: number): void {
    let holders = this.#holders.get(resource)
    if (!holders) {
      holders = { exclusive: undefined, exclusiveLevel: 0, shared: [], sharedLevel: 0 }
      this.#holders.set(resource, holders)
    }
    if (mode === 'exclusive') {
      holders.exclusive = index
      holders.exclusiveLevel = level
      holders.shared = []
      holders.sharedLevel = 0
    } else {
      holders.shared.push(index)
      holders.sharedLevel = Math.max(holders.sharedLevel, level)
    }
  }
}
