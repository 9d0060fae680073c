/** What the scenarios of the sweep are made of: short plans in which everything has its fixed time. */
import type { CallPlan, DevicePlan, Fault, Plan, PortPlan, Submission } from '../plan.ts'

export interface Scenario {
  /** In words, with hyphens. */
  readonly name: string
  readonly plan: Plan
}

/** Longer than the longest deadline of a port's own operations, so that each of them is met. */
const SAFETY_MS = 12_000

interface ScenarioParts {
  readonly ports: readonly PortPlan[]
  readonly submissions: readonly Submission[]
  readonly faults?: readonly Fault[]
}

export function scenario(name: string, { ports, submissions, faults = [] }: ScenarioParts): Scenario {
  const home = { ports, queueLength: 256 }
  return { name, plan: { seed: `scenario/${name}`, home, submissions, faults, safetyMs: SAFETY_MS } }
}

export function device(id: string, address = 1, more: Partial<DevicePlan> = {}): DevicePlan {
  const times = { timeoutMs: 300, replyLatencyMaxMs: 1_000, gapMs: 5, answersAfterMs: 10 }
  return { id, address, ...times, ...more }
}

export function bus(id: string, ...devices: readonly DevicePlan[]): PortPlan {
  return { id, kind: 'bus', baudRate: 9600, latencyMs: 1, devices }
}

export function text(id: string, only: DevicePlan): PortPlan {
  return { id, kind: 'text', baudRate: 9600, latencyMs: 0, devices: [only] }
}

export function call(
  nonce: number,
  of: string,
  name: CallPlan['name'],
  more: Partial<CallPlan> = {},
): CallPlan {
  return { nonce, device: of, name, ...more }
}

export function batch(at: number, calls: readonly CallPlan[], more: Partial<Submission> = {}): Submission {
  const kinds = { kind: 'batch', policy: 'partition', priority: 'interactive', onError: 'continue' } as const
  return { at, ...kinds, deadlineMs: 10_000, calls, ...more }
}
