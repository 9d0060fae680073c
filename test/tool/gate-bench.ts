/** The gate over the real scheduler on a virtual clock, with tools that need no device. */
import type { Policy } from '../../src/scheduler/declaration.ts'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import { CallIntake } from '../../src/tool/call-intake.ts'
import { type DefinedTool, toolOf } from '../../src/tool/define-tool.ts'
import { Gate, type SettledCall } from '../../src/tool/gate.ts'
import type { Principal } from '../../src/tool/home.ts'
import { Interlock, type InterlockRule } from '../../src/tool/interlock.ts'
import type { BatchOptions, BatchResponse, CallRequest, CallResult } from '../../src/tool/shapes.ts'
import { ToolRegistry } from '../../src/tool/tool-registry.ts'
import { VirtualClock } from '../virtual-clock.ts'

export const READER: Principal = { id: 'r', name: 'reader', role: 'read' }
export const CONTROLLER: Principal = { id: 'c', name: 'controller', role: 'control' }

export interface GateOptions {
  readonly never?: readonly InterlockRule[]
  readonly policy?: Policy
  readonly queueLength?: number
}

export function gateBench(tools: readonly DefinedTool[], options: GateOptions = {}) {
  const clock = new VirtualClock()
  const registry = new ToolRegistry()
  for (const tool of tools) registry.add(toolOf(tool, clock))
  const scheduler = new Scheduler({ clock, queueLength: options.queueLength ?? 16 })
  const interlock = new Interlock(clock, options.never ?? [])
  const policy = options.policy ?? 'partition'
  const intake = new CallIntake({ clock, registry, interlock, isStopped: () => isStopped })
  let isStopped = false
  const published: SettledCall[] = []
  const gate = new Gate({ clock, scheduler, intake, policy, onSettled: (call) => published.push(call) })
  return {
    clock,
    gate,
    /** What was told of settled calls. */
    published,
    latch: (stopped: boolean) => {
      isStopped = stopped
    },
    scheduler,
    registry,
    batch: (calls: readonly CallRequest[], more: BatchOptions = {}, principal = CONTROLLER) =>
      settled(clock, gate.batch({ ...more, calls }, principal)),
    call: (call: CallRequest & BatchOptions, principal = CONTROLLER) =>
      settled(clock, gate.call(call, principal)),
  }
}

/** Lets the virtual time pass until the work is done; a minute at most. */
export async function settled<T extends BatchResponse | CallResult>(
  clock: VirtualClock,
  work: Promise<T>,
): Promise<T> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  for (let round = 0; round < 6_000 && !isDone; round += 1) await clock.advance(round === 0 ? 0 : 10)
  if (!isDone) throw new Error('it does not end')
  return work
}
