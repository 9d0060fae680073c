/** Which registers are read together: those that lie side by side, in the fewest requests, and never one unasked. */

/** Something that takes up `count` addresses from `address` on. */
export interface Span<T> {
  readonly address: number
  readonly count: number
  readonly item: T
}

export interface Block<T> {
  readonly address: number
  readonly count: number
  /** With their offset in the block. */
  readonly items: readonly { readonly item: T; readonly offset: number; readonly count: number }[]
}

/**
 * Blocks of at most `countMax` addresses, in the order of their addresses. Spans that touch or overlap share one; a
 * gap between them is never read, because a device may refuse the whole request for one address that it does not have.
 */
export function blocksOf<T>(spans: readonly Span<T>[], countMax: number): readonly Block<T>[] {
  const sorted = [...spans].sort((one, other) => one.address - other.address || one.count - other.count)
  const blocks: { address: number; end: number; spans: Span<T>[] }[] = []
  for (const span of sorted) {
    const end = span.address + span.count
    const last = blocks.at(-1)
    const joins =
      last !== undefined && span.address <= last.end && Math.max(last.end, end) - last.address <= countMax
    if (joins) {
      last.spans.push(span)
      last.end = Math.max(last.end, end)
    } else {
      blocks.push({ address: span.address, end, spans: [span] })
    }
  }
  return blocks.map((block) => ({
    address: block.address,
    count: block.end - block.address,
    items: block.spans.map(({ item, address, count }) => ({ item, count, offset: address - block.address })),
  }))
}
