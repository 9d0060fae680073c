/**
 * What a call wants for itself, and when its turn had come: by what was declared and by the policy of its lane, as a
 * caller may read them in the documentation.
 */
import type { CallRecord, History, LaneRecord } from '../history.ts'
import type { CallPlan, PortPlan } from '../plan.ts'
import { claimsOfTool } from '../tools.ts'
import { endOf, isSafe, portOf, startOf } from './trace.ts'

export type Claims = ReadonlyMap<string, 'shared' | 'exclusive'>

const GATEWAY = 'gateway'

/** A line is wanted exclusively, and everybody shares the gateway. */
export function claimsOf(history: History, { device, name }: CallPlan): Claims {
  const claims = new Map<string, 'shared' | 'exclusive'>([[GATEWAY, 'shared']])
  if (device !== undefined) return claims.set(portOf(history, device).id, 'exclusive')
  for (const { resource, mode } of claimsOfTool(name as Parameters<typeof claimsOfTool>[0]))
    claims.set(resource, mode)
  return claims
}

export function wantsGateway({ plan }: CallRecord): boolean {
  return plan.name === 'rearrange'
}

/** Resources that it names itself. */
export function ownClaims(history: History, { plan }: CallRecord): number {
  const claims = claimsOf(history, plan)
  return claims.size - (claims.get(GATEWAY) === 'shared' ? 1 : 0)
}

export function conflict(history: History, one: CallPlan, other: CallPlan): boolean {
  return meet(claimsOf(history, one), claimsOf(history, other))
}

function meet(one: Claims, other: Claims): boolean {
  for (const [resource, mode] of one) {
    const otherMode = other.get(resource)
    if (otherMode && (mode === 'exclusive' || otherMode === 'exclusive')) return true
  }
  return false
}

/** Of two calls of a lane: whether the later one waits for the earlier one. */
export function areApart(
  history: History,
  lane: LaneRecord,
  earlier: CallRecord,
  later: CallRecord,
): boolean {
  const { calls, plan } = lane
  if (conflict(history, earlier.plan, later.plan)) return true
  if (plan.policy === 'resource') return isBarrier(history, earlier) || isBarrier(history, later)
  if (plan.policy === 'batch' && plan.kind === 'lane') return true
  const between = plan.policy === 'batch' ? calls : calls.slice(earlier.index, later.index + 1)
  return !between.every((call) => isSafe(call.plan))
}

/** It has not said how it may overlap. */
function isBarrier(history: History, call: CallRecord): boolean {
  if (isSafe(call.plan)) return false
  return call.plan.name === 'note' || ownClaims(history, call) === 0
}

const turns = new WeakMap<LaneRecord, readonly number[]>()

/** When all that its lane makes it wait for was over, and all that those had waited for. Infinite: never. */
export function turnOf(history: History, { lane, index }: CallRecord): number {
  let known = turns.get(lane)
  if (!known) {
    known = turnsOf(history, lane)
    turns.set(lane, known)
  }
  return known[index] ?? Number.POSITIVE_INFINITY
}

function turnsOf(history: History, lane: LaneRecord): readonly number[] {
  const found: number[] = []
  const passed: number[] = []
  for (const call of lane.calls) {
    let turn = call.submittedAt
    for (const earlier of lane.calls.slice(0, call.index)) {
      const passedAt = passed[earlier.index] ?? 0
      if (passedAt > turn && areApart(history, lane, earlier, call)) turn = passedAt
    }
    found.push(turn)
    passed.push(Math.max(turn, endOf(history, call) ?? Number.POSITIVE_INFINITY))
  }
  return found
}

/** When it no longer waited: it started, or it was over. */
export function waitedUntil(history: History, call: CallRecord): number {
  return startOf(history, call) ?? endOf(history, call) ?? Number.POSITIVE_INFINITY
}

export const AGEING_MS = 10_000
export const PERSON = 1

/** A person's call, or an automation's that has grown old, or another. */
export function rankOf({ lane }: CallRecord, waitedMs: number): number {
  return lane.plan.priority === 'interactive' || waitedMs >= AGEING_MS ? PERSON : 0
}

/** Of every call how many came before it. */
export function acceptanceOrder(history: History): ReadonlyMap<CallRecord, number> {
  return new Map(history.calls.map((call, index) => [call, index]))
}

/** Nothing ever touched all lines at once. */
export function isWhole({ plan }: History): boolean {
  const touchesAll = plan.faults.some(({ kind }) => kind === 'stall' || kind === 'crash')
  return !touchesAll && !plan.submissions.some(({ kind }) => kind === 'stop')
}

/** Nothing was wrong with the line, and it never fell behind: whoever had his turn was ready. */
export function isClean(history: History, port: PortPlan): boolean {
  if (!isWhole(history)) return false
  const { faults } = history.plan
  const isTouched = faults.some((fault) => {
    if ('port' in fault) return fault.port === port.id
    return 'device' in fault && port.devices.some(({ id }) => id === fault.device)
  })
  if (isTouched) return false
  return history.calls.every(({ plan, result }) => {
    if (plan.device === undefined || portOf(history, plan.device) !== port) return true
    return result?.outcome !== 'unknown' && !FELL_BEHIND.has(result?.error?.code ?? '')
  })
}

const FELL_BEHIND: ReadonlySet<string> = new Set(['timeout', 'bad_reply', 'port_lost', 'device_unavailable'])
