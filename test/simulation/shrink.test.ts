/** A plan that fails is made as small as what it fails by, and the small one fails in the same way each time. */
import { rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { bundle } from './bundle.ts'
import { drawPlan } from './draw.ts'
import type { Judged } from './judge.ts'
import type { Plan } from './plan.ts'
import bug from './planted/read-timeout-not-executed.ts'
import { shrink } from './shrink.ts'

const PATIENCE_MS = 180_000

/** Fails if both calls are there, and a fault of a plug. Runs nothing. */
async function judgeByParts(plan: Plan): Promise<Judged> {
  const nonces = plan.submissions.flatMap(({ calls }) => calls.map(({ nonce }) => nonce))
  const fails = [7, 19].every((n) => nonces.includes(n)) && plan.faults.some(({ kind }) => kind === 'unplug')
  const violations = fails ? [{ invariant: 'planted', message: 'both are there' }] : []
  const nothing = { calls: 0, requests: 0, executions: 0, simulatedMs: 0, events: 0 }
  return { plan, hash: '', violations, operations: new Map(), ...nothing }
}

function withPlugsPulled(plan: Plan): Plan {
  const faults = Array.from({ length: 5 }, (_, index) => {
    return { kind: 'unplug', port: 'p0', at: 1_000 * index, forMs: 100 } as const
  })
  return { ...plan, faults: [...plan.faults, ...faults] }
}

describe('A failing plan', () => {
  it('shrinks to the calls and the fault that it fails by', async () => {
    const plan = withPlugsPulled(drawPlan('1'))
    expect(plan.submissions.flatMap(({ calls }) => calls).length).toBeGreaterThan(50)
    const { judged, isMinimal } = await shrink(plan, { invariant: 'planted', judge: judgeByParts })
    const { submissions, faults, safetyMs } = judged.plan
    const nonces = submissions.flatMap(({ calls }) => calls.map(({ nonce }) => nonce))
    expect(nonces.toSorted((one, other) => one - other)).toEqual([7, 19])
    expect(faults).toHaveLength(1)
    expect(safetyMs).toBeLessThanOrEqual(100)
    expect(isMinimal).toBe(true)
  })

  it('is told to have been shrunk in part when the runs are over', async () => {
    const options = { invariant: 'planted', judge: judgeByParts, runsMax: 5 }
    const { isMinimal, runs } = await shrink(withPlugsPulled(drawPlan('1')), options)
    expect([isMinimal, runs]).toEqual([false, 5])
  })

  it('is not shrunk when it does not fail', async () => {
    const shrunk = shrink(drawPlan('1'), { invariant: 'another', judge: judgeByParts })
    await expect(shrunk).rejects.toThrow('the plan does not violate another')
  })

  it(
    'of a broken gateway shrinks to a handful of calls, and fails again with the same event log',
    async () => {
      const file = await bundle('judge.ts', bug)
      const broken: { judge: (plan: Plan) => Promise<Judged> } = await import(file)
      await rm(file)
      let found: Judged | undefined
      for (let seed = 1; !found && seed <= 200; seed += 1) {
        const judged = await broken.judge(drawPlan(String(seed)))
        if (judged.violations.some(({ invariant }) => invariant === bug.invariant)) found = judged
      }
      if (!found) throw new Error('no seed finds the planted bug')
      const { invariant } = bug
      const { judged } = await shrink(found.plan, { invariant, judge: broken.judge, budgetMs: 60_000 })
      const { submissions, faults } = judged.plan
      expect(submissions.flatMap(({ calls }) => calls).length).toBeLessThanOrEqual(5)
      expect(faults.length).toBeLessThanOrEqual(3)
      const again = await broken.judge(JSON.parse(JSON.stringify(judged.plan)) as Plan)
      expect(again.hash).toBe(judged.hash)
      expect(again.violations).toEqual(judged.violations)
    },
    PATIENCE_MS,
  )
})
