/**
 * Everything that must be true of a run, whatever happened in it. The truth is the devices' own logs; what the gateway
 * says of itself is what is judged.
 */
import type { ClientCall, DeviceEntry } from './history.ts'
import { byResource, checkLinearizable, type Operation } from './linearizability.ts'
import { type CounterDetail, counter, type RegisterDetail, register } from './models.ts'

export interface Finding {
  readonly rule:
    | 'ok_is_executed_once'
    | 'not_executed_is_never_executed'
    | 'at_most_once'
    | 'nothing_unasked'
    | 'reads_are_given_out_in_time'
    | 'linearizable'
    | 'log_is_whole'
  readonly text: string
}

/** `logs`: one for each device. */
export function findings(calls: readonly ClientCall[], logs: readonly (readonly DeviceEntry[])[]): Finding[] {
  const entries = logs.flat()
  const callsByResource = byResource(calls, ({ resource }) => resource)
  const entriesByResource = byResource(
    entries.filter(({ kind }) => kind !== 'start'),
    ({ resource }) => resource ?? '',
  )
  const found: Finding[] = logs.flatMap(logGaps)
  for (const resource of new Set([...callsByResource.keys(), ...entriesByResource.keys()])) {
    const asked = callsByResource.get(resource) ?? []
    const done = entriesByResource.get(resource) ?? []
    found.push(...changeFindings(resource, asked, done))
    found.push(...readFindings(resource, asked, done))
    found.push(...orderFindings(resource, asked, done))
  }
  return found
}

function logGaps(log: readonly DeviceEntry[]): Finding[] {
  const gap = log.find(({ seq }, index) => seq !== index)
  return gap ? [{ rule: 'log_is_whole', text: `a log has entry ${gap.seq} at the wrong place` }] : []
}

/** What makes a change known: its value or its nonce is used once. */
function nameOf(change: { readonly nonce?: string; readonly value?: number }): string {
  return change.nonce ?? String(change.value)
}

function changeFindings(
  resource: string,
  asked: readonly ClientCall[],
  done: readonly DeviceEntry[],
): Finding[] {
  const found: Finding[] = []
  const executions = byResource(
    done.filter(({ kind }) => kind !== 'read'),
    nameOf,
  )
  const names = new Set<string>()
  for (const call of asked) {
    const { wanted, outcome, code, invokedAt, returnedAt } = call
    if (wanted.kind === 'read') continue
    const name = nameOf(wanted)
    names.add(name)
    const times = (executions.get(name) ?? []).map(({ at }) => at)
    const told = `${wanted.kind} ${name} on ${resource} of ${span(call)} told ${outcome} (${code})`
    const text = `${told}, executed at [${times.map((at) => at.toFixed(1)).join(', ')}]`
    const inside = times.filter((at) => invokedAt <= at && at <= returnedAt)
    if (times.length > 1) found.push({ rule: 'at_most_once', text })
    if (outcome === 'not_executed' && times.length > 0)
      found.push({ rule: 'not_executed_is_never_executed', text })
    if (outcome === 'ok' && (inside.length !== 1 || times.length !== 1))
      found.push({ rule: 'ok_is_executed_once', text })
    if (times.some((at) => at < invokedAt)) found.push({ rule: 'nothing_unasked', text })
  }
  for (const name of executions.keys()) {
    if (!names.has(name))
      found.push({ rule: 'nothing_unasked', text: `${resource}: nobody asked for ${name}` })
  }
  return found
}

/**
 * Each ok read has an answer of the device of its own, with its value, given out between its beginning and its end. The
 * answers are points and the calls are intervals: the call that ends first takes the point.
 */
function readFindings(
  resource: string,
  asked: readonly ClientCall[],
  done: readonly DeviceEntry[],
): Finding[] {
  const found: Finding[] = []
  const reads = asked.filter(({ wanted, outcome }) => wanted.kind === 'read' && outcome === 'ok')
  const given = byResource(
    done.filter(({ kind }) => kind === 'read'),
    nameOf,
  )
  for (const [value, calls] of byResource(reads, ({ shown }) => String(shown))) {
    const points = (given.get(value) ?? []).map(({ at }) => at).sort((one, other) => one - other)
    const waiting = calls.toSorted((one, other) => one.returnedAt - other.returnedAt)
    const taken = new Set<number>()
    for (const call of waiting) {
      const point = points.findIndex(
        (at, index) => !taken.has(index) && call.invokedAt <= at && at <= call.returnedAt,
      )
      if (point >= 0) taken.add(point)
      else {
        const times = points.map((at) => at.toFixed(1)).join(', ')
        const text = `read of ${resource} of ${span(call)} showed ${value}, given out at [${times}]`
        found.push({ rule: 'reads_are_given_out_in_time', text })
      }
    }
  }
  return found
}

function orderFindings(
  resource: string,
  asked: readonly ClientCall[],
  done: readonly DeviceEntry[],
): Finding[] {
  const verdict = resource.endsWith('.total')
    ? checkLinearizable(counter(0), counterOperations(asked, done))
    : checkLinearizable(register(0), registerOperations(asked))
  if (verdict.linearizable) return []
  const { invokedAt, returnedAt, detail } = verdict.stuckAt
  const stuck = `${JSON.stringify(detail)} of ${span({ invokedAt, returnedAt })}`
  return [{ rule: 'linearizable', text: `${resource}: no order explains more than up to ${stuck}` }]
}

function registerOperations(asked: readonly ClientCall[]): Operation<RegisterDetail>[] {
  return asked.flatMap(({ wanted, outcome, invokedAt, returnedAt, shown }): Operation<RegisterDetail>[] => {
    if (wanted.kind === 'set' && outcome !== 'not_executed') {
      const end = outcome === 'ok' ? returnedAt : Number.POSITIVE_INFINITY
      return [{ invokedAt, returnedAt: end, detail: { kind: 'set', value: wanted.value } }]
    }
    if (wanted.kind !== 'read' || outcome !== 'ok' || shown === undefined) return []
    return [{ invokedAt, returnedAt, detail: { kind: 'read', value: shown } }]
  })
}

/**
 * Totals do not tell which of many unknown adds are in them, so the device's log does: one that it executed had its effect
 * by then, one that it did not never had any.
 */
function counterOperations(
  asked: readonly ClientCall[],
  done: readonly DeviceEntry[],
): Operation<CounterDetail>[] {
  const executedAt = new Map(done.map(({ nonce, at }) => [nonce, at]))
  return asked.flatMap(({ wanted, outcome, invokedAt, returnedAt, shown }): Operation<CounterDetail>[] => {
    if (wanted.kind === 'read') {
      if (outcome !== 'ok' || shown === undefined) return []
      return [{ invokedAt, returnedAt, detail: { kind: 'read', total: shown } }]
    }
    if (wanted.kind !== 'add' || outcome === 'not_executed') return []
    const end = outcome === 'ok' ? returnedAt : executedAt.get(wanted.nonce)
    if (end === undefined) return []
    return [{ invokedAt, returnedAt: end, detail: { kind: 'add', amount: wanted.amount, total: shown } }]
  })
}

function span({ invokedAt, returnedAt }: { invokedAt: number; returnedAt: number }): string {
  return `${invokedAt.toFixed(1)} to ${returnedAt.toFixed(1)}`
}
