/**
 * The `never` rules of the configuration: they hold whatever a caller says, has confirmed or may do. A rule
 * without a condition forbids its tools; one with `minimumGapMs` wants that time between the end of a run and the
 * start of the next one, so that the commands themselves are as far apart however long a run waits for its line.
 */
import type { Clock } from '../clock.ts'
import { GatewayError } from '../errors.ts'

export interface InterlockRule {
  /** A tool name in which `*` stands for any characters. */
  readonly tool: string
  readonly minimumGapMs?: number | undefined
}

interface Rule {
  readonly pattern: RegExp
  readonly rule: InterlockRule
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

  /** Other rules from now on; one that was there before goes on counting its time. */
  replace(rules: readonly InterlockRule[]): void {
    const before = this.#rules
    this.#rules = rules.map((rule) => {
      const same = before.find(
        (old) => old.rule.tool === rule.tool && old.rule.minimumGapMs === rule.minimumGapMs,
      )
      return same ?? { pattern: patternOf(rule.tool), rule, lastRunAt: Number.NEGATIVE_INFINITY, running: 0 }
    })
  }

  /** A rule that forbids the tool for good. */
  forbids(tool: string): GatewayError | undefined {
    const found = this.#matching(tool).find(({ rule }) => rule.minimumGapMs === undefined)
    return found && new GatewayError('interlocked', `the rule "never ${found.rule.tool}" forbids ${tool}`)
  }

  /** Called when a run starts: rejects it, or returns what must be called when it ends. `idle`: it did nothing. */
  enter(tool: string): (end: 'idle' | 'may have run') => void {
    const rules = this.#matching(tool).filter(({ rule }) => rule.minimumGapMs !== undefined)
    for (const rule of rules) this.#checkGap(rule)
    for (const rule of rules) rule.running += 1
    return (end) => {
      for (const rule of rules) {
        rule.running -= 1
        if (end !== 'idle') rule.lastRunAt = this.#clock.now()
      }
    }
  }

  #checkGap({ rule, lastRunAt, running }: Rule): void {
    const gapMs = rule.minimumGapMs ?? 0
    const retryAfterMs = Math.ceil(lastRunAt + gapMs - this.#clock.now())
    if (running === 0 && retryAfterMs <= 0) return
    const message = `the rule "never ${rule.tool}" wants ${gapMs} ms between two runs`
    throw new GatewayError('interlocked', message, {
      details: { retryAfterMs: running > 0 ? gapMs : retryAfterMs },
    })
  }

  #matching(tool: string): Rule[] {
    return this.#rules.filter(({ pattern }) => pattern.test(tool))
  }
}

function patternOf(glob: string): RegExp {
  const literal = glob.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${literal.join('.*')}$`)
}
