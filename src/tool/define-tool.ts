/** A tool without a device, for use inside an agent or a test. It goes through the same gate as a device's tool. */
import type { Static, TObject, TProperties } from 'typebox'
import type { Clock, Timer } from '../clock.ts'
import { assert, type Effect, GatewayError, messageOf } from '../errors.ts'
import { type Claim, type Declaration, declaredAs } from '../scheduler/declaration.ts'
import type { ContextChanges, TaskValue } from '../scheduler/task.ts'
import type { Arguments, JsonSchema, Tool, ToolTaskRun } from './tool.ts'

export interface ToolRun {
  /** Aborts on an emergency stop and at shutdown. */
  readonly signal: AbortSignal
  /** The frozen context of the lane. */
  readonly context: Readonly<Record<string, unknown>>
}

/** The concurrency fields stand last. Nothing declared there means: runs alone. */
export interface ToolDefinition<P extends TObject = TObject<TProperties>> {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly parameters?: P
  readonly returns?: TObject
  /** Returns the value, or an object of exactly `value` and `context`. */
  readonly run: (args: Static<P>, run: ToolRun) => unknown
  /** Changes of the lane's context that follow from the value. */
  readonly context?: (value: unknown, args: Static<P>) => ContextChanges
  readonly dangerous?: boolean
  readonly timeoutMs?: number
  readonly effect: Effect
  readonly claims?: readonly Claim[]
  readonly because?: string
  readonly serial?: boolean
  readonly parallelSafe?: boolean | ((args: Static<P>) => boolean)
}

export type DefinedTool = ToolDefinition<never>

export const TOOL_NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/
/** How long a tool may still take once its signal has aborted. */
const STOP_PATIENCE_MS = 250
const NO_PARAMETERS: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

/** Checks a definition and gives it its type: `args` of `run` is what `parameters` says. */
export function defineTool<P extends TObject = TObject<TProperties>>(
  definition: ToolDefinition<P>,
): DefinedTool {
  const { name, effect } = definition
  assert(TOOL_NAME_PATTERN.test(name), `a tool's name is 1 to 64 of a-z A-Z 0-9 _ -, not "${name}"`)
  assert(['read', 'set', 'act'].includes(effect), `tool ${name}: effect is read, set or act`)
  assert(typeof definition.run === 'function', `tool ${name}: run is a function`)
  return definition as unknown as DefinedTool
}

/** The tool as the gate knows it. */
export function toolOf(definition: DefinedTool, clock: Clock): Tool {
  const { name, effect, because } = definition
  const declaration = definition as unknown as Declaration
  return {
    name,
    title: definition.title ?? name,
    description: definition.description ?? '',
    parameters: closed(definition.parameters) ?? NO_PARAMETERS,
    returns: (definition.returns as JsonSchema | undefined) ?? { type: 'object' },
    effect,
    dangerous: definition.dangerous ?? false,
    ...(definition.timeoutMs === undefined ? {} : { timeoutMs: definition.timeoutMs }),
    claims: definition.claims ?? [],
    ports: [],
    ...(because === undefined ? {} : { because }),
    serial: definition.serial ?? false,
    parallelSafe: declaration.parallelSafe ?? false,
    declared: declaredAs(declaration),
    prepare: (args) => ({ run: (run) => perform(definition, args, run, clock) }),
  }
}

async function perform(
  definition: DefinedTool,
  args: Arguments,
  run: ToolTaskRun,
  clock: Clock,
): Promise<TaskValue> {
  const { signal, progress } = run
  if (signal.aborted) throw new GatewayError('stopped', 'stopped before the tool began')
  // What its code does cannot be seen: from here on it may have done something.
  if (definition.effect !== 'read') progress.sent = true
  return unlessStopped(clock, signal, ownRun(definition, args, run))
}

async function ownRun(definition: DefinedTool, args: Arguments, run: ToolRun): Promise<TaskValue> {
  try {
    const { signal, context } = run
    const returned: unknown = await definition.run(args as never, { signal, context })
    return valueAndContext(definition, returned, args)
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw new GatewayError('tool_failed', messageOf(thrown), { cause: thrown })
  }
}

/** A tool that does not heed its signal must not keep its caller waiting for ever. */
function unlessStopped<T>(clock: Clock, signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let patience: Timer | undefined
    const stop = () => {
      const error = new GatewayError('stopped', 'the tool was stopped and did not end')
      patience = clock.after(STOP_PATIENCE_MS, () => reject(error))
    }
    signal.addEventListener('abort', stop, { once: true })
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop)
      patience?.cancel()
    })
  })
}

/** A schema that names no parameter beyond its own takes no other. */
export function closed(schema: object | undefined): JsonSchema | undefined {
  if (schema === undefined) return undefined
  return { additionalProperties: false, ...schema }
}

function valueAndContext(definition: DefinedTool, returned: unknown, args: Arguments): TaskValue {
  const both = isValueAndContext(returned)
  const value = (both ? returned.value : returned) ?? null
  // It would spoil the answer to all calls of its batch.
  if (JSON.stringify(value) === undefined) throw new TypeError('the value is no JSON data')
  const context = both ? returned.context : definition.context?.(value, args as never)
  return { value, ...(context === undefined ? {} : { context }) }
}

function isValueAndContext(returned: unknown): returned is { value: unknown; context: ContextChanges } {
  if (typeof returned !== 'object' || returned === null) return false
  const keys = Object.keys(returned)
  return keys.length === 2 && keys.includes('value') && keys.includes('context')
}
