import fc from 'fast-check'
import { expect, test } from 'vitest'
import { claimsConflict, claimsOf } from '../../src/scheduler/claims.ts'
import { type Declaration, isParallelSafe } from '../../src/scheduler/declaration.ts'
import { createLaneOrder, partition } from '../../src/scheduler/policies.ts'

const port = (id: string) => ({ resource: `port:${id}`, mode: 'exclusive' as const })

const DECLARATIONS: Readonly<Record<string, Declaration | undefined>> = {
  safe: { parallelSafe: true },
  safe_bus1: { parallelSafe: true, claims: [port('bus1')] },
  undeclared: {},
  serial: { serial: true },
  serial_bus1: { serial: true, claims: [port('bus1')] },
  serial_bus2: { serial: true, parallelSafe: true, claims: [port('bus2')] },
  alone: { serial: true, claims: [{ resource: 'gateway', mode: 'exclusive' }] },
  reader: { parallelSafe: true, claims: [{ resource: 'sqlite', mode: 'shared' }] },
  conditional: { parallelSafe: (args: { safe?: boolean }) => args.safe === true, claims: [port('bus1')] },
  unknown: undefined,
}
const declarationOf = (name: string) => DECLARATIONS[name]

interface Call {
  readonly name: string
  readonly arguments?: { readonly safe: boolean }
}

const calls = fc.array(
  fc.record(
    { name: fc.constantFrom(...Object.keys(DECLARATIONS)), arguments: fc.record({ safe: fc.boolean() }) },
    { requiredKeys: ['name'] },
  ),
  { maxLength: 25 },
)

const isSafe = (call: Call) => isParallelSafe(declarationOf(call.name), call.arguments ?? {})

/** The published algorithm: collect safe calls, flush at an unsafe one, which stands alone. */
function publishedPartitions(list: readonly Call[]): Call[][] {
  const partitions: Call[][] = []
  let currentParallel: Call[] = []
  for (const call of list) {
    if (isSafe(call)) {
      currentParallel.push(call)
      continue
    }
    if (currentParallel.length > 0) partitions.push(currentParallel)
    currentParallel = []
    partitions.push([call])
  }
  if (currentParallel.length > 0) partitions.push(currentParallel)
  return partitions
}

test('partition groups as the published algorithm does', () => {
  fc.assert(
    fc.property(calls, (list) => {
      expect(partition(list, declarationOf, 'partition')).toEqual(publishedPartitions(list))
    }),
  )
})

test('partition is the default policy', () => {
  expect(partition([{ name: 'safe' }, { name: 'safe' }, { name: 'serial' }], declarationOf)).toEqual([
    [{ name: 'safe' }, { name: 'safe' }],
    [{ name: 'serial' }],
  ])
})

test('batch runs all together if there are several and all are parallel-safe, else one at a time', () => {
  fc.assert(
    fc.property(calls, (list) => {
      const areTogether = list.length > 1 && list.every(isSafe)
      const expected = areTogether ? [list] : list.map((call) => [call])
      expect(partition(list, declarationOf, 'batch')).toEqual(expected)
    }),
  )
})

/** By definition: one more than the latest of those that must be over first. */
function earliestStarts(list: readonly Call[]): number[] {
  const isBarrier = (call: Call) => {
    const declaration = declarationOf(call.name)
    return !isSafe(call) && !(declaration?.serial && declaration.claims?.length)
  }
  const mustPrecede = (earlier: Call, later: Call) =>
    isBarrier(earlier) ||
    isBarrier(later) ||
    claimsConflict(
      claimsOf(declarationOf(earlier.name)?.claims ?? []),
      claimsOf(declarationOf(later.name)?.claims ?? []),
    )
  const starts: number[] = []
  list.forEach((call, index) => {
    const before = list
      .slice(0, index)
      .map((earlier, at) => (mustPrecede(earlier, call) ? (starts[at] ?? 0) : -1))
    starts.push(Math.max(-1, ...before) + 1)
  })
  return starts
}

test('resource groups the calls by earliest start', () => {
  fc.assert(
    fc.property(calls, (list) => {
      const starts = earliestStarts(list)
      const expected: Call[][] = []
      list.forEach((call, index) => {
        const group = expected[starts[index] ?? 0] ?? []
        group.push(call)
        expected[starts[index] ?? 0] = group
      })
      expect(partition(list, declarationOf, 'resource')).toEqual(expected)
    }),
  )
})

test('under resource a call that has not said how it may overlap is a barrier', () => {
  for (const barrier of ['undeclared', 'serial', 'unknown', 'alone', 'conditional']) {
    const list = [{ name: 'safe_bus1' }, { name: barrier }, { name: 'serial_bus2' }]
    expect(partition(list, declarationOf, 'resource'), barrier).toEqual(list.map((call) => [call]))
  }
})

test('under resource a predicate that holds lets the call pass others', () => {
  const conditional = { name: 'conditional', arguments: { safe: true } }
  const list = [{ name: 'serial_bus2' }, conditional]
  expect(partition(list, declarationOf, 'resource')).toEqual([list])
})

test('calls that are placed one by one get the places that they get together', () => {
  fc.assert(
    fc.property(calls, fc.constantFrom('partition' as const, 'resource' as const), (list, policy) => {
      const order = createLaneOrder(policy)
      const groups: Call[][] = []
      for (const call of list) {
        const declaration = declarationOf(call.name)
        const { partition: at } = order.place({
          declaration,
          arguments: call.arguments ?? {},
          claims: claimsOf(declaration?.claims ?? []),
        })
        groups[at] = [...(groups[at] ?? []), call]
      }
      expect(groups).toEqual(partition(list, declarationOf, policy))
    }),
  )
})

test('the waits of a long lane are linear in its calls', () => {
  for (const policy of ['partition', 'batch', 'resource'] as const) {
    const order = createLaneOrder(policy)
    let waits = 0
    for (let index = 0; index < 3_000; index += 1) {
      const declaration = DECLARATIONS[index % 1_000 === 999 ? 'undeclared' : 'reader']
      waits += order.place({ declaration, arguments: {}, claims: claimsOf(declaration?.claims ?? []) })
        .waitsFor.length
    }
    expect(waits, policy).toBeLessThan(3 * 3_000)
  }
})
