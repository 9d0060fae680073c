/** What a call asks for is done at most once, over timeouts, reopenings, kills and restarts. */
import type { History, Invariant, Violation } from '../history.ts'

const name = 'at-most-once'

export const atMostOnce: Invariant = {
  name,
  check: (history) => [...violations(history)],
}

function* violations(history: History): Generator<Violation> {
  const counts = new Map<string, number>()
  for (const { by, command, nonce } of history.executions) {
    if (nonce === 0) continue
    const key = `${by} ${command} ${nonce}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count === 2) yield { invariant: name, message: `${key} was executed more than once` }
  }
}
