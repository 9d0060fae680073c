/** The one transaction of a line that is under way. */
import type { ReplyMatcher } from './reply.ts'
import type { TransactionEnd, TransactionState } from './transaction.ts'

export interface Pending {
  readonly reply: ReplyMatcher<unknown> | null
  readonly expectedLength: number | undefined
  state: TransactionState<unknown>
  received: number
  /** Of them, those of whole frames that were not the reply. */
  foreign: number
  finish: (end: TransactionEnd<unknown>) => void
}
