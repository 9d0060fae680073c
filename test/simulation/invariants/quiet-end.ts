/** An idle gateway has only its periodic timers, and a closed one nothing: no timer, no open port. */
import type { Invariant, Violation } from '../history.ts'

const name = 'quiet-end'
/** The look whether the path is still the same device; a poll that is on its way has a few more. */
const TIMERS_PER_PORT = 1
const TIMERS_OF_A_POLL = 6

export const quietEnd: Invariant = {
  name,
  check: ({ close, plan }) => {
    const violations: Violation[] = []
    const say = (message: string) => violations.push({ invariant: name, message })
    if (close.endedAt === undefined) say('the close did not end')
    if (close.openPorts.length > 0) say(`${close.openPorts.join(', ')} stayed open`)
    if (close.timers > 0) say(`${close.timers} timers were left behind`)
    const { ports } = plan.home
    const polled = ports.flatMap(({ devices }) => devices).filter(({ pollMs }) => pollMs !== undefined).length
    const pollsAtOnce = Math.min(polled, ports.length)
    const most = TIMERS_PER_PORT * ports.length + polled + TIMERS_OF_A_POLL * pollsAtOnce
    if (close.idleTimers > most) say(`an idle gateway has ${close.idleTimers} timers, of ${most}`)
    return violations
  },
}
