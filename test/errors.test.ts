/** The table of the codes, typed in by hand from the public contract, against the one that the gateway uses. */
import { describe, expect, it } from 'vitest'
import {
  assert,
  type Effect,
  ERRORS,
  type ErrorCode,
  GatewayError,
  isRetryable,
  messageOf,
  outcomeOf,
} from '../src/errors.ts'

const EFFECTS: readonly Effect[] = ['read', 'set', 'act']

/**
 * The outcome without a byte sent and with one, and whether the same call may be sent again; each for a read, a set
 * and an act. n: not_executed, u: unknown, y: retryable, -: not.
 */
const CONTRACT = `
  unknown_tool           nnn  nnn  ---
  invalid_arguments      nnn  nnn  ---
  truncated_call         nnn  nnn  ---
  ambiguous_call         nnn  nnn  ---
  forbidden              nnn  nnn  ---
  confirmation_required  nnn  nnn  yyy
  interlocked            nnn  nnn  ---
  device_unavailable     nnn  nnn  yyy
  device_busy            nnn  nnn  yyy
  queue_full             nnn  nnn  yyy
  rate_limited           nnn  nnn  yyy
  storage_unavailable    nnn  nnn  yyy
  deadline_exceeded      nnn  nnn  yyy
  cancelled              nnn  nnn  ---
  aborted                nnn  nnn  ---
  superseded             nnn  nnn  ---
  refused                nnn  nnn  ---
  stopped                nnn  uuu  ---
  interrupted            uuu  uuu  ---
  device_restarted       nnn  uuu  y--
  tool_failed            nuu  nuu  ---
  device_error           uuu  uuu  ---
  timeout                uuu  uuu  y--
  bad_reply              uuu  uuu  y--
  port_lost              nnn  uuu  y--
  unconfirmed            uuu  uuu  -y-
  internal               nnn  uuu  ---
`

const rows = CONTRACT.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const codes = rows.map(([code]) => code as ErrorCode)

function letters(code: ErrorCode, sent: boolean): string {
  const outcomes = EFFECTS.map((effect) => outcomeOf(code, { effect, sent }))
  return outcomes
    .map((outcome) => (outcome === 'not_executed' ? 'n' : outcome === 'unknown' ? 'u' : '?'))
    .join('')
}

describe('the table of errors', () => {
  it('has the codes of the contract and no others', () => {
    expect(Object.keys(ERRORS).sort()).toEqual([...codes].sort())
  })

  for (const [code, unsent, sent, retryable] of rows) {
    it(`says of ${code} what the contract says`, () => {
      const known = code as ErrorCode
      expect(letters(known, false)).toBe(unsent)
      expect(letters(known, true)).toBe(sent)
      expect(EFFECTS.map((effect) => (isRetryable(known, effect) ? 'y' : '-')).join('')).toBe(retryable)
    })
  }

  it('takes a refusal for proof that nothing was done only if the device proves it', () => {
    for (const effect of EFFECTS) {
      const facts = { effect, sent: true }
      expect(outcomeOf('device_error', { ...facts, provenNotDone: true })).toBe('not_executed')
      expect(outcomeOf('device_error', { ...facts, provenNotDone: false })).toBe('unknown')
    }
  })

  it('lets no other code be softened by such a proof', () => {
    const facts = { effect: 'act', sent: true } as const
    for (const code of codes.filter((one) => one !== 'device_error')) {
      expect(outcomeOf(code, { ...facts, provenNotDone: true }), code).toBe(outcomeOf(code, facts))
    }
  })

  it('explains every code, and logs what a person must look after louder than the rest', () => {
    for (const [code, { when }] of Object.entries(ERRORS)) expect(when.length, code).toBeGreaterThan(10)
    const loud = Object.entries(ERRORS).filter(([, { logLevel }]) => logLevel === 'error')
    expect(loud.map(([code]) => code).sort()).toEqual(['internal', 'storage_unavailable'])
  })
})

describe('an error of the gateway', () => {
  it('carries its code and what is known beside its text', () => {
    const cause = new Error('the cause')
    const details = { deviceCode: 4 }
    const error = new GatewayError('device_error', 'it said no', {
      field: '/level',
      hint: 'ask again',
      details,
      provenNotDone: true,
      cause,
    })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      code: 'device_error',
      message: 'it said no',
      field: '/level',
      hint: 'ask again',
    })
    expect(error).toMatchObject({ details, provenNotDone: true, cause })
  })

  it('proves nothing unless that is said', () => {
    const error = new GatewayError('device_error', 'it said no')
    expect(error.provenNotDone).toBe(false)
    expect('cause' in error).toBe(false)
  })
})

describe('a programmer error', () => {
  it('is no error of the gateway, so that nothing takes it for the fate of a call', () => {
    expect(() => assert(true, 'fine')).not.toThrow()
    let thrown: unknown
    try {
      assert(0, 'never zero')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ name: 'AssertionFailure', message: 'never zero' })
    expect(thrown).not.toBeInstanceOf(GatewayError)
  })
})

describe('the text of what was thrown', () => {
  it('is that of an error, or whatever else was thrown as text', () => {
    expect(messageOf(new TypeError('no'))).toBe('no')
    expect(messageOf('a text')).toBe('a text')
    expect(messageOf(undefined)).toBe('undefined')
  })
})
