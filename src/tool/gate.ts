/**
 * The one way to a tool, for every caller: unknown names, rights, arguments, interlocks and confirmations are
 * settled here, before anything starts; what is left goes to the scheduler. Whatever happens to a call becomes
 * its one result.
 */
import { type Clock, isoTime, newId } from '../clock.ts'
import { assert, GatewayError, isRetryable, messageOf } from '../errors.ts'
import { DEADLINE_DEFAULT_MS } from '../limits.ts'
import type { Policy, Rank } from '../scheduler/declaration.ts'
import { planLane } from '../scheduler/plan.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Lane, Task, TaskResult, TaskRun } from '../scheduler/task.ts'
import type { Principal } from './home.ts'
import type { Interlock } from './interlock.ts'
import type {
  BatchOptions,
  BatchRequest,
  BatchResponse,
  CallError,
  CallRequest,
  CallResult,
  PlanResponse,
} from './shapes.ts'
import type { Arguments, PreparedCall, Tool } from './tool.ts'
import type { ToolRegistry } from './tool-registry.ts'

export interface GateParts {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly registry: ToolRegistry
  readonly interlock: Interlock
  readonly policy: Policy
}

/** A call on its way: its task, and what its result needs beyond the task's. */
interface Prepared {
  readonly call: CallRequest
  readonly requestedId: string | undefined
  readonly tool: Tool | undefined
  readonly task: Task
}

const NO_ARGUMENTS: Arguments = {}

/** The gateway's own polls. */
export const POLLER: Principal = { id: 'gateway', name: 'gateway', role: 'read' }

export class Gate {
  readonly #parts: GateParts

  constructor(parts: GateParts) {
    this.#parts = parts
  }

  async batch(request: BatchRequest, principal: Principal): Promise<BatchResponse> {
    const prepared = this.#prepareAll(request.calls, principal)
    const lane = this.#openLane(request, rankOf(request), request.deadlineMs ?? DEADLINE_DEFAULT_MS)
    const settled = lane.add(prepared.map(({ task }) => task))
    lane.end()
    const results = await Promise.all(settled)
    await lane.drained
    return this.#batchResponse(request, lane, prepared, results)
  }

  async call(request: CallRequest & BatchOptions, principal: Principal): Promise<CallResult> {
    return this.#single(request, rankOf(request), principal)
  }

  /** A poll: the lowest rank, not counted against the queue. */
  poll(name: string): Promise<CallResult> {
    return this.#single({ name }, 'poll', POLLER)
  }

  plan(request: BatchRequest, principal: Principal): PlanResponse {
    const policy = request.policy ?? this.#parts.policy
    const prepared = this.#prepareAll(request.calls, principal)
    const planned = planLane(
      prepared.map(({ task }) => task),
      policy,
    )
    return {
      policy,
      partitions: planned.partitions,
      calls: prepared.map(({ tool, task }, index) => {
        const call = planned.calls[index]
        return {
          id: task.id,
          name: task.name,
          partition: call?.partition ?? 0,
          waitsFor: call?.waitsFor ?? [],
          claims: task.claims,
          earlyStart: call?.earlyStart ?? { yes: false, reason: 'not planned' },
          confirmation: task.rejected?.code === 'confirmation_required',
          available: tool !== undefined && tool.refusal?.() === undefined,
        }
      }),
    }
  }

  /** A lane to which calls are added one by one, in order. A deadline is the lane's, so it has one only if it is said. */
  openLane(options: BatchOptions, principal: Principal): OpenLane {
    const lane = this.#openLane(options, rankOf(options), options.deadlineMs)
    const prepared: Prepared[] = []
    const settled: Promise<TaskResult>[] = []
    const taken = new Set<string>()
    return {
      add: async (call) => {
        const next = this.#prepare(call, principal, taken)
        const [result] = lane.add([next.task])
        if (!result) throw new GatewayError('internal', 'the lane took no call')
        prepared.push(next)
        settled.push(result)
        return this.#callResult(next, await result)
      },
      end: async () => {
        lane.end()
        const results = await Promise.all(settled)
        await lane.drained
        return this.#batchResponse(options, lane, prepared, results)
      },
      cancel: (id) => lane.cancel(id),
    }
  }

  async #single(request: CallRequest & BatchOptions, rank: Rank, principal: Principal): Promise<CallResult> {
    const prepared = this.#prepare(request, principal, new Set())
    const lane = this.#openLane(request, rank, request.deadlineMs ?? DEADLINE_DEFAULT_MS)
    const [settled] = lane.add([prepared.task])
    lane.end()
    if (!settled) throw new GatewayError('internal', 'the lane took no call')
    return this.#callResult(prepared, await settled)
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

  #prepareAll(calls: readonly CallRequest[], principal: Principal): Prepared[] {
    const taken = new Set<string>()
    return calls.map((call) => this.#prepare(call, principal, taken))
  }

  #prepare(call: CallRequest, principal: Principal, taken: Set<string>): Prepared {
    const { clock, registry, interlock } = this.#parts
    const isFree = call.id !== undefined && !taken.has(call.id)
    const id = call.id !== undefined && isFree ? call.id : newId(clock, 'c')
    taken.add(id)
    const registered = registry.get(call.name)
    const tool = registered?.tool
    const checked = registered?.arguments.check(call.arguments ?? NO_ARGUMENTS)
    const args = checked === undefined || checked instanceof GatewayError ? NO_ARGUMENTS : checked
    const prepared = tool && !(checked instanceof GatewayError) ? preparedCall(tool, args) : undefined
    const rejected = tool
      ? (forbidden(tool, principal) ??
        asFault(checked) ??
        asFault(prepared) ??
        interlock.forbids(tool.name) ??
        unconfirmed(tool))
      : registry.unknown(call.name)
    const requestedId = call.id !== undefined && !isFree ? call.id : undefined
    const runnable = prepared instanceof GatewayError ? undefined : prepared
    const task: Task = {
      id,
      name: call.name,
      declaration: tool,
      arguments: args,
      claims: tool?.claims ?? [],
      device: tool?.device,
      ports: tool?.ports ?? [],
      rejected,
      refusal: tool?.refusal,
      notBefore: runnable?.notBefore,
      run: (run) => this.#run(call.name, id, runnable, run),
    }
    return { call, requestedId, tool, task }
  }

  async #run(name: string, callId: string, prepared: PreparedCall | undefined, run: TaskRun) {
    assert(prepared, `${name} was started although it was rejected`)
    const leave = this.#parts.interlock.enter(name)
    try {
      const value = await prepared.run({ ...run, callId })
      leave('may have run')
      return value
    } catch (error) {
      leave(run.progress.sent ? 'may have run' : 'idle')
      throw error
    }
  }

  #batchResponse(
    options: BatchOptions,
    lane: Lane,
    prepared: readonly Prepared[],
    settled: readonly TaskResult[],
  ): BatchResponse {
    const results = prepared.flatMap((next, index) => {
      const result = settled[index]
      return result ? [this.#callResult(next, result)] : []
    })
    return {
      id: newId(this.#parts.clock, 'b'),
      policy: options.policy ?? this.#parts.policy,
      partitions: lane.partitions(),
      executed: results.filter(({ outcome, shared }) => outcome === 'executed' && !shared).length,
      shared: results.filter(({ shared }) => shared).length,
      results,
      context: lane.context(),
      conflicts: lane.conflicts(),
    }
  }

  #callResult({ call, requestedId, tool }: Prepared, settled: TaskResult): CallResult {
    const { ok, error } = settled
    return {
      id: settled.id,
      ...(requestedId === undefined ? {} : { requestedId }),
      name: call.name,
      status: ok ? 'ok' : 'error',
      outcome: settled.outcome,
      ...(ok ? { value: ok.value } : {}),
      ...(error ? { error: shownError(error, tool) } : {}),
      ...(ok?.measuredAtMs === undefined ? {} : { measuredAt: isoTime(ok.measuredAtMs) }),
      shared: false,
      attempts: settled.attempts,
      ...(ok?.unacknowledged ? { sent: true as const } : {}),
      ...(ok?.confirmedBy ? { confirmedBy: ok.confirmedBy } : {}),
      timing: settled.timing,
    }
  }
}

/** What the library's `lane()` gives. */
export interface OpenLane {
  /** Resolves with the call's result; calls are ordered as they are added. */
  add(call: CallRequest): Promise<CallResult>
  /** No more calls: resolves when all are settled, with the shape of a batch. */
  end(): Promise<BatchResponse>
  cancel(id?: string): boolean
}

function rankOf(options: BatchOptions): Rank {
  return options.priority ?? 'interactive'
}

function forbidden(tool: Tool, principal: Principal): GatewayError | undefined {
  if (principal.role !== 'read' || tool.effect === 'read') return undefined
  return new GatewayError('forbidden', `${tool.name} changes something, and the token may only read`, {
    hint: 'use a token with the role control',
  })
}

/** There is no store for confirmations: what is dangerous does not run. */
function unconfirmed(tool: Tool): GatewayError | undefined {
  if (!tool.dangerous) return undefined
  return new GatewayError(
    'confirmation_required',
    `${tool.name} is dangerous and needs a person's confirmation`,
  )
}

/** What the device says against the arguments before anything starts. */
function preparedCall(tool: Tool, args: Arguments): PreparedCall | GatewayError {
  try {
    return tool.prepare(args)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    return new GatewayError('tool_failed', messageOf(thrown), { cause: thrown, provenNotDone: true })
  }
}

function asFault(checked: unknown): GatewayError | undefined {
  return checked instanceof GatewayError ? checked : undefined
}

function shownError(error: GatewayError, tool: Tool | undefined): CallError {
  return {
    code: error.code,
    message: error.message,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    retryable: isRetryable(error.code, tool?.effect ?? 'act'),
    ...(error.details === undefined ? {} : { details: error.details }),
  }
}
