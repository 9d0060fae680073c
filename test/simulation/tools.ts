/**
 * Tools without a device, one for each way to declare: parallel-safe, undeclared, serial with an exclusive or a shared
 * resource, and one that claims the gateway. Each takes down when its run began and when it ended.
 */
import { type Clock, pause } from '../../src/clock.ts'
import { Type } from '../../src/driver/device.ts'
import { type DefinedTool, defineTool, type ToolDefinition } from '../../src/tool/define-tool.ts'
import type { ToolName } from './plan.ts'
import type { Recorder } from './recorder.ts'

type Declared = Pick<ToolDefinition, 'effect' | 'claims' | 'serial' | 'parallelSafe'>

const DECLARATIONS: Readonly<Record<ToolName, Declared>> = {
  think: { effect: 'read', parallelSafe: true },
  note: { effect: 'set' },
  open_valve: { effect: 'act', claims: [{ resource: 'valve', mode: 'exclusive' }], serial: true },
  watch_valve: { effect: 'read', claims: [{ resource: 'valve', mode: 'shared' }], parallelSafe: true },
  rearrange: { effect: 'act', claims: [{ resource: 'gateway', mode: 'exclusive' }], serial: true },
  lift: { effect: 'act', claims: [{ resource: 'crane', mode: 'exclusive' }], serial: true },
  carry: {
    effect: 'act',
    claims: [
      { resource: 'valve', mode: 'exclusive' },
      { resource: 'crane', mode: 'exclusive' },
    ],
    serial: true,
  },
  recount: { effect: 'read', serial: true, parallelSafe: true },
}

/** The resources that it names. */
export function claimsOfTool(name: ToolName): NonNullable<Declared['claims']> {
  return DECLARATIONS[name].claims ?? []
}

/** Whether both name one resource. */
export function shareResource(one: string, other: string): boolean {
  const resourcesOf = (by: string) =>
    by in DECLARATIONS ? claimsOfTool(by as ToolName).map(({ resource }) => resource) : []
  return resourcesOf(one).some((resource) => resourcesOf(other).includes(resource))
}

/** What a run of each may not overlap with, by what it declares: the same resource, wanted exclusively by one. */
export const EXCLUSIVE_TOOLS: readonly ToolName[] = ['open_valve', 'rearrange', 'lift', 'carry']

export function simulationTools(clock: Clock, recorder: Recorder): readonly DefinedTool[] {
  return (Object.entries(DECLARATIONS) as [ToolName, Declared][]).map(([name, declared]) =>
    defineTool({
      name,
      parameters: Type.Object({ nonce: Type.Integer(), runsMs: Type.Integer() }),
      run: async ({ nonce, runsMs }, { signal }) => {
        const value = recorder.uniqueValue()
        const execution = recorder.execution({ by: name, command: name, nonce, value })
        await pause(clock, runsMs, signal)
        execution.endedAt = clock.now()
        return { value }
      },
      ...declared,
    }),
  )
}
