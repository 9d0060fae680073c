/**
 * What a lane filled at once would do, without doing it. It is the lane's own order and the claims themselves: for a
 * batch that meets no failure on idle ports, every call starts when the last of those that it waits for is over.
 */
import { claimsOf, isPort } from './claims.ts'
import { isParallelSafe, type Policy } from './declaration.ts'
import { createLaneOrder, type Placement, type WaitReason } from './policies.ts'
import type { Task } from './task.ts'

export interface PlannedTask {
  readonly id: string
  readonly partition: number
  /** Enough of the calls that it waits for: all others are waited for through these. */
  readonly waitsFor: readonly { readonly id: string; readonly reason: string }[]
  /**
   * Earlier calls that it may overlap with or pass, though one of the two has not been declared parallel-safe. Only
   * under `resource`.
   */
  readonly overlaps: readonly string[]
  /** Whether a streamed call may start before the stream has ended, as far as order goes. */
  readonly earlyStart: { readonly yes: boolean; readonly reason: string }
}

export interface LanePlan {
  /** Ids in declared order. */
  readonly partitions: readonly (readonly string[])[]
  readonly calls: readonly PlannedTask[]
}

export type PlannableTask = Pick<Task, 'id' | 'declaration' | 'arguments' | 'claims' | 'rejected'>

interface Step extends Placement {
  readonly task: PlannableTask
}

export function planLane(tasks: readonly PlannableTask[], policy: Policy): LanePlan {
  const steps = orderSteps(tasks, policy)
  const overlapsOf = policy === 'resource' ? overlaps(steps) : () => []
  const partitions: string[][] = []
  for (const { task, partition } of steps) {
    const ids = partitions[partition]
    if (ids) ids.push(task.id)
    else partitions[partition] = [task.id]
  }
  return {
    partitions,
    calls: steps.map((step, index) => ({
      id: step.task.id,
      partition: step.partition,
      waitsFor: step.waitsFor.map(({ index: earlier, reason }) => ({
        id: idAt(steps, earlier),
        reason: textOf(reason),
      })),
      overlaps: overlapsOf(index).map((earlier) => idAt(steps, earlier)),
      earlyStart: earlyStart(step, policy),
    })),
  }
}

function orderSteps(tasks: readonly PlannableTask[], policy: Policy): readonly Step[] {
  const order = createLaneOrder(policy)
  const placements = tasks.map(({ declaration, arguments: args, claims }) =>
    order.place({ declaration, arguments: args, claims: claimsOf(claims) }),
  )
  const places = order.joinAll() ?? placements
  return tasks.map((task, index) => ({ task, ...(places[index] ?? { partition: 0, waitsFor: [] }) }))
}

/** For each call the earlier ones that it does not wait for, not even through others, unless both are parallel-safe. */
function overlaps(steps: readonly Step[]): (index: number) => readonly number[] {
  const waitsForAll: Uint32Array[] = []
  const words = Math.ceil(steps.length / 32)
  for (const { waitsFor } of steps) {
    const bits = new Uint32Array(words)
    for (const { index } of waitsFor) {
      waitsForAll[index]?.forEach((word, at) => {
        bits[at] = (bits[at] ?? 0) | word
      })
      bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31))
    }
    waitsForAll.push(bits)
  }
  const isSafe = steps.map(({ task }) => isParallelSafe(task.declaration, task.arguments))
  return (index) => {
    const bits = waitsForAll[index]
    const found: number[] = []
    for (let earlier = 0; earlier < index; earlier += 1) {
      const isWaitedFor = ((bits?.[earlier >>> 5] ?? 0) >>> (earlier & 31)) & 1
      if (!isWaitedFor && !(isSafe[earlier] && isSafe[index])) found.push(earlier)
    }
    return found
  }
}

function earlyStart({ task, partition }: Step, policy: Policy): PlannedTask['earlyStart'] {
  const no = (reason: string) => ({ yes: false, reason })
  if (task.rejected) return no('it does not run')
  if (policy === 'batch') return no('under batch nothing starts before the end')
  if (task.declaration?.effect !== 'read') return no('it is not a read')
  if (!isParallelSafe(task.declaration, task.arguments)) return no('it is not parallel-safe')
  if (partition > 0) return no('it waits for an earlier call')
  return { yes: true, reason: 'a parallel-safe read of the first partition' }
}

function idAt(steps: readonly Step[], index: number): string {
  return steps[index]?.task.id ?? ''
}

function textOf(reason: WaitReason): string {
  switch (reason.kind) {
    case 'partition':
      return 'earlier partition'
    case 'turn':
      return 'one at a time'
    case 'alone':
      return 'one of the two overlaps with nothing'
    case 'claim':
      return isPort(reason.resource) ? `same port ${reason.resource}` : `same resource ${reason.resource}`
  }
}
