/** Once nothing goes wrong any more, every port is open again, every call is over, and every device answers. */
import type { Invariant, Violation } from '../history.ts'

const name = 'liveness'

export const liveness: Invariant = {
  name,
  check: ({ endedAt, healedAt, lastCalls }) => {
    const violations: Violation[] = []
    if (endedAt === undefined)
      violations.push({ invariant: name, message: `not everything was over long after ${healedAt}` })
    // Each device is asked up to three times.
    const last = new Map(lastCalls.map((call) => [call.plan.device, call]))
    for (const { plan, result } of last.values()) {
      if (result?.status === 'ok') continue
      const said = result?.error ? `${result.error.code} (${result.error.message})` : 'nothing'
      violations.push({ invariant: name, message: `${plan.device} answered ${said} after all was mended` })
    }
    return violations
  },
}
