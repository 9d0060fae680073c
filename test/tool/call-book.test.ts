import { beforeEach, describe, expect, it } from 'vitest'
import { FINISHED_KEPT_MAX, FINISHED_KEPT_MS } from '../../src/limits.ts'
import { CallBook, type Underway } from '../../src/tool/call-book.ts'
import type { Principal } from '../../src/tool/home.ts'
import type { BatchStatus } from '../../src/tool/shapes.ts'
import { VirtualClock } from '../virtual-clock.ts'

const OWNER: Principal = { id: 'o', name: 'owner', role: 'control' }
const OTHER: Principal = { id: 'x', name: 'other', role: 'control' }
const ADMIN: Principal = { id: 'a', name: 'admin', role: 'admin' }

function batch(id: string, callIds: readonly string[], keep = true): Underway {
  return { id, principal: OWNER, callIds, keep, status: () => ({ id }) as BatchStatus, cancel: () => {} }
}

describe('the book of batches', () => {
  let clock: VirtualClock
  let book: CallBook

  beforeEach(() => {
    clock = new VirtualClock()
    book = new CallBook(clock)
  })

  it('finds a batch and its calls while they are under way', () => {
    book.begin(batch('b1', ['c1', 'c2']))
    expect(book.batch('b1', OWNER)?.id).toBe('b1')
    expect(book.ofCall('c2', OWNER)?.id).toBe('b1')
    book.end('b1')
    expect(book.ofCall('c2', OWNER)).toBeUndefined()
  })

  it('shows it to its caller and to an admin, and to nobody else', () => {
    book.begin(batch('b1', ['c1']))
    expect(book.batch('b1', ADMIN)?.id).toBe('b1')
    expect(book.batch('b1', OTHER)).toBeUndefined()
    expect(book.ofCall('c1', OTHER)).toBeUndefined()
  })

  it('keeps one that ended for ten minutes, if it is to be kept', async () => {
    book.begin(batch('kept', []))
    book.begin(batch('told', [], false))
    book.end('kept')
    book.end('told')
    expect(book.batch('told', OWNER)).toBeUndefined()
    await clock.advance(FINISHED_KEPT_MS - 1)
    expect(book.batch('kept', OWNER)?.id).toBe('kept')
    await clock.advance(1)
    expect(book.batch('kept', OWNER)).toBeUndefined()
  })

  it('keeps a bounded number of those that ended, the youngest', () => {
    for (let number = 0; number <= FINISHED_KEPT_MAX; number += 1) {
      book.begin(batch(`b${number}`, []))
      book.end(`b${number}`)
    }
    expect(book.batch('b0', OWNER)).toBeUndefined()
    expect(book.batch('b1', OWNER)?.id).toBe('b1')
    expect(book.batch(`b${FINISHED_KEPT_MAX}`, OWNER)).toBeDefined()
  })

  it('gives a call id that is used twice to the batch that came last, and leaves it there when the first ends', () => {
    book.begin(batch('b1', ['same']))
    book.begin(batch('b2', ['same']))
    book.end('b1')
    expect(book.ofCall('same', OWNER)?.id).toBe('b2')
  })
})
