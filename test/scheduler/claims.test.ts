import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClaimOrder, claimsConflict, claimsOf, ownClaimCount } from '../../src/scheduler/claims.ts'
import type { Claim } from '../../src/scheduler/declaration.ts'

const shared = (resource: string): Claim => ({ resource, mode: 'shared' })
const exclusive = (resource: string): Claim => ({ resource, mode: 'exclusive' })

test.each<[string, readonly Claim[], readonly Claim[], boolean]>([
  ['two shared claims of one resource', [shared('sqlite')], [shared('sqlite')], false],
  ['a shared and an exclusive one', [shared('sqlite')], [exclusive('sqlite')], true],
  ['two exclusive ones', [exclusive('sqlite')], [exclusive('sqlite')], true],
  ['claims of different resources', [exclusive('port:bus1')], [exclusive('port:bus2')], false],
  ['one resource among several', [exclusive('a'), shared('b')], [exclusive('b'), exclusive('c')], true],
  ['a line that was claimed as shared', [shared('port:bus1')], [shared('port:bus1')], true],
  ['no claims at all', [], [], false],
  ['the gateway and anybody', [exclusive('gateway')], [], true],
  ['the gateway as shared and anybody', [shared('gateway')], [], false],
  ['a resource asked for in both modes', [shared('a'), exclusive('a'), shared('a')], [shared('a')], true],
])('%s conflict or not, from both sides', (_name, one, other, isConflict) => {
  expect(claimsConflict(claimsOf(one), claimsOf(other))).toBe(isConflict)
  expect(claimsConflict(claimsOf(other), claimsOf(one))).toBe(isConflict)
})

test('the gateway counts as a claim of the call only if the call wants it exclusively', () => {
  expect(ownClaimCount(claimsOf([]))).toBe(0)
  expect(ownClaimCount(claimsOf([shared('gateway')]))).toBe(0)
  expect(ownClaimCount(claimsOf([exclusive('gateway')]))).toBe(1)
  expect(ownClaimCount(claimsOf([exclusive('port:a'), shared('b'), shared('b')]))).toBe(2)
})

const claimLists = fc.array(
  fc.array(
    fc.record({
      resource: fc.constantFrom('a', 'b', 'port:c', 'gateway'),
      mode: fc.constantFrom('shared' as const, 'exclusive' as const),
    }),
    { maxLength: 3 },
  ),
  { maxLength: 20 },
)

test('every earlier conflicting call is waited for, directly or through others, and no other call is', () => {
  fc.assert(
    fc.property(claimLists, (lists) => {
      const all = lists.map(claimsOf)
      const order = new ClaimOrder()
      const reached: Set<number>[] = []
      const level: number[] = []
      all.forEach((claims, index) => {
        const place = order.place(index, claims)
        const waits = [...place.waitsFor.keys()]
        reached.push(new Set(waits.flatMap((wait) => [wait, ...(reached[wait] ?? [])])))
        // Longest chain of conflicts that ends here.
        const before = all.slice(0, index).map((earlier, at) => (claimsConflict(earlier, claims) ? at : -1))
        level.push(Math.max(-1, ...before.filter((at) => at >= 0).map((at) => level[at] ?? 0)) + 1)
        expect(place.level).toBe(level[index])
        for (const at of before) if (at >= 0) expect(reached[index]).toContain(at)
        for (const wait of waits) expect(before).toContain(wait)
      })
    }),
  )
})

test('the waits of a long lane are linear in its calls', () => {
  const order = new ClaimOrder()
  let waits = 0
  for (let index = 0; index < 2_000; index += 1) {
    const claims =
      index % 500 === 499 ? [exclusive('gateway')] : [shared('sqlite'), exclusive(`port:${index % 4}`)]
    waits += order.place(index, claimsOf(claims)).waitsFor.size
  }
  expect(waits).toBeLessThan(3 * 2_000)
})
