/**
 * What a policy keeps apart does not overlap, and goes in declared order. `partition`: consecutive parallel-safe calls
 * together, every other call for itself. `batch`: all together if all are safe, else one at a time. `resource`: what
 * wants one resource keeps its order. Whatever the policy, so does what wants one resource in one partition. The
 * partitions that the gateway tells are those. And where nothing goes wrong, as much comes of every call as if it had
 * been alone.
 */
import type { CallRecord, History, Invariant, LaneRecord, Violation } from '../history.ts'
import { endOf, executionsOf, isSafe, MOMENT_MS, startOf } from './trace.ts'
import { areApart, turnOf } from './turns.ts'

const name = 'partition-law'

export const partitionLaw: Invariant = {
  name,
  check: (history) => [
    ...history.lanes.flatMap((lane) => [...overlaps(history, lane), ...toldPartitions(history, lane)]),
    ...differences(history),
  ],
}

function* overlaps(history: History, lane: LaneRecord): Generator<Violation> {
  const { calls } = lane
  for (const [index, later] of calls.entries()) {
    const startedAt = startOf(history, later)
    if (startedAt === undefined) continue
    const turn = turnOf(history, later)
    if (startedAt < turn - MOMENT_MS)
      yield violation(lane, `call ${later.plan.nonce} started at ${startedAt}, before its turn at ${turn}`)
    for (const earlier of calls.slice(0, index)) {
      if (!areApart(history, lane, earlier, later)) continue
      const endedAt = endOf(history, earlier) ?? Number.POSITIVE_INFINITY
      // What was refused in its place never started, and may be told at any time.
      if (startOf(history, earlier) === undefined || endedAt <= startedAt + MOMENT_MS) continue
      if (earlier.orphaned) continue
      const { nonce } = earlier.plan
      yield violation(
        lane,
        `call ${later.plan.nonce} started at ${startedAt}, before ${nonce} ended at ${endedAt}`,
      )
    }
  }
}

function* toldPartitions(history: History, lane: LaneRecord): Generator<Violation> {
  if (lane.partitions === undefined) return
  const levels: number[] = []
  for (const call of lane.calls) levels.push(levelOf(history, call, levels))
  const expected: string[][] = []
  for (const [index, { plan }] of lane.calls.entries()) {
    const level = levels[index] ?? 0
    expected[level] = [...(expected[level] ?? []), `n${plan.nonce}`]
  }
  const told = JSON.stringify(lane.partitions)
  if (told !== JSON.stringify(expected))
    yield violation(lane, `the partitions are told as ${told}, not ${JSON.stringify(expected)}`)
}

/** The partition of a call, given those before it. */
function levelOf(history: History, call: CallRecord, levels: readonly number[]): number {
  const { lane, index } = call
  const before = lane.calls.slice(0, index)
  const { policy, kind } = lane.plan
  if (policy === 'partition') {
    const isJoined = isSafe(call.plan) && before.length > 0 && isSafe(before.at(-1)?.plan ?? call.plan)
    return (levels.at(-1) ?? -1) + (isJoined ? 0 : 1)
  }
  if (policy === 'batch') {
    const isTogether = kind === 'batch' && lane.calls.every(({ plan }) => isSafe(plan))
    return isTogether ? 0 : index
  }
  return before.reduce(
    (level, earlier) =>
      areApart(history, lane, earlier, call) ? Math.max(level, (levels[earlier.index] ?? 0) + 1) : level,
    0,
  )
}

function* differences(history: History): Generator<Violation> {
  const { oneByOne } = history
  if (!oneByOne) return
  const alone = new Map(oneByOne.calls.map((call) => [call.plan.nonce, cameTo(oneByOne, call)]))
  for (const call of history.calls) {
    const together = cameTo(history, call)
    const expected = alone.get(call.plan.nonce)
    if (together !== expected)
      yield violation(call.lane, `call ${call.plan.nonce} came to ${together}, and alone to ${expected}`)
  }
}

/** How it ended, and what was really done for it. */
function cameTo(history: History, { plan, result }: CallRecord): string {
  const done = executionsOf(history, plan.nonce).map(({ by, command }) => `${by} ${command}`)
  return `${result?.outcome} ${result?.error?.code ?? ''} [${done.join(', ')}]`
}

function violation({ plan }: LaneRecord, message: string): Violation {
  return { invariant: name, message: `${plan.policy}: ${message}` }
}
