/**
 * The `never` rules of the configuration: they hold whatever a caller says, has confirmed or may do. A rule
 * without a condition forbids its tools; one with `minimumGapMs` forbids a run within that time of the last one.
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
  lastRunAt: number
}

export class Interlock {
  readonly #clock: Clock
  readonly #rules: Rule[]

  constructor(clock: Clock, rules: readonly InterlockRule[]) {
    this.#clock = clock
    this.#rules = rules.map((rule) => ({
      pattern: patternOf(rule.tool),
      rule,
      lastRunAt: Number.NEGATIVE_INFINITY,
    }))
  }

  /** A rule that forbids the tool for good. */
  forbids(tool: string): GatewayError | undefined {
    const found = this.#matching(tool).find(({ rule }) => rule.minimumGapMs === undefined)
    return found && new GatewayError('interlocked', `the rule "never ${found.rule.tool}" forbids ${tool}`)
  }

  /**
   * Called when a run starts: rejects it, or reserves its time. What it returns gives the reservation back, for a
   * run of which it turns out that it did nothing.
   */
  enter(tool: string): () => void {
    const now = this.#clock.now()
    const rules = this.#matching(tool).filter(({ rule }) => rule.minimumGapMs !== undefined)
    for (const { rule, lastRunAt } of rules) {
      const retryAfterMs = Math.ceil(lastRunAt + (rule.minimumGapMs ?? 0) - now)
      if (retryAfterMs > 0) {
        const message = `the rule "never ${rule.tool}" wants ${rule.minimumGapMs} ms between two runs`
        throw new GatewayError('interlocked', message, { details: { retryAfterMs } })
      }
    }
    const before = rules.map((rule) => rule.lastRunAt)
    for (const rule of rules) rule.lastRunAt = now
    return () => {
      rules.forEach((rule, index) => {
        if (rule.lastRunAt === now) rule.lastRunAt = before[index] ?? Number.NEGATIVE_INFINITY
      })
    }
  }

  #matching(tool: string): Rule[] {
    return this.#rules.filter(({ pattern }) => pattern.test(tool))
  }
}

function patternOf(glob: string): RegExp {
  const literal = glob.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${literal.join('.*')}$`)
}
