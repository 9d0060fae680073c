/**
 * The `never` rules of the configuration: they hold whatever a caller says, has confirmed or may do. A rule
 * without a condition forbids its tools; one with `minimumGapMs` wants that time between the end of a run and the
 * start of the next one, so that the commands themselves are as far apart however long a run waits for its line.
 */
import type { Clock } from '../clock.ts'
import { GatewayError } from '../errors.ts'
import { namePattern } from './name-pattern.ts'

export interface InterlockRule {
  /** A tool name in which `*` stands for any characters. */
  readonly tool: string
  readonly minimumGapMs?: number | undefined
}

interface Rule {
  readonly matches: (tool: string) => boolean
  readonly rule: InterlockRule
  readonly history: History
}

interface History {
  /** Clock time at which the last run ended that may have done something. */
  lastRunAt: number
  /** Runs that have not ended. */
  running: number
}

export class Interlock {
  readonly #clock: Clock
  #rules: readonly Rule[] = []

  constructor(clock: Clock, rules: readonly InterlockRule[]) {
    this.#clock = clock
    this.replace(rules)
  }

  /** Other rules from now on. One for the same tools knows of the runs before it, whatever its gap was. */
  replace(rules: readonly InterlockRule[]): void {
    const before = this.#rules
    this.#rules = rules.map((rule) => {
      const known = before.find((old) => old.rule.tool === rule.tool)
      const history = known?.history ?? { lastRunAt: Number.NEGATIVE_INFINITY, running: 0 }
      return { matches: namePattern(rule.tool), rule, history }
    })
  }

  /** A rule that forbids the tool for good. */
  forbids(tool: string): GatewayError | undefined {
    const found = this.#matching(tool).find(({ rule }) => rule.minimumGapMs === undefined)
    return found && new GatewayError('interlocked', `the rule "never ${found.rule.tool}" forbids ${tool}`)
  }

  /** Called when a run starts: rejects it, or returns what must be called when it ends. `idle`: it did nothing. */
  enter(tool: string): (end: 'idle' | 'may have run') => void {
    // The rules may have changed since the call was taken.
    const forbidden = this.forbids(tool)
    if (forbidden) throw forbidden
    const rules = this.#matching(tool)
    for (const rule of rules) this.#checkGap(rule)
    const histories = new Set(rules.map(({ history }) => history))
    for (const history of histories) history.running += 1
    return (end) => {
      for (const history of histories) {
        history.running -= 1
        if (end !== 'idle') history.lastRunAt = this.#clock.now()
      }
    }
  }

  #checkGap({ rule, history }: Rule): void {
    const gapMs = rule.minimumGapMs ?? 0
    const retryAfterMs = Math.ceil(history.lastRunAt + gapMs - this.#clock.now())
    const isRunning = history.running > 0
    if (!isRunning && retryAfterMs <= 0) return
    const message = `the rule "never ${rule.tool}" wants ${gapMs} ms between two runs`
    throw new GatewayError('interlocked', message, {
      details: { retryAfterMs: isRunning ? gapMs : retryAfterMs },
    })
  }

  #matching(tool: string): Rule[] {
    return this.#rules.filter(({ matches }) => matches(tool))
  }
}
