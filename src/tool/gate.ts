/**
 * The one way to a tool, for every caller. What can be settled before anything starts is settled by the intake; what
 * is left goes to the scheduler. Whatever happens to a call becomes its one result.
 */
import { type Clock, newId } from '../clock.ts'
import { GatewayError } from '../errors.ts'
import { DEADLINE_DEFAULT_MS } from '../limits.ts'
import type { Policy, Rank } from '../scheduler/declaration.ts'
import { planLane } from '../scheduler/plan.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Lane, TaskResult } from '../scheduler/task.ts'
import { CallBook } from './call-book.ts'
import type { Caller, CallIntake, Intake } from './call-intake.ts'
import { callResult, shownError } from './call-outcome.ts'
import type { Principal } from './home.ts'
import type {
  BatchOptions,
  BatchRequest,
  BatchResponse,
  BatchStatus,
  CallRequest,
  CallResult,
  PlannedCall,
  PlanResponse,
} from './shapes.ts'
import type { Tool } from './tool.ts'

/** A call that is settled: what it came to, and where it stood. */
export interface SettledCall extends CallResult {
  readonly lane: string
  readonly partition: number
}

export interface GateParts {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly intake: CallIntake
  readonly policy: Policy
  /** Every call but the gateway's own polls. */
  readonly onSettled: (call: SettledCall) => void
}

/** The gateway's own polls. */
export const POLLER: Principal = { id: 'gateway', name: 'gateway', role: 'read' }

/** Calls that were handed over together, on their way. */
interface Batch {
  readonly id: string
  readonly lane: Lane
  readonly policy: Policy
  readonly intakes: readonly Intake[]
  /** By place; undefined: not settled yet. */
  readonly settled: (TaskResult | undefined)[]
  readonly finished: Promise<BatchStatus>
}

export class Gate {
  readonly #parts: GateParts
  readonly #book: CallBook

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#book = new CallBook(parts.clock)
  }

  async batch(request: BatchRequest, principal: Principal): Promise<BatchResponse> {
    const { state: _, ...response } = await this.#begin(request, callerOf(request, principal), false).finished
    return response
  }

  /** The batch goes on by itself. */
  startBatch(request: BatchRequest, principal: Principal): BatchStatus {
    return statusOf(this.#begin(request, callerOf(request, principal), true))
  }

  batchStatus(id: string, principal: Principal): BatchStatus | undefined {
    return this.#book.batch(id, principal)?.status()
  }

  cancelBatch(id: string, principal: Principal): BatchStatus | undefined {
    const batch = this.#book.batch(id, principal)
    batch?.cancel()
    return batch?.status()
  }

  cancelCall(id: string, principal: Principal): BatchStatus | undefined {
    const batch = this.#book.ofCall(id, principal)
    batch?.cancel(id)
    return batch?.status()
  }

  call(request: CallRequest & BatchOptions, principal: Principal): Promise<CallResult> {
    return this.#single(request, callerOf(request, principal))
  }

  /** A poll: the lowest rank, not counted against the queue. */
  poll(name: string): Promise<CallResult> {
    return this.#single({ name }, { principal: POLLER, rank: 'poll' })
  }

  /** A stop command: before everything else, and held by nothing. */
  stopCommand(call: CallRequest, principal: Principal): Promise<CallResult> {
    return this.#single(call, { principal, rank: 'stop' })
  }

  plan(request: BatchRequest, principal: Principal): PlanResponse {
    const policy = request.policy ?? this.#parts.policy
    const intakes = this.#parts.intake.takeAll(request.calls, callerOf(request, principal))
    const planned = planLane(
      intakes.map(({ task }) => task),
      policy,
    )
    return {
      policy,
      partitions: planned.partitions,
      calls: intakes.map(({ tool, task }, index) => {
        const call = planned.calls[index]
        return {
          id: task.id,
          name: task.name,
          partition: call?.partition ?? 0,
          waitsFor: call?.waitsFor ?? [],
          overlaps: call?.overlaps ?? [],
          claims: task.claims,
          earlyStart: call?.earlyStart ?? { yes: false, reason: 'not planned' },
          confirmation: task.rejected?.code === 'confirmation_required',
          available: tool !== undefined && tool.refusal?.() === undefined,
          ...plannedError(task.rejected, tool),
        }
      }),
    }
  }

  /** A lane to which calls are added one by one, in order. A deadline is the lane's, so it has one only if it is said. */
  openLane(options: BatchOptions, principal: Principal): OpenLane {
    const caller = callerOf(options, principal)
    const lane = this.#openLane(options, caller.rank, options.deadlineMs)
    const id = newId(this.#parts.clock, 'b')
    const intakes: Intake[] = []
    const settled: Promise<TaskResult>[] = []
    const taken = new Set<string>()
    return {
      add: async (call) => {
        const intake = this.#parts.intake.take(call, caller, taken)
        const [result] = lane.add([intake.task])
        if (!result) throw new GatewayError('internal', 'the lane took no call')
        intakes.push(intake)
        settled.push(result)
        const partition = lane.partitions().findLastIndex((ids) => ids.includes(intake.task.id))
        const task = await result
        this.#publish(id, partition, intake, task, caller)
        return callResult(intake, task)
      },
      end: async () => {
        lane.end()
        const results = await Promise.all(settled)
        await lane.drained
        const policy = options.policy ?? this.#parts.policy
        return responseOf({ id, lane, policy, intakes, settled: results })
      },
      cancel: (callId) => lane.cancel(callId),
    }
  }

  async #single(request: CallRequest & BatchOptions, caller: Caller): Promise<CallResult> {
    const { finished } = this.#begin({ ...request, calls: [request] }, caller, false)
    const [result] = (await finished).results
    if (!result) throw new GatewayError('internal', 'the call has no result')
    return result
  }

  #begin(request: BatchRequest, caller: Caller, keep: boolean): Batch {
    const { clock, intake, policy } = this.#parts
    const intakes = intake.takeAll(request.calls, caller)
    const lane = this.#openLane(request, caller.rank, request.deadlineMs ?? DEADLINE_DEFAULT_MS)
    const settling = lane.add(intakes.map(({ task }) => task))
    lane.end()
    const settled: (TaskResult | undefined)[] = intakes.map(() => undefined)
    const batch = { id: newId(clock, 'b'), lane, policy: request.policy ?? policy, intakes, settled }
    const partitions = new Map(lane.partitions().flatMap((ids, index) => ids.map((id) => [id, index])))
    const each = settling.map(async (result, index) => {
      const task = await result
      settled[index] = task
      const taken = intakes[index]
      if (taken) this.#publish(batch.id, partitions.get(task.id) ?? 0, taken, task, caller)
    })
    this.#book.begin({
      id: batch.id,
      principal: caller.principal,
      callIds: intakes.map(({ task }) => task.id),
      keep,
      status: () => statusOf(batch),
      cancel: (callId) => lane.cancel(callId),
    })
    return { ...batch, finished: this.#finish(batch, each) }
  }

  async #finish(batch: Omit<Batch, 'finished'>, each: readonly Promise<void>[]): Promise<BatchStatus> {
    await Promise.all(each)
    await batch.lane.drained
    this.#book.end(batch.id)
    return statusOf(batch)
  }

  #publish(lane: string, partition: number, intake: Intake, task: TaskResult, caller: Caller): void {
    if (caller.rank === 'poll') return
    this.#parts.onSettled({ ...callResult(intake, task), lane, partition })
  }

  #openLane(options: BatchOptions, rank: Rank, deadlineMs: number | undefined): Lane {
    const { clock, scheduler, policy } = this.#parts
    return scheduler.openLane({
      policy: options.policy ?? policy,
      rank,
      onError: options.onError ?? 'continue',
      ...(deadlineMs === undefined ? {} : { deadlineAt: clock.now() + deadlineMs }),
      ...(options.context === undefined ? {} : { context: options.context }),
    })
  }
}

/** `confirmation` says what a person can still give. */
function plannedError(
  rejected: GatewayError | undefined,
  tool: Tool | undefined,
): Pick<PlannedCall, 'error'> {
  if (!rejected || rejected.code === 'confirmation_required') return {}
  return { error: shownError(rejected, tool) }
}

/** What the library's `lane()` gives. */
export interface OpenLane {
  /** Resolves with the call's result; calls are ordered as they are added. */
  add(call: CallRequest): Promise<CallResult>
  /** No more calls: resolves when all are settled, with the shape of a batch. */
  end(): Promise<BatchResponse>
  cancel(id?: string): boolean
}

function callerOf(options: BatchOptions, principal: Principal): Caller {
  return { principal, rank: options.priority ?? 'interactive' }
}

function statusOf(batch: Omit<Batch, 'finished'>): BatchStatus {
  const isDone = batch.settled.every((result) => result !== undefined)
  return { ...responseOf(batch), state: isDone ? 'done' : 'running' }
}

/** Of the calls that are settled, in declared order. */
function responseOf({ id, lane, policy, intakes, settled }: Omit<Batch, 'finished'>): BatchResponse {
  const results = intakes.flatMap((intake, index) => {
    const task = settled[index]
    return task ? [callResult(intake, task)] : []
  })
  return {
    id,
    policy,
    partitions: lane.partitions(),
    executed: results.filter(({ outcome, shared }) => outcome === 'executed' && !shared).length,
    shared: results.filter(({ shared }) => shared).length,
    results,
    context: lane.context(),
    conflicts: lane.conflicts(),
  }
}
