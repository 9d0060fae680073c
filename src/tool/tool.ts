/** A tool as callers know it, whatever is behind it. */
import type { Effect, GatewayError } from '../errors.ts'
import type { Claim, Declared } from '../scheduler/declaration.ts'
import type { TaskRun, TaskValue } from '../scheduler/task.ts'

export type JsonSchema = Readonly<Record<string, unknown>>
export type Arguments = Readonly<Record<string, unknown>>

/** Everything that the tool layer needs of a tool; device tools and `defineTool` tools are equal in it. */
export interface Tool {
  readonly name: string
  readonly device?: string
  readonly command?: string
  readonly title: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly returns: JsonSchema
  readonly effect: Effect
  readonly dangerous: boolean
  readonly timeoutMs?: number
  readonly claims: readonly Claim[]
  /** Ports whose queue a call waits in. */
  readonly ports: readonly string[]
  readonly because?: string
  readonly serial: boolean
  readonly parallelSafe: boolean | ((args: never) => boolean)
  readonly declared: Declared
  /** Why a call now would be refused; undefined: it is available. */
  readonly refusal?: () => GatewayError | undefined
  /** One use of the tool. Throws a GatewayError for arguments that the schema lets through and the device does not. */
  readonly prepare: (args: Arguments) => PreparedCall
}

/** A call that is ready to run: nothing of it has happened yet. */
export interface PreparedCall {
  /** Clock time before which it may not start. */
  readonly notBefore?: () => number
  readonly run: (run: ToolTaskRun) => Promise<TaskValue>
}

/** A task's run, and the call that it belongs to: the trace of a port names it. */
export interface ToolTaskRun extends TaskRun {
  readonly callId?: string
  /** A stop command: it goes out at once, and what its reply cannot prove stays unknown. */
  readonly urgent?: boolean
}
