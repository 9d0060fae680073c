import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { blocksOf, type Span } from '../../src/driver/modbus-block.ts'

const spans = (...places: readonly (readonly [address: number, count: number])[]): Span<string>[] =>
  places.map(([address, count]) => ({ address, count, item: `${address}+${count}` }))

describe('blocks', () => {
  test('join what lies side by side', () => {
    expect(blocksOf(spans([2, 2], [0, 2], [4, 1]), 125)).toEqual([
      {
        address: 0,
        count: 5,
        items: [
          { item: '0+2', offset: 0, count: 2 },
          { item: '2+2', offset: 2, count: 2 },
          { item: '4+1', offset: 4, count: 1 },
        ],
      },
    ])
  })

  test('never bridge a gap', () => {
    const blocks = blocksOf(spans([0, 2], [3, 2]), 125)
    expect(blocks.map(({ address, count }) => [address, count])).toEqual([
      [0, 2],
      [3, 2],
    ])
  })

  test('share what two entries mean alike', () => {
    expect(blocksOf(spans([8, 1], [8, 1]), 125)).toHaveLength(1)
  })

  test('end before the limit of a request, with no entry cut in two', () => {
    const many = Array.from({ length: 100 }, (_, index) => [2 * index, 2] as const)
    const blocks = blocksOf(spans(...many), 125)
    expect(blocks.map(({ count }) => count)).toEqual([124, 76])
  })
})

test('every entry is in exactly one block, whole, and every address was asked for', () => {
  const given = fc.array(
    fc.record({ address: fc.integer({ min: 0, max: 300 }), count: fc.integer({ min: 1, max: 4 }) }),
    { maxLength: 80 },
  )
  fc.assert(
    fc.property(given, (places) => {
      const asked = new Set(places.flatMap(({ address, count }) => range(address, count)))
      const blocks = blocksOf(
        places.map((place, item) => ({ ...place, item })),
        125,
      )
      const seen: number[] = []
      for (const block of blocks) {
        expect(block.count).toBeLessThanOrEqual(125)
        for (const address of range(block.address, block.count)) expect(asked.has(address)).toBe(true)
        for (const { item, offset, count } of block.items) {
          seen.push(item)
          expect(block.address + offset).toBe(places[item]?.address)
          expect(offset + count).toBeLessThanOrEqual(block.count)
        }
      }
      expect(seen.sort((one, other) => one - other)).toEqual(places.map((_, index) => index))
    }),
  )
})

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}
