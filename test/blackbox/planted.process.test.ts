/** The history check finds what it is there for: one fault planted in a copy of the build at a time. */
import { describe, expect, it } from 'vitest'
import type { Patch } from './build-copy.ts'
import type { Finding } from './check.ts'
import { countsText, runBlackBox } from './run.ts'

interface Planted {
  readonly patch: Patch
  /** Any one of them is the fault found. */
  readonly rules: readonly Finding['rule'][]
}

const PLANTED: Record<string, Planted> = {
  'a timeout that is told as not_executed': {
    patch: {
      file: 'scheduler/call.js',
      place: 'const outcome = started ? outcomeOf(',
      instead: "const outcome = started && error.code !== 'timeout' ? outcomeOf(",
    },
    rules: ['not_executed_is_never_executed'],
  },
  'a late reply that is taken for the reply of the next request': {
    patch: {
      file: 'port/late-replies.js',
      place: 'until = Math.max(until, endOf(entry));',
      instead: 'until = Math.max(until, 0);',
    },
    rules: ['reads_are_given_out_in_time', 'ok_is_executed_once', 'linearizable'],
  },
  'an act that is sent again when no reply came': {
    patch: {
      file: 'driver/driver.js',
      place: 'match = await line.transact(this.#request(spec, exchange));',
      instead:
        'const ask = () => line.transact(this.#request(spec, exchange)); match = await ask().catch(() => ask());',
    },
    rules: ['at_most_once'],
  },
}

const ATTEMPTS_MAX = 3
const LOAD = { loadMs: 3_000, answersMin: 150, breaks: false, late: 0.15, mute: 0.1 }

describe('the history check', () => {
  for (const [what, { patch, rules }] of Object.entries(PLANTED)) {
    it.concurrent(`finds ${what}`, async () => {
      const told: string[] = []
      // Whether a late reply meets a request that would take it is a matter of moments: three loads may try.
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const seed = `planted ${what} ${attempt}`
        const report = await runBlackBox({ ...LOAD, seed, patches: [patch] })
        if (report.findings.some(({ rule }) => rules.includes(rule))) return
        told.push(countsText(report))
      }
      expect.fail(told.join('\n'))
    })
  }

  it('refuses a place that the build does not have exactly once', async () => {
    const patch = { file: 'errors.js', place: 'no such place', instead: '' }
    await expect(runBlackBox({ seed: 'x', loadMs: 1, patches: [patch] })).rejects.toThrow('0 times')
  })
})
