/** What several invariants ask of a history. Nothing here knows how the gateway works. */
import type { CallRecord, ExecutionRecord, History, Write } from '../history.ts'
import type { CallPlan, DevicePlan, PortPlan } from '../plan.ts'

/** What lies no further apart is of one moment, in which either may come first. Sums of fractions round to less. */
export const MOMENT_MS = 0.001

const indexes = new WeakMap<History, Index>()

interface Index {
  readonly calls: ReadonlyMap<number, CallRecord>
  readonly executions: ReadonlyMap<number, readonly ExecutionRecord[]>
  readonly byValue: ReadonlyMap<number, ExecutionRecord>
  readonly writes: ReadonlyMap<number, readonly Write[]>
  readonly devices: ReadonlyMap<string, { readonly device: DevicePlan; readonly port: PortPlan }>
}

function indexOf(history: History): Index {
  const known = indexes.get(history)
  if (known) return known
  const calls = [...history.calls, ...history.lastCalls]
  const index: Index = {
    calls: new Map(calls.map((call) => [call.plan.nonce, call])),
    executions: groupedBy(history.executions, ({ nonce }) => nonce),
    byValue: new Map(
      history.executions.flatMap((e) => (e.value === undefined ? [] : [[e.value, e] as const])),
    ),
    writes: groupedBy(history.writes, ({ nonce }) => nonce ?? -1),
    devices: new Map(
      history.plan.home.ports.flatMap((port) =>
        port.devices.map((device) => [device.id, { device, port }] as const),
      ),
    ),
  }
  indexes.set(history, index)
  return index
}

export function portsOf({ plan }: History): readonly string[] {
  return plan.home.ports.map(({ id }) => id)
}

export function callsByNonce(history: History): ReadonlyMap<number, CallRecord> {
  return indexOf(history).calls
}

export function executionsOf(history: History, nonce: number): readonly ExecutionRecord[] {
  return indexOf(history).executions.get(nonce) ?? []
}

/** The execution that gave this number out. */
export function executionOfValue(history: History, value: number): ExecutionRecord | undefined {
  return indexOf(history).byValue.get(value)
}

export function writesOf(history: History, nonce: number): readonly Write[] {
  return indexOf(history).writes.get(nonce) ?? []
}

export function deviceOf(history: History, id: string): DevicePlan {
  return placeOf(history, id).device
}

export function portOf(history: History, device: string): PortPlan {
  return placeOf(history, device).port
}

function placeOf(history: History, id: string) {
  const found = indexOf(history).devices.get(id)
  if (!found) throw new Error(`there is no device ${id}`)
  return found
}

/** When the feed told the end of the call, or else when its caller heard of it. */
export function endOf(history: History, { plan, settledAt }: CallRecord): number | undefined {
  return history.told.get(`n${plan.nonce}`)?.[0]?.at ?? settledAt
}

/** When its first byte was written, or the run of its tool began. */
export function startOf(history: History, { plan }: CallRecord): number | undefined {
  if (plan.device === undefined) return executionsOf(history, plan.nonce)[0]?.at
  return writesOf(history, plan.nonce)[0]?.at
}

/** Whether what was heard has in it what could be an answer to the request. */
export function answers(history: History, request: Write, heard: Buffer): boolean {
  if (request.device === undefined) return heard.length > 0
  if (portOf(history, request.device).kind === 'text') {
    return heard
      .toString('latin1')
      .split('\r\n')
      .slice(0, -1)
      .some((line) => line !== '' && !line.startsWith('!'))
  }
  const [unit = 0, functionCode = 0] = request.bytes
  for (let index = 0; index + 4 < heard.length; index += 1) {
    if (heard[index] === unit && ((heard[index + 1] ?? 0) & 0x7f) === functionCode) return true
  }
  return false
}

/** Declared parallel-safe. */
export function isSafe({ name }: CallPlan): boolean {
  return ['read', 'ask', 'think', 'watch_valve'].includes(name)
}

export function groupedBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
