/** `executed`: the device did it. `not_executed`: it did not, not even later. `unknown`: either. */
import type { History, Invariant, Violation } from '../history.ts'
import { executionsOf } from './trace.ts'

const name = 'truth'

export const truth: Invariant = {
  name,
  check: (history) => [...violations(history)],
}

function* violations(history: History): Generator<Violation> {
  for (const { plan, result, orphaned } of [...history.calls, ...history.lastCalls]) {
    if (!result || orphaned) continue
    const count = executionsOf(history, plan.nonce).length
    const said = `call ${plan.nonce} (${plan.device ?? 'tool'} ${plan.name}) is ${result.outcome} ${result.error?.code ?? ''}`
    if (result.outcome === 'executed' && count === 0)
      yield { invariant: name, message: `${said} and was never executed` }
    // A run of two reads that was refused at the second has changed nothing, and has no value.
    const done = plan.name === 'read_pair' ? count > 1 : count > 0
    if (result.outcome === 'not_executed' && done)
      yield { invariant: name, message: `${said} and was executed ${count} times` }
  }
}
