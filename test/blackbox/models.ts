/** What the devices of the history check are: a register that is set and read, and a counter that is added to and read. */
import type { Model, Operation } from './linearizability.ts'

export type RegisterDetail =
  | { readonly kind: 'set'; readonly value: number }
  | { readonly kind: 'read'; readonly value: number }

/** Adding shows the total where the device tells it. */
export type CounterDetail =
  | { readonly kind: 'add'; readonly amount: number; readonly total?: number | undefined }
  | { readonly kind: 'read'; readonly total: number }

export function register(initial: number): Model<number, RegisterDetail> {
  return {
    initial,
    step(state, { kind, value }) {
      if (kind === 'set') return value
      return state === value ? state : undefined
    },
    key: (state) => state,
    isRead: ({ kind }) => kind === 'read',
    narrow: (operations) => narrowSets(initial, operations),
  }
}

/**
 * An unknown set whose value nobody read changes nothing that anybody saw: after it the next thing is a set, or nothing.
 * One whose value was read, and that nobody else set, happened before the first such read ended.
 */
function narrowSets(
  initial: number,
  operations: readonly Operation<RegisterDetail>[],
): Operation<RegisterDetail>[] {
  const setters = new Map<number, number>([[initial, 1]])
  const firstReadEnd = new Map<number, number>()
  for (const { returnedAt, detail } of operations) {
    const { kind, value } = detail
    if (kind === 'set') setters.set(value, (setters.get(value) ?? 0) + 1)
    else firstReadEnd.set(value, Math.min(firstReadEnd.get(value) ?? Number.POSITIVE_INFINITY, returnedAt))
  }
  return operations.flatMap((operation) => {
    const { returnedAt, detail } = operation
    if (detail.kind !== 'set' || returnedAt !== Number.POSITIVE_INFINITY) return [operation]
    const readEnd = firstReadEnd.get(detail.value)
    if (readEnd === undefined) return []
    return setters.get(detail.value) === 1 ? [{ ...operation, returnedAt: readEnd }] : [operation]
  })
}

/** Amounts are positive, so a total never shrinks. */
export function counter(initial: number): Model<number, CounterDetail> {
  return {
    initial,
    step(state, detail) {
      if (detail.kind === 'read') return state === detail.total ? state : undefined
      const total = state + detail.amount
      return detail.total === undefined || detail.total === total ? total : undefined
    },
    key: (state) => state,
    isRead: ({ kind }) => kind === 'read',
    leadsTo(state, detail) {
      if (detail.total === undefined) return true
      return state <= (detail.kind === 'read' ? detail.total : detail.total - detail.amount)
    },
  }
}
