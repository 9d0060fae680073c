/** The checker against histories whose verdict is known, and against every order of small ones. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byResource, checkLinearizable, type Model, type Operation } from './linearizability.ts'
import { type CounterDetail, counter, type RegisterDetail, register } from './models.ts'

const UNKNOWN = Number.POSITIVE_INFINITY

const set = (value: number, invokedAt: number, returnedAt: number): Operation<RegisterDetail> => ({
  invokedAt,
  returnedAt,
  detail: { kind: 'set', value },
})
const read = (value: number, invokedAt: number, returnedAt: number): Operation<RegisterDetail> => ({
  invokedAt,
  returnedAt,
  detail: { kind: 'read', value },
})
const add = (amount: number, invokedAt: number, returnedAt: number, total?: number) => ({
  invokedAt,
  returnedAt,
  detail: { kind: 'add', amount, total } as const,
})
const total = (value: number, invokedAt: number, returnedAt: number) => ({
  invokedAt,
  returnedAt,
  detail: { kind: 'read', total: value } as const,
})

/** Each is drawn as in Herlihy and Wing, "Linearizability" (1990), section 1: what overlaps may go either way. */
const REGISTERS: Record<string, { history: Operation<RegisterDetail>[]; linearizable: boolean }> = {
  'nothing at all': { history: [], linearizable: true },
  'a read of what was there': { history: [read(0, 0, 1)], linearizable: true },
  'a read of what was never set': { history: [set(1, 0, 1), read(7, 2, 3)], linearizable: false },
  'a read after a set that shows the value before it': {
    history: [set(1, 0, 1), read(0, 2, 3)],
    linearizable: false,
  },
  'a read during a set that shows the value before it': {
    history: [set(1, 0, 3), read(0, 1, 2)],
    linearizable: true,
  },
  'two reads during a set, the new value and then the old': {
    history: [set(1, 0, 9), read(1, 1, 2), read(0, 3, 4)],
    linearizable: false,
  },
  'two reads during a set, the old value and then the new': {
    history: [set(1, 0, 9), read(0, 1, 2), read(1, 3, 4)],
    linearizable: true,
  },
  'two overlapping sets whose readers disagree on the order': {
    history: [set(1, 0, 9), set(2, 0, 9), read(1, 1, 2), read(2, 3, 4), read(1, 5, 6)],
    linearizable: false,
  },
  'an unknown set that is seen much later': {
    history: [set(1, 0, UNKNOWN), read(0, 5, 6), read(1, 90, 91)],
    linearizable: true,
  },
  'an unknown set that is never seen': {
    history: [set(1, 0, UNKNOWN), read(0, 5, 6), read(0, 90, 91)],
    linearizable: true,
  },
  'an unknown set that is seen and then not': {
    history: [set(1, 0, UNKNOWN), read(1, 5, 6), read(0, 90, 91)],
    linearizable: false,
  },
  'an unknown set that is seen before it was asked for': {
    history: [read(1, 0, 1), set(1, 5, UNKNOWN)],
    linearizable: false,
  },
  'an unknown set that takes effect between two others': {
    history: [set(1, 0, UNKNOWN), set(2, 2, 3), read(2, 4, 5), read(1, 6, 7)],
    linearizable: true,
  },
  'a value that comes back although something else was set in between': {
    history: [set(1, 0, UNKNOWN), read(1, 1, 2), set(2, 3, 4), read(1, 5, 6)],
    linearizable: false,
  },
  'the same value set twice, once unknown': {
    history: [set(1, 0, 1), set(1, 2, UNKNOWN), set(2, 3, 4), read(1, 5, 6)],
    linearizable: true,
  },
}

const COUNTERS: Record<string, { history: Operation<CounterDetail>[]; linearizable: boolean }> = {
  'one after the other': { history: [add(2, 0, 1, 2), add(3, 2, 3, 5), total(5, 4, 5)], linearizable: true },
  'overlapping, in the order that the totals tell': {
    history: [add(2, 0, 9, 5), add(3, 0, 9, 3), total(5, 10, 11)],
    linearizable: true,
  },
  'a total that was added to twice': { history: [add(2, 0, 1), total(4, 2, 3)], linearizable: false },
  'an add that was lost': { history: [add(2, 0, 1), total(0, 2, 3)], linearizable: false },
  'a total from before': {
    history: [add(2, 0, 1), add(3, 2, 3), total(2, 4, 5)],
    linearizable: false,
  },
  'an unknown add that happened late': {
    history: [add(2, 0, UNKNOWN), add(3, 2, 3, 3), total(3, 4, 5), total(5, 6, 7)],
    linearizable: true,
  },
  'an unknown add that happened twice': {
    history: [add(2, 0, UNKNOWN), total(2, 4, 5), total(4, 6, 7)],
    linearizable: false,
  },
  'two of three unknown adds': {
    history: [add(2, 0, UNKNOWN), add(3, 0, UNKNOWN), add(7, 0, UNKNOWN), total(9, 4, 5)],
    linearizable: true,
  },
  'a sum that no choice of the unknown adds makes': {
    history: [add(2, 0, UNKNOWN), add(3, 0, UNKNOWN), add(7, 0, UNKNOWN), total(8, 4, 5)],
    linearizable: false,
  },
}

describe('a register', () => {
  for (const [what, { history, linearizable }] of Object.entries(REGISTERS)) {
    it(`${linearizable ? 'explains' : 'does not explain'} ${what}`, () => {
      expect(checkLinearizable(register(0), history).linearizable).toBe(linearizable)
    })
  }
})

describe('a counter', () => {
  for (const [what, { history, linearizable }] of Object.entries(COUNTERS)) {
    it(`${linearizable ? 'explains' : 'does not explain'} ${what}`, () => {
      expect(checkLinearizable(counter(0), history).linearizable).toBe(linearizable)
    })
  }
})

/** The definition, tried out: any order of all known and some unknown operations that respects who ended before whom. */
function isExplained<State, Detail>(
  model: Model<State, Detail>,
  left: readonly Operation<Detail>[],
  state = model.initial,
): boolean {
  if (left.every(({ returnedAt }) => returnedAt === UNKNOWN)) return true
  return left.some((next) => {
    if (left.some((other) => other !== next && other.returnedAt < next.invokedAt)) return false
    const after = model.step(state, next.detail)
    if (after === undefined) return false
    return isExplained(
      model,
      left.filter((other) => other !== next),
      after,
    )
  })
}

const interval = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 3 }))
  .map(([invokedAt, length, fate]) => ({ invokedAt, returnedAt: fate === 0 ? UNKNOWN : invokedAt + length }))
const small = fc.integer({ min: 0, max: 3 })
const registerDetail = fc.record({ kind: fc.constantFrom('set', 'read'), value: small })
const counterDetail = fc.oneof(
  fc.record({
    kind: fc.constant('add'),
    amount: fc.integer({ min: 1, max: 3 }),
    total: fc.constant(undefined),
  }),
  fc.record({ kind: fc.constant('add'), amount: fc.integer({ min: 1, max: 3 }), total: fc.nat(8) }),
  fc.record({ kind: fc.constant('read'), total: fc.nat(8) }),
)
const historyOf = <Detail>(detail: fc.Arbitrary<Detail>) =>
  fc.array(
    fc.tuple(interval, detail).map(([times, each]) => ({ ...times, detail: each })),
    { maxLength: 7 },
  )

describe('the verdict', () => {
  it('is that of trying every order, for registers', () => {
    let yes = 0
    const property = fc.property(historyOf(registerDetail as fc.Arbitrary<RegisterDetail>), (history) => {
      const expected = isExplained(register(0), history)
      if (expected) yes += 1
      expect(checkLinearizable(register(0), history).linearizable).toBe(expected)
    })
    fc.assert(property, { numRuns: 5_000 })
    // Both answers were asked for often.
    expect(yes).toBeGreaterThan(500)
    expect(yes).toBeLessThan(4_500)
  })

  it('is that of trying every order, for counters', () => {
    let yes = 0
    const property = fc.property(historyOf(counterDetail as fc.Arbitrary<CounterDetail>), (history) => {
      const expected = isExplained(counter(0), history)
      if (expected) yes += 1
      expect(checkLinearizable(counter(0), history).linearizable).toBe(expected)
    })
    fc.assert(property, { numRuns: 5_000 })
    expect(yes).toBeGreaterThan(500)
    expect(yes).toBeLessThan(4_500)
  })

  it('comes with an order that a reader can check', () => {
    const history = [set(1, 0, 9), set(2, 0, 9), read(1, 1, 2), read(2, 3, 4), set(3, 5, UNKNOWN)]
    const verdict = checkLinearizable(register(0), history)
    expect(verdict.linearizable && verdict.order.map(({ detail }) => detail)).toEqual([
      { kind: 'set', value: 1 },
      { kind: 'read', value: 1 },
      { kind: 'set', value: 2 },
      { kind: 'read', value: 2 },
    ])
  })

  it('names the operation that no order gets past', () => {
    const wrong = read(1, 4, 5)
    const verdict = checkLinearizable(register(0), [set(1, 0, 1), set(2, 2, 3), wrong, read(2, 6, 7)])
    expect(verdict).toMatchObject({ linearizable: false, stuckAt: wrong, explained: 2 })
  })

  it('is asked for each resource by itself', () => {
    const items = [
      { at: 'b', n: 1 },
      { at: 'a', n: 2 },
      { at: 'b', n: 3 },
    ]
    const parts = byResource(items, ({ at }) => at)
    expect([...parts]).toEqual([
      ['b', [items[0], items[2]]],
      ['a', [items[1]]],
    ])
  })
})

/** Eight clients in turn; each operation takes effect at a moment within its time, and some ends get lost. */
function longHistory<Detail>(
  length: number,
  unknownEvery: number,
  effect: (index: number, happens: boolean) => Detail,
): Operation<Detail>[] {
  const operations: Operation<Detail>[] = []
  for (let index = 0; index < length; index += 1) {
    // Effects come in the order of the index; beginnings and ends are spread over eight neighbours.
    const spread = (index * 7) % 8
    const isUnknown = index % unknownEvery === 0
    const happens = !isUnknown || index % (2 * unknownEvery) === 0
    operations.push({
      invokedAt: 10 * (index - spread),
      returnedAt: isUnknown ? UNKNOWN : 10 * (index + 7 - spread),
      detail: effect(index, happens),
    })
  }
  return operations
}

const LENGTH = 100_000
/** Of the processor, which other processes do not make longer. */
const CHECK_MAX_MS = 10_000

function checkedInTime<State, Detail>(model: Model<State, Detail>, history: Operation<Detail>[]): boolean {
  const start = process.cpuUsage()
  const { linearizable } = checkLinearizable(model, history)
  const { user, system } = process.cpuUsage(start)
  expect((user + system) / 1_000).toBeLessThan(CHECK_MAX_MS)
  return linearizable
}

describe('a history of 100,000 operations on one resource', () => {
  const registers = () => {
    let value = 0
    return longHistory<RegisterDetail>(LENGTH, 50, (index, happens) => {
      if (index % 3 !== 0 && index % 50 !== 0) return { kind: 'read', value }
      if (happens) value = index + 1
      return { kind: 'set', value: index + 1 }
    })
  }
  const counters = () => {
    let sum = 0
    return longHistory<CounterDetail>(LENGTH, 10_000, (index, happens) => {
      if (index % 3 !== 0 && index % 10_000 !== 0) return { kind: 'read', total: sum }
      const amount = 1 + ((index * 7_919) % 1_000_003)
      if (happens) sum += amount
      return { kind: 'add', amount }
    })
  }

  it('is explained by a register, with 2,000 unknown sets in it', () => {
    expect(checkedInTime(register(0), registers())).toBe(true)
  })

  it('is not explained when one late read is stale', () => {
    const history = registers()
    const index = history.findLastIndex(({ detail }) => detail.kind === 'read')
    const stale = history.find(({ detail }) => detail.kind === 'read' && detail.value !== 0)
    const last = history[index]
    if (!last || !stale) throw new Error('there are no reads')
    history[index] = { ...last, detail: stale.detail }
    expect(checkedInTime(register(0), history)).toBe(false)
  })

  it('is explained by a counter, with 10 unknown adds in it', () => {
    expect(checkedInTime(counter(0), counters())).toBe(true)
  })

  it('is not explained when an add is seen before it was asked for', () => {
    const amount = 1 + ((70_000 * 7_919) % 1_000_003)
    const history = counters().map((operation, index) =>
      index > LENGTH / 2 && operation.detail.kind === 'read'
        ? { ...operation, detail: { ...operation.detail, total: operation.detail.total + amount } }
        : operation,
    )
    expect(checkedInTime(counter(0), history)).toBe(false)
  })
})
