/**
 * What is settled of a call before anything starts: does its tool exist, may its caller, do the arguments fit, is it
 * interlocked, stopped or to be confirmed. What is left is a task for the scheduler.
 */
import { type Clock, newId } from '../clock.ts'
import { assert, GatewayError, messageOf } from '../errors.ts'
import type { Rank } from '../scheduler/declaration.ts'
import type { Task, TaskRun } from '../scheduler/task.ts'
import type { Principal } from './home.ts'
import type { Interlock } from './interlock.ts'
import type { CallRequest } from './shapes.ts'
import type { Arguments, PreparedCall, Tool } from './tool.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** A call on its way: its task, and what its result needs beyond the task's. */
export interface Intake {
  readonly call: CallRequest
  readonly requestedId: string | undefined
  readonly tool: Tool | undefined
  readonly task: Task
}

export interface IntakeParts {
  readonly clock: Clock
  readonly registry: ToolRegistry
  readonly interlock: Interlock
  /** The emergency stop is latched. */
  readonly isStopped: () => boolean
}

export interface Caller {
  readonly principal: Principal
  readonly rank: Rank
}

const NO_ARGUMENTS: Arguments = {}

export class CallIntake {
  readonly #parts: IntakeParts

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  takeAll(calls: readonly CallRequest[], caller: Caller): Intake[] {
    const taken = new Set<string>()
    return calls.map((call) => this.take(call, caller, taken))
  }

  /** `taken`: ids of the same batch or lane; a repeated one is minted anew. */
  take(call: CallRequest, caller: Caller, taken: Set<string>): Intake {
    const { clock, registry } = this.#parts
    const isFree = call.id !== undefined && !taken.has(call.id)
    const id = call.id !== undefined && isFree ? call.id : newId(clock, 'c')
    taken.add(id)
    const registered = registry.get(call.name)
    const tool = registered?.tool
    const checked = registered?.arguments.check(call.arguments ?? NO_ARGUMENTS)
    const args = checked === undefined || checked instanceof GatewayError ? NO_ARGUMENTS : checked
    const prepared = tool && !(checked instanceof GatewayError) ? preparedCall(tool, args) : undefined
    const rejected = tool
      ? (forbidden(tool, caller.principal) ??
        asFault(checked) ??
        asFault(prepared) ??
        this.#notNow(tool, caller.rank))
      : registry.unknown(call.name)
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
      // A stop command goes out at once, also on a line where its reply could be confused with another.
      notBefore: caller.rank === 'stop' ? undefined : runnable?.notBefore,
      run: (run) => this.#run(call.name, id, runnable, run, caller.rank),
    }
    return { call, requestedId: call.id !== undefined && !isFree ? call.id : undefined, tool, task }
  }

  /** A stop command is held by no interlock, needs no confirmation, and is what the stop itself sends. */
  #notNow(tool: Tool, rank: Rank): GatewayError | undefined {
    if (rank === 'stop') return undefined
    return this.#stopped(tool) ?? this.#parts.interlock.forbids(tool.name) ?? unconfirmed(tool)
  }

  #stopped(tool: Tool): GatewayError | undefined {
    if (tool.effect === 'read' || !this.#parts.isStopped()) return undefined
    return new GatewayError('stopped', 'the emergency stop is latched', {
      hint: 'an admin releases it with `baudway stop --clear`',
    })
  }

  async #run(name: string, callId: string, prepared: PreparedCall | undefined, run: TaskRun, rank: Rank) {
    assert(prepared, `${name} was started although it was rejected`)
    const urgent = rank === 'stop'
    const leave = urgent ? () => {} : this.#parts.interlock.enter(name)
    try {
      const value = await prepared.run({ ...run, callId, urgent })
      leave('may have run')
      return value
    } catch (error) {
      leave(run.progress.sent ? 'may have run' : 'idle')
      throw error
    }
  }
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
  const message = `${tool.name} is dangerous and needs a person's confirmation`
  return new GatewayError('confirmation_required', message)
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
