/**
 * Each call that was taken comes to exactly one end, told once and to its own caller, in time: no later than its
 * deadline and the longest run after it.
 */
import type { CallRecord, History, Invariant, Violation } from '../history.ts'
import { COMMANDS, type Command } from '../plan.ts'
import { deviceOf } from './trace.ts'

const name = 'one-outcome'
/** The gap on a line that never rests, a write that does not end, a reply after a stop, the turn of the loop. */
const GRACE_MS = 1_000 + 5_000 + 250 + 500
/** A turn of the loop, and a clock that is a little early. */
const TURN_MS = 50
const OUTCOMES = ['executed', 'not_executed', 'unknown']

export const oneOutcome: Invariant = {
  name,
  check: (history) => [...history.calls, ...history.lastCalls].flatMap((call) => [...ofCall(history, call)]),
}

function* ofCall(history: History, call: CallRecord): Generator<Violation> {
  const { plan, result, settledAt, settledCount, orphaned, lane } = call
  if (orphaned || lane.rejected !== undefined) return
  const violation = (message: string): Violation => ({
    invariant: name,
    message: `call ${plan.nonce} ${message}`,
  })
  if (settledAt === undefined || !result) {
    yield violation(`of ${call.submittedAt} never came to an end`)
    return
  }
  if (settledCount !== 1) yield violation(`came to an end ${settledCount} times`)
  if (result.id !== `n${plan.nonce}`) yield violation(`was answered with the result of ${result.id}`)
  if (!OUTCOMES.includes(result.outcome)) yield violation(`ended as ${result.outcome}`)
  const told = history.told.get(`n${plan.nonce}`) ?? []
  if (told.length !== 1) yield violation(`was told ${told.length} times`)
  const [first] = told
  if (first && first.outcome !== result.outcome)
    yield violation(`was told as ${first.outcome} and answered as ${result.outcome}`)
  if (result.error?.code === 'deadline_exceeded' && isTimed(call)) {
    const dueAt = call.submittedAt + lane.plan.deadlineMs + stalledMs(history)
    if (settledAt > dueAt + TURN_MS) yield violation(`ended at ${settledAt} by its deadline of ${dueAt}`)
  }
  const latestAt =
    call.submittedAt + lane.plan.deadlineMs + runMs(history, call) + GRACE_MS + stalledMs(history)
  if (settledAt > latestAt && isTimed(call))
    yield violation(`ended at ${settledAt}, which is after ${latestAt}`)
}

/** The deadline of a lane that stays open counts from its opening. */
function isTimed({ lane }: CallRecord): boolean {
  return lane.plan.kind === 'batch'
}

function runMs(history: History, { plan }: CallRecord): number {
  if (plan.device === undefined) return plan.runsMs ?? 0
  const transactions = plan.name === 'read_pair' || plan.name === 'act_read_back' ? 2 : 1
  const { timeoutMs, replyLatencyMaxMs, gapMs } = deviceOf(history, plan.device)
  // The second of two reads waits for what may still come of the first.
  return transactions * (timeoutMs + replyLatencyMaxMs + gapMs + 150)
}

function stalledMs({ plan }: History): number {
  let sum = 0
  for (const fault of plan.faults) if (fault.kind === 'stall') sum += fault.forMs
  return sum
}

export function effectOf(name: string): 'read' | 'set' | 'act' {
  if (name in COMMANDS) return COMMANDS[name as Command]
  return name === 'think' || name === 'watch_valve' ? 'read' : name === 'note' ? 'set' : 'act'
}
