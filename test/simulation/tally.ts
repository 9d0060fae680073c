/** The sum of many runs, and how it is told. */
import type { Violation } from './history.ts'
import type { Judged } from './judge.ts'
import type { Plan } from './plan.ts'

export interface Failure {
  /** The seed, or the scenario and what failed in it. */
  readonly subject: string
  readonly plan: Plan
  readonly hash: string
  readonly violations: readonly Violation[]
}

export interface Tally {
  runs: number
  calls: number
  requests: number
  executions: number
  simulatedMs: number
  events: number
  /** Of the processors, all processes together. */
  cpuMs: number
  /** Runs that violated it, by invariant. */
  readonly violations: Record<string, number>
  failed: number
  /** The first of them. */
  readonly failures: Failure[]
}

const FAILURES_KEPT = 20
const SUMS = ['runs', 'calls', 'requests', 'executions', 'simulatedMs', 'events', 'cpuMs', 'failed'] as const

export function emptyTally(): Tally {
  return {
    runs: 0,
    calls: 0,
    requests: 0,
    executions: 0,
    simulatedMs: 0,
    events: 0,
    cpuMs: 0,
    violations: {},
    failed: 0,
    failures: [],
  }
}

export function count(tally: Tally, subject: string, judged: Judged): void {
  const { plan, hash, violations } = judged
  tally.runs += 1
  tally.calls += judged.calls
  tally.requests += judged.requests
  tally.executions += judged.executions
  tally.simulatedMs += judged.simulatedMs
  tally.events += judged.events
  if (violations.length === 0) return
  tally.failed += 1
  for (const name of new Set(violations.map(({ invariant }) => invariant))) {
    tally.violations[name] = (tally.violations[name] ?? 0) + 1
  }
  if (tally.failures.length < FAILURES_KEPT) tally.failures.push({ subject, plan, hash, violations })
}

export function add(tally: Tally, other: Tally): void {
  for (const key of SUMS) {
    tally[key] += other[key]
  }
  for (const [name, times] of Object.entries(other.violations)) {
    tally.violations[name] = (tally.violations[name] ?? 0) + times
  }
  tally.failures.push(...other.failures.slice(0, FAILURES_KEPT - tally.failures.length))
}

/** `runs` names what was run: seeds, cases, hours. */
export function tallyLines(tally: Tally, runs: string, realMs: number): readonly string[] {
  const perSecond = tally.calls / (tally.simulatedMs / 1_000)
  const violations = Object.entries(tally.violations).map(([name, times]) => `${name} in ${times}`)
  return [
    `${figure(tally.runs)} ${runs}, ${figure(tally.calls)} calls, ${figure(tally.events)} events`,
    `${figure(tally.requests)} requests to the far ends, ${figure(tally.executions)} executions by devices and tools`,
    `${duration(tally.simulatedMs)} simulated, ${perSecond.toFixed(2)} calls per simulated second`,
    `${duration(realMs)} real: ${figure(tally.simulatedMs / realMs)} times as fast; ${duration(tally.cpuMs)} of processors: ${figure(tally.simulatedMs / tally.cpuMs)} times`,
    tally.failed === 0
      ? '0 violations'
      : `violations in ${figure(tally.failed)} of ${figure(tally.runs)} ${runs}: ${violations.join(', ')}`,
  ]
}

function figure(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function duration(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 120) return `${seconds.toFixed(1)} s`
  if (seconds < 7_200) return `${(seconds / 60).toFixed(1)} min`
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} days`
}
