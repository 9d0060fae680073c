/**
 * Random lanes on the real scheduler: what must hold whatever is declared, claimed, cancelled or fails. Everything is
 * judged by what the runs themselves wrote down.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { claimsConflict, claimsOf } from '../../src/scheduler/claims.ts'
import type { Claim, Declaration, Policy, Rank } from '../../src/scheduler/declaration.ts'
import { planLane } from '../../src/scheduler/plan.ts'
import type { Task, TaskResult } from '../../src/scheduler/task.ts'
import { onPort, Recorder, runsOverlap } from './recorder.ts'

const DECLARATIONS: readonly (Declaration | undefined)[] = [
  { effect: 'read', parallelSafe: true },
  { effect: 'read', parallelSafe: true },
  { effect: 'set', serial: true },
  { effect: 'act' },
  { effect: 'read', parallelSafe: (args: { odd?: boolean }) => args.odd === true },
  { effect: 'read', parallelSafe: true, serial: true },
  undefined,
]

const claim: fc.Arbitrary<Claim> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('bus1', 'bus2', 'bus3').map(onPort) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Claim>(
      { resource: 'db', mode: 'shared' },
      { resource: 'db', mode: 'exclusive' },
    ),
  },
  { weight: 1, arbitrary: fc.constant<Claim>({ resource: 'gateway', mode: 'exclusive' }) },
)

const callParts = fc.record({
  declaration: fc.constantFrom(...DECLARATIONS),
  odd: fc.boolean(),
  claims: fc.array(claim, { maxLength: 2 }),
  device: fc.constantFrom(undefined, 'meter', 'relay'),
  durationMs: fc.nat(40),
  fate: fc.constantFrom('ok', 'ok', 'ok', 'fails', 'rejected', 'unready', 'wobbles'),
  change: fc.record({ key: fc.constantFrom('x', 'y'), value: fc.nat(2) }),
})
type CallParts = typeof callParts extends fc.Arbitrary<infer P> ? P : never

/** For a machine that is busy with other things. */
const PATIENCE_MS = 60_000

const policy = fc.constantFrom<Policy>('partition', 'batch', 'resource')

function makeTask(recorder: Recorder, id: string, parts: CallParts): Task {
  const { declaration, odd, claims, device, durationMs, fate, change } = parts
  const startMs = recorder.clock.now()
  return recorder.task(id, {
    declaration,
    arguments: { odd },
    claims,
    durationMs,
    ...(device && { device }),
    ...(fate === 'rejected' && { rejected: new GatewayError('invalid_arguments', 'no') }),
    ...(fate === 'unready' && { notBefore: () => startMs + 60 }),
    // A line that changes its mind without a word.
    ...(fate === 'wobbles' && {
      notBefore: () => recorder.clock.now() + (recorder.clock.random() < 0.5 ? 0 : 7),
    }),
    ends: () => {
      if (fate === 'fails') throw new GatewayError('timeout', 'no')
      return { value: id, context: { [change.key]: change.value } }
    },
  })
}

const laneParts = fc.record({
  policy,
  rank: fc.constantFrom<Rank>('stop', 'interactive', 'automation', 'poll'),
  onError: fc.constantFrom('continue' as const, 'continue' as const, 'abort' as const),
  deadlineAt: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
  calls: fc.array(callParts, { minLength: 1, maxLength: 8 }),
  addAtMs: fc.nat(60),
  /** More calls are added then, if the lane stays open. */
  splitAt: fc.option(fc.nat(8), { nil: undefined }),
  cancelAtMs: fc.option(fc.record({ atMs: fc.nat(120), which: fc.option(fc.nat(7), { nil: undefined }) }), {
    nil: undefined,
    freq: 3,
  }),
})
type LaneParts = typeof laneParts extends fc.Arbitrary<infer P> ? P : never

interface Played {
  readonly recorder: Recorder
  readonly tasks: ReadonlyMap<string, Task>
  readonly results: readonly TaskResult[]
  readonly lanes: readonly { readonly ids: readonly string[]; readonly parts: LaneParts }[]
}

async function play(lanes: readonly LaneParts[], seed: number): Promise<Played> {
  const recorder = new Recorder({ seed, hopsMax: 7 })
  const { clock } = recorder
  const tasks = new Map<string, Task>()
  const results: TaskResult[] = []
  const settledLanes: Promise<void>[] = []
  const played = lanes.map((parts, laneIndex) => {
    const ids = parts.calls.map((_, index) => `${laneIndex}.${index}`)
    clock.after(parts.addAtMs, () => {
      const { policy, rank, onError, deadlineAt } = parts
      const lane = recorder.lane({ policy, rank, onError, ...(deadlineAt !== undefined && { deadlineAt }) })
      settledLanes.push(lane.drained)
      const add = (from: number, to: number) => {
        const added = ids.slice(from, to).map((id, index) => {
          const call = parts.calls[from + index]
          if (!call) throw new Error('a call for each id')
          const task = makeTask(recorder, id, call)
          tasks.set(id, task)
          return task
        })
        for (const promise of lane.add(added)) promise.then((result) => results.push(result))
      }
      if (parts.splitAt === undefined) {
        add(0, ids.length)
        lane.end()
      } else {
        add(0, parts.splitAt)
        clock.after(25, () => {
          add(parts.splitAt ?? 0, ids.length)
          lane.end()
        })
      }
      const cancel = parts.cancelAtMs
      if (cancel)
        clock.after(cancel.atMs, () =>
          lane.cancel(cancel.which === undefined ? undefined : ids[cancel.which]),
        )
    })
    return { ids, parts }
  })
  await clock.advance(30_000)
  await Promise.all(settledLanes)
  await clock.advance(0)
  return { recorder, tasks, results, lanes: played }
}

const claimsIn = (tasks: Played['tasks'], id: string) => claimsOf(tasks.get(id)?.claims ?? [])

describe('random lanes', () => {
  const scenario = fc.record({ lanes: fc.array(laneParts, { minLength: 1, maxLength: 5 }), seed: fc.nat() })

  test(
    'give every call exactly one result, run none twice, and leave nothing behind',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ lanes, seed }) => {
          const { recorder, tasks, results } = await play(lanes, seed)
          expect(results.map(({ id }) => id).sort()).toEqual([...tasks.keys()].sort())
          const started = results.filter((result) => result.started).map(({ id }) => id)
          expect([...recorder.started()].sort()).toEqual(started.sort())
          for (const result of results) expect('ok' in result).toBe(!('error' in result))
          expect(recorder.clock.pending).toBe(0)
        }),
        { numRuns: 200 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'never let two runs overlap whose claims conflict',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ lanes, seed }) => {
          const { recorder, tasks } = await play(lanes, seed)
          for (const [index, one] of recorder.runs.entries()) {
            for (const other of recorder.runs.slice(index + 1)) {
              if (claimsConflict(claimsIn(tasks, one.id), claimsIn(tasks, other.id))) {
                expect(runsOverlap(one, other), `${one.id} and ${other.id}`).toBe(false)
              }
            }
          }
        }),
        { numRuns: 200 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'keep declared order between conflicting calls of a lane, and between partitions',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ lanes, seed }) => {
          const { recorder, tasks, lanes: played } = await play(lanes, seed)
          const ran = new Map(recorder.runs.map((run) => [run.id, run]))
          for (const { ids, parts } of played) {
            const isSafe = (id: string) => {
              const declaration = tasks.get(id)?.declaration
              if (!declaration || declaration.serial) return false
              const { parallelSafe } = declaration
              return typeof parallelSafe === 'function'
                ? tasks.get(id)?.arguments.odd === true
                : parallelSafe === true
            }
            for (const [index, earlierId] of ids.entries()) {
              for (const laterId of ids.slice(index + 1)) {
                const [earlier, later] = [ran.get(earlierId), ran.get(laterId)]
                if (!earlier || !later) continue
                const conflict = claimsConflict(claimsIn(tasks, earlierId), claimsIn(tasks, laterId))
                // All between them, themselves among it, are safe: only then `partition` lets them overlap.
                const between = ids.slice(index, ids.indexOf(laterId) + 1)
                const isApart = parts.policy !== 'resource' && !between.every(isSafe)
                if (conflict || isApart) expect(later.startMs, laterId).toBeGreaterThanOrEqual(earlier.endMs)
              }
            }
          }
        }),
        { numRuns: 200 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'do the same when they are played twice',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ lanes, seed }) => {
          const [first, second] = [await play(lanes, seed), await play(lanes, seed)]
          expect(second.recorder.runs).toEqual(first.recorder.runs)
          expect(second.results.map(({ id, error }) => [id, error?.code])).toEqual(
            first.results.map(({ id, error }) => [id, error?.code]),
          )
        }),
        { numRuns: 50 },
      )
    },
    PATIENCE_MS,
  )
})

describe('a batch on idle ports without failures', () => {
  const safeParts = callParts.map((call) => ({ ...call, declaration: DECLARATIONS[0] }))
  const batch = fc.record({
    policy,
    calls: fc.oneof(
      fc.array(callParts, { minLength: 1, maxLength: 10 }),
      fc.array(safeParts, { minLength: 1, maxLength: 10 }),
    ),
    seed: fc.nat(),
  })
  const calm = (call: CallParts): CallParts => ({
    ...call,
    fate: call.fate === 'rejected' ? 'rejected' : 'ok',
  })

  test(
    'runs exactly as it is planned',
    async () => {
      await fc.assert(
        fc.asyncProperty(batch, async ({ policy, calls, seed }) => {
          const recorder = new Recorder({ seed, hopsMax: 7 })
          const tasks = calls.map((call, index) => makeTask(recorder, `c${index}`, calm(call)))
          const plan = planLane(tasks, policy)
          const { lane } = recorder.batch(tasks, { policy })
          await recorder.clock.advance(10_000)

          expect(lane.partitions()).toEqual(plan.partitions)
          // A call is over when its run has ended, or, if it never runs, when all that it waits for is over.
          const overAtMs = new Map<string, number>()
          for (const { id, waitsFor } of plan.calls) {
            const readyAtMs = Math.max(0, ...waitsFor.map((wait) => overAtMs.get(wait.id) ?? Number.NaN))
            const run = recorder.runs.find((each) => each.id === id)
            if (run) expect(run.startMs, id).toBe(readyAtMs)
            else expect(tasks.find((task) => task.id === id)?.rejected, id).toBeDefined()
            overAtMs.set(id, run ? run.endMs : readyAtMs)
          }
        }),
        { numRuns: 500 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'ends with the same context and conflicts however its completions are shuffled',
    async () => {
      await fc.assert(
        fc.asyncProperty(batch, async ({ policy, calls, seed }) => {
          const end = async (shuffle: number) => {
            const recorder = new Recorder({ seed: seed + shuffle, hopsMax: 7 })
            const tasks = calls.map((call, index) => {
              const durationMs = Math.floor(recorder.clock.random() * 50)
              return makeTask(recorder, `c${index}`, { ...calm(call), durationMs })
            })
            const reducers = { y: 'append' } as const
            const { lane } = recorder.batch(tasks, { policy, context: { x: 7 }, reducers })
            await recorder.clock.advance(10_000)
            return { context: lane.context(), conflicts: lane.conflicts() }
          }
          const first = await end(0)
          for (let shuffle = 1; shuffle < 5; shuffle += 1) expect(await end(shuffle)).toEqual(first)
        }),
        { numRuns: 100 },
      )
    },
    PATIENCE_MS,
  )
})
