/**
 * The plan equals the trace: what `plan` says of a batch, held against what the devices behind mock ports saw of it.
 * A device answers only when it is told to, and it is told only when exactly the calls that the plan has under way at
 * that moment have been seen: a call too many, too early or not together with the others ends the test.
 */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { BatchOptions, BatchResponse, CallRequest, Gateway, PlanResponse, Policy } from '../src/index.ts'
import { FarEnds, type Visit } from './plan-trace-ends.ts'
import { CALLS_MAX, KINDS, type Kind } from './plan-trace-kinds.ts'
import { Prediction, placeOf, placesOf } from './plan-trace-prediction.ts'
import { closureOf, type RuledCall, ruledPartitions, ruledWaits } from './plan-trace-rule.ts'

const SEED = 20_260_501
const BATCHES = 1_000
/** For a machine that is busy with other things. */
const PATIENCE_MS = 180_000

/** By name, which is what a counterexample shows of it. */
const kindOf = (isMeant: (kind: Kind) => boolean) =>
  fc.constantFrom(
    ...KINDS.filter(isMeant).map((kind) => ({ ...kind, [fc.toStringMethod]: () => kind.name(0) })),
  )
const anyKind = kindOf(({ refusal }) => !refusal)
const safeKind = kindOf(({ safe, refusal }) => safe !== 'no' && !refusal)
const overruledKind = kindOf(({ isOverruled }) => isOverruled === true)
const refusedKind = kindOf(({ refusal }) => refusal !== undefined)
const oneIn = (count: number) => fc.nat(count - 1).map((drawn) => drawn === count - 1)

const parts = {
  odd: fc.boolean(),
  hasBadArguments: oneIn(20),
  /** Its device answers that it did not do it. */
  fails: oneIn(8),
  id: fc.constantFrom(undefined, undefined, 'x', 'y'),
}

const calls = (weights: { any?: number; safe?: number; overruled?: number; refused?: number }) => {
  const of = (weight: number, kind: typeof anyKind) => ({ weight, arbitrary: fc.record({ ...parts, kind }) })
  const call = fc.oneof(
    of(weights.any ?? 0, anyKind),
    of(weights.safe ?? 0, safeKind),
    of(weights.overruled ?? 0, overruledKind),
    of(weights.refused ?? 0, refusedKind),
  )
  return fc.array(call, { minLength: 1, maxLength: CALLS_MAX })
}

function withGoodArguments<C extends object>(all: readonly C[]): C[] {
  return all.map((call) => ({ ...call, hasBadArguments: false }))
}

const batch = fc.record({
  policy: fc.constantFrom<Policy>('partition', 'batch', 'resource'),
  onError: fc.constantFrom('continue' as const, 'continue' as const, 'continue' as const, 'abort' as const),
  calls: fc.oneof(
    calls({ any: 12, refused: 1 }),
    calls({ any: 6, safe: 12, refused: 1 }),
    // A call or none among many safe ones that keeps the whole batch from running together.
    calls({ safe: 8, overruled: 1 }).map(withGoodArguments),
    calls({ safe: 1 }).map(withGoodArguments),
  ),
  /** Which of the calls under way is answered next. */
  turns: fc.array(fc.nat(CALLS_MAX), { minLength: 2 * CALLS_MAX, maxLength: 2 * CALLS_MAX }),
  isPlannedOverHttp: oneIn(16),
})
type DrawnBatch = typeof batch extends fc.Arbitrary<infer B> ? B : never
type DrawnCall = DrawnBatch['calls'][number]

function requestOf({ kind, odd, hasBadArguments, id }: DrawnCall, tag: number): CallRequest {
  const right = kind.arguments(tag, odd)
  return {
    name: kind.name(tag),
    arguments: hasBadArguments ? { ...right, surprise: tag } : right,
    ...(id !== undefined && { id }),
  }
}

/** The error that the call ends with before it begins. */
function refusalOf({ kind, hasBadArguments }: DrawnCall): string | undefined {
  if (kind.refusal === 'unknown_tool') return kind.refusal
  return hasBadArguments ? 'invalid_arguments' : kind.refusal
}

function ruled({ kind, odd, hasBadArguments }: DrawnCall): RuledCall {
  const { safe, serial, claims } = kind
  return {
    isSafe: safe === 'yes' || (safe === 'if odd' && odd && !hasBadArguments),
    isSerial: serial,
    claims,
  }
}

interface Played {
  readonly drawn: DrawnBatch
  readonly requests: readonly CallRequest[]
  readonly plan: PlanResponse
  readonly response: BatchResponse
  readonly visits: ReadonlyMap<number, Visit>
  readonly failed: ReadonlySet<number>
  readonly aborted: ReadonlySet<number>
}

async function planOverHttp(gateway: Gateway, payload: object): Promise<PlanResponse> {
  const headers = { authorization: `Bearer ${gateway.adminToken}` }
  const answered = await gateway.inject({ method: 'POST', url: '/v1/plan', headers, payload })
  expect(answered.statusCode, answered.body).toBe(200)
  return answered.json<PlanResponse>()
}

/** Ids by partition as places in the batch. */
function partitionPlaces(
  partitions: PlanResponse['partitions'],
  calls: readonly { readonly id: string }[],
): number[][] {
  const places = new Map(calls.map(({ id }, place) => [id, place]))
  return partitions.map((ids) => ids.map((id) => placeOf(places, id)))
}

function sorted(places: Iterable<number>): number[] {
  return [...places].sort((first, second) => first - second)
}

/** The plan says what the declarations say. */
function expectRule({ drawn: { policy, calls }, requests, plan }: Played): void {
  const rules = calls.map(ruled)
  const waits = ruledWaits(rules, policy)
  const places = placesOf(plan)
  expect(plan.policy).toBe(policy)
  expect(plan.calls.map(({ name }) => name)).toEqual(requests.map(({ name }) => name))
  expect(closureOf(places.map(({ waitsFor }) => waitsFor)).map(sorted)).toEqual(waits.map(sorted))
  const partitions = partitionPlaces(plan.partitions, plan.calls)
  expect(partitions).toEqual(ruledPartitions(rules, policy))
  for (const [place, { partition, confirmation, available, error }] of plan.calls.entries()) {
    const call = calls[place]
    if (!call) throw new Error('a plan for each call')
    expect(partitions[partition], 'the partition of the call').toContain(place)
    expect(places[place]?.overlaps, 'may overlap').toEqual(
      policy !== 'resource'
        ? []
        : sorted(rules.slice(0, place).keys()).filter(
            (earlier) => !waits[place]?.has(earlier) && !(rules[earlier]?.isSafe && rules[place]?.isSafe),
          ),
    )
    const refusal = refusalOf(call)
    expect(places[place]?.isRefused, 'is refused').toBe(refusal !== undefined)
    expect(confirmation, 'needs a confirmation').toBe(refusal === 'confirmation_required')
    const told = error?.code ?? (confirmation ? 'confirmation_required' : undefined)
    expect(told, 'the code of the refusal').toBe(refusal)
    expect(available, 'is there').toBe(refusal !== 'unknown_tool')
  }
}

/** What the far ends saw is what the plan said, and no byte of what was refused. */
function expectTrace({ drawn, plan, response, visits, failed, aborted }: Played): void {
  const runs = drawn.calls.flatMap((call, place) =>
    refusalOf(call) === undefined && !aborted.has(place) ? [place] : [],
  )
  expect(sorted(visits.keys())).toEqual(runs)
  for (const [place, waits] of closureOf(placesOf(plan).map(({ waitsFor }) => waitsFor)).entries()) {
    const later = visits.get(place)
    if (!later) continue
    const isProved = drawn.calls[place]?.kind.isProved === true && !failed.has(place)
    expect(later.requests, `requests of call ${place}`).toBe(isProved ? 2 : 1)
    for (const earlier of waits) {
      const endedAt = visits.get(earlier)?.endedAt ?? 0
      expect(endedAt, `call ${earlier} before call ${place}`).toBeLessThan(later.beganAt)
    }
  }
  expect(partitionPlaces(response.partitions, response.results)).toEqual(
    partitionPlaces(plan.partitions, plan.calls),
  )
}

/** One result for each call, in the order given, and it is that call's own. */
function expectResults({ drawn, requests, response, visits, failed, aborted }: Played): void {
  const { results } = response
  expect(results.map(({ name }) => name)).toEqual(requests.map(({ name }) => name))
  const taken = new Set<string>()
  for (const [place, result] of results.entries()) {
    const [call, request] = [drawn.calls[place], requests[place]]
    if (!call || !request) throw new Error('a result for each call')
    const isRepeated = request.id !== undefined && taken.has(request.id)
    if (request.id !== undefined && !isRepeated) expect(result.id).toBe(request.id)
    expect(result.requestedId).toBe(isRepeated ? request.id : undefined)
    expect(taken).not.toContain(result.id)
    taken.add(result.id)
    const late = failed.has(place) ? 'device_error' : undefined
    const code = refusalOf(call) ?? (aborted.has(place) ? 'aborted' : late)
    expect(result.error?.code, `${place}: ${result.error?.message}`).toBe(code)
    const outcome = failed.has(place) ? call.kind.failure : 'not_executed'
    expect(result.outcome).toBe(code === undefined ? 'executed' : outcome)
    const answer = visits.get(place)?.answer
    if (code === undefined && answer !== undefined) {
      expect(Object.values(Object(result.value)), `the value of call ${place}`).toContain(answer)
    }
  }
  expect(response.executed).toBe(visits.size - failed.size)
}

/** That the batches were not all harmless. */
class Coverage {
  readonly #codes = new Map<string, number>()
  readonly #names = new Set<string>()
  readonly #policies = new Map<Policy, { overlaps: number; waits: number }>()
  #most = 0
  #overHttp = 0

  add({ drawn, response, visits }: Played): void {
    const policy = this.#policies.get(drawn.policy) ?? { overlaps: 0, waits: 0 }
    this.#policies.set(drawn.policy, policy)
    if (drawn.isPlannedOverHttp) this.#overHttp += 1
    for (const { error } of response.results) {
      if (error) this.#codes.set(error.code, (this.#codes.get(error.code) ?? 0) + 1)
    }
    const all = [...visits]
    for (const [index, [place, visit]] of all.entries()) {
      this.#names.add(drawn.calls[place]?.kind.name(0) ?? '')
      this.#most = Math.max(
        this.#most,
        all.filter(([, { beganAt, endedAt }]) => beganAt <= visit.beganAt && visit.beganAt < endedAt).length,
      )
      for (const [, other] of all.slice(index + 1)) {
        if (visit.beganAt < other.endedAt && other.beganAt < visit.endedAt) policy.overlaps += 1
        else policy.waits += 1
      }
    }
  }

  expectAll(): void {
    const codes = ['unknown_tool', 'invalid_arguments', 'confirmation_required', 'interlocked', 'aborted']
    for (const code of [...codes, 'device_error']) expect(this.#codes.get(code), code).toBeGreaterThan(30)
    const names = KINDS.filter(({ refusal }) => !refusal).map(({ name }) => name(0))
    expect([...this.#names].sort()).toEqual(names.sort())
    for (const policy of ['partition', 'batch', 'resource'] as const) {
      const counted = this.#policies.get(policy)
      expect(counted?.overlaps, `overlaps under ${policy}`).toBeGreaterThan(100)
      expect(counted?.waits, `waits under ${policy}`).toBeGreaterThan(100)
    }
    expect(this.#most, 'calls under way at one time').toBeGreaterThanOrEqual(5)
    expect(this.#overHttp).toBeGreaterThan(30)
  }
}

describe('the plan of a batch', () => {
  let bench: { ends: FarEnds; gateway: Gateway } | undefined

  /** What is left of a batch that failed must not meet the next one. */
  async function discardBench(): Promise<void> {
    const old = bench
    bench = undefined
    await old?.ends.close(old.gateway)
  }

  afterEach(discardBench)

  async function planned({ ends, gateway }: NonNullable<typeof bench>, drawn: DrawnBatch) {
    const requests = drawn.calls.map(requestOf)
    const options = { policy: drawn.policy, onError: drawn.onError } satisfies BatchOptions
    const plan = drawn.isPlannedOverHttp
      ? await planOverHttp(gateway, { ...options, calls: requests })
      : gateway.plan(requests, options)
    await ends.settle([])
    expect(ends.inFlight(), 'a plan touches no port').toEqual([])
    return { requests, options, plan }
  }

  async function play(drawn: DrawnBatch): Promise<Played> {
    bench ??= await FarEnds.create()
    const { ends, gateway } = bench
    ends.forget()
    const { requests, options, plan } = await planned(bench, drawn)
    const places = placesOf(plan)
    const isAborted = drawn.onError === 'abort' && places.some(({ isRefused }) => isRefused)
    const prediction = new Prediction(places, isAborted)
    const failed = new Set<number>()
    let response: BatchResponse | undefined
    const running = gateway.batch(requests, options).then((settled) => {
      response = settled
    })
    for (let turn = 0; ; turn += 1) {
      const expected = prediction.inFlight()
      await ends.settle(expected)
      expect(ends.faults).toEqual([])
      expect(ends.inFlight(), `under way after ${turn} answers`).toEqual(expected)
      if (expected.length === 0) break
      const place = expected[(drawn.turns[turn] ?? 0) % expected.length] ?? 0
      const fails = Boolean(drawn.calls[place]?.fails && drawn.calls[place]?.kind.failure)
      if (!ends.answer(place, fails)) continue
      if (fails) failed.add(place)
      if (fails && drawn.onError === 'abort') prediction.abort()
      prediction.end(place)
    }
    expect(response, 'the batch has ended').toBeDefined()
    await running
    if (!response) throw new Error('just checked')
    return { drawn, requests, plan, response, visits: ends.visits, failed, aborted: prediction.aborted }
  }

  test(
    `equals the executed trace for ${BATCHES} random batches on mock ports`,
    async () => {
      const seen = new Coverage()
      await fc.assert(
        fc.asyncProperty(batch, async (drawn) => {
          try {
            const played = await play(drawn)
            expectRule(played)
            expectTrace(played)
            expectResults(played)
            seen.add(played)
          } catch (error) {
            await discardBench()
            throw error
          }
        }),
        { seed: SEED, numRuns: BATCHES },
      )
      seen.expectAll()
    },
    PATIENCE_MS,
  )
})
