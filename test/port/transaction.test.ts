import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { step, type TransactionInput, type TransactionState, unsent } from '../../src/port/transaction.ts'

type Input = TransactionInput<string>

function having(...inputs: Input[]): TransactionState<string> {
  return inputs.reduce<TransactionState<string>>((state, input) => step(state, input), unsent())
}

const sentAt10: Input = { kind: 'first_byte', at: 10 }

describe('a transaction', () => {
  it('ends with the matched reply, its time counted from the first byte', () => {
    expect(having(sentAt10, { kind: 'matched', match: 'CO2', at: 22.5 })).toEqual({
      phase: 'ended',
      end: { kind: 'reply', match: 'CO2', wireMs: 12.5 },
    })
  })

  it('cannot time out, be answered or fall silent before its first byte', () => {
    const early: Input[] = [
      { kind: 'timeout', at: 1 },
      { kind: 'matched', match: 'somebody else', at: 1 },
      { kind: 'silence', at: 1 },
      { kind: 'all_sent', at: 1 },
      { kind: 'bad_frame' },
      { kind: 'foreign_frame' },
    ]
    expect(having(...early)).toEqual({ phase: 'unsent' })
  })

  it('is known not to have been sent when the port goes or a stop comes before the first byte', () => {
    expect(having({ kind: 'lost', at: 3 })).toMatchObject({ end: { code: 'port_lost', sent: false } })
    expect(having({ kind: 'stop', at: 3 })).toMatchObject({ end: { code: 'stopped', sent: false } })
  })

  it('is known to have been sent when the port goes or a stop comes after it', () => {
    expect(having(sentAt10, { kind: 'lost', at: 12 })).toMatchObject({
      end: { code: 'port_lost', sent: true },
    })
    expect(having(sentAt10, { kind: 'stop', at: 12 })).toMatchObject({ end: { code: 'stopped', sent: true } })
  })

  it('is a timeout when nothing came, and when whole frames of others came', () => {
    const timeout: Input = { kind: 'timeout', at: 510 }
    expect(having(sentAt10, timeout)).toMatchObject({ end: { code: 'timeout', wireMs: 500 } })
    expect(having(sentAt10, { kind: 'bad_frame' }, { kind: 'foreign_frame' }, timeout)).toMatchObject({
      end: { code: 'timeout' },
    })
  })

  it('is a bad reply when all that came fails its checksum, at the timeout or when the line falls silent', () => {
    const bad: Input = { kind: 'bad_frame' }
    expect(having(sentAt10, bad, { kind: 'timeout', at: 510 })).toMatchObject({ end: { code: 'bad_reply' } })
    expect(having(sentAt10, bad, { kind: 'silence', at: 60 })).toMatchObject({ end: { code: 'bad_reply' } })
  })

  it('goes on waiting when the line falls silent and nothing bad has come', () => {
    expect(having(sentAt10, { kind: 'silence', at: 60 }).phase).toBe('sent')
    expect(
      having(sentAt10, { kind: 'bad_frame' }, { kind: 'matched', match: 'late but good', at: 70 }),
    ).toMatchObject({
      end: { kind: 'reply' },
    })
  })

  it('without an acknowledgement by design ends when everything is sent', () => {
    expect(having(sentAt10, { kind: 'all_sent', at: 20 })).toEqual({
      phase: 'ended',
      end: { kind: 'unacknowledged', wireMs: 10 },
    })
  })

  it('ends once, whatever comes in whatever order', () => {
    const input = fc.oneof(
      fc.constant<Input>({ kind: 'first_byte', at: 1 }),
      fc.constant<Input>({ kind: 'matched', match: 'reply', at: 2 }),
      fc.constant<Input>({ kind: 'foreign_frame' }),
      fc.constant<Input>({ kind: 'bad_frame' }),
      fc.constant<Input>({ kind: 'all_sent', at: 2 }),
      fc.constant<Input>({ kind: 'silence', at: 2 }),
      fc.constant<Input>({ kind: 'timeout', at: 3 }),
      fc.constant<Input>({ kind: 'lost', at: 3 }),
      fc.constant<Input>({ kind: 'stop', at: 3 }),
    )
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        let state: TransactionState<string> = unsent()
        let first: TransactionState<string> | undefined
        let sent = false
        for (const next of inputs) {
          sent ||= next.kind === 'first_byte' && state.phase === 'unsent'
          state = step(state, next)
          if (state.phase === 'ended') first ??= state
          if (first) expect(state).toBe(first)
          if (state.phase === 'ended' && state.end.kind === 'failed') expect(state.end.sent).toBe(sent)
          if (state.phase === 'ended' && state.end.kind !== 'failed') expect(sent).toBe(true)
        }
      }),
    )
  })
})
