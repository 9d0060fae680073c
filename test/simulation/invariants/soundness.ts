/** No error is left uncaught, and none is the gateway's own. */
import type { Invariant, Violation } from '../history.ts'

const name = 'soundness'

export const soundness: Invariant = {
  name,
  check: ({ uncaught, calls, lastCalls, lanes }) => {
    const violations: Violation[] = uncaught.map((message) => ({ invariant: name, message }))
    for (const { plan, result } of [...calls, ...lastCalls]) {
      if (result?.error?.code === 'internal')
        violations.push({ invariant: name, message: `call ${plan.nonce}: ${result.error.message}` })
    }
    for (const { rejected } of lanes) {
      if (rejected !== undefined)
        violations.push({ invariant: name, message: `a lane was refused: ${rejected}` })
    }
    return violations
  },
}
