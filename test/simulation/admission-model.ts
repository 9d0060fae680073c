// The admission rule, as plainly as it can be said: given the table at one instant, which calls start now.
// It exists to be compared with the scheduler, so it is written from the written rules alone and
// knows nothing of how the scheduler does it. Where the text leaves something open, a comment says what was decided.
// Invariant: it is pure; what it says depends on its table only.

/** First come first served within a rank; the highest first. */
const RANKS = ['stop', 'interactive', 'automation', 'poll'] as const
export type Rank = (typeof RANKS)[number]

/** A call of several claims holds back later ones only after this long. */
export const SEVERAL_CLAIMS_WAIT_MS = 2_000

/** A resource that a call needs. A `port:` resource is always `exclusive`. */
export interface Claim {
  readonly resource: string
  readonly mode: 'shared' | 'exclusive'
}

/** An ordered stream of calls within which a policy decides. */
export interface Lane {
  readonly id: string
  readonly policy: 'partition' | 'batch' | 'resource'
  /**
   * `confirming`: confirmations are not settled yet, so nothing starts. `streaming`: the model still
   * speaks. `open`: the library's `lane()`. `whole`: all its calls are known: a batch, one call, or
   * a stream that has ended cleanly.
   */
  readonly stage: 'confirming' | 'streaming' | 'open' | 'whole'
}

/** One call on the table. Finished ones stay while their lane lives: a lane goes by all that it declared. */
export interface Call {
  readonly id: string
  /** `running`: admitted and not finished. `finished`: has its one result, whatever that is. */
  readonly state: 'waiting' | 'running' | 'finished'
  /** Absent for a call of no lane: a stop command, a poll. */
  readonly lane?: Lane
  /** Place in the declared order of its lane; means nothing without a lane. */
  readonly index: number
  /** The device it goes to; absent for a gateway tool. */
  readonly device?: string
  readonly effect: 'read' | 'set' | 'act'
  /** As declared; of a predicate its answer, `false` if it threw. Unknown tool: `false`. */
  readonly parallelSafe: boolean
  /** As declared; wins over `parallelSafe`. Unknown tool: `false`. */
  readonly serial: boolean
  /** All claims, the port's too; the shared claim on `gateway` is implied. Unknown tool: none. */
  readonly claims: readonly Claim[]
  /** The rank it came with, without what age has added. */
  readonly rank: Rank
  /** Acceptance order, over the whole process; unique. */
  readonly order: number
  /** When it began to wait, in ms on the clock of `Table.now`; its age counts from here. */
  readonly enqueuedAt: number
  /** Its absolute deadline on the same clock; passed before its start, nothing is sent. */
  readonly deadlineAt?: number
  /** Why it may not start yet, if so: `reply` is one on the list that it could take. */
  readonly notYet?: 'reply' | 'settling' | 'not-before'
  /** While the model speaks: sealed or complete, and no slot of the response is ambiguous. */
  readonly sealed?: boolean
}

/** The one table of claims of the process at one instant. */
export interface Table {
  readonly now: number
  readonly calls: readonly Call[]
  /** After how long a waiting call gains its one rank. The text sets no number, only a bound. */
  readonly ageMs: Readonly<Record<'automation' | 'poll', number>>
  /** The emergency stop is latched: every `set` and `act` is `stopped`. */
  readonly stopLatched?: boolean
}

/** One thing that a waiting call waits for. `id` names the other call, if it is one. */
export type Wait =
  | { readonly reason: 'lane' | 'claims' | 'ahead'; readonly id: string }
  | {
      readonly reason:
        | 'reply'
        | 'settling'
        | 'not-before'
        | 'stream'
        | 'confirmation'
        | 'deadline'
        | 'stopped'
    }

/** Parallel-safe with its `serial` counted in; nothing declared is never safe. */
const isSafe = (call: Call): boolean => call.parallelSafe && !call.serial

/** Under `resource`: neither parallel-safe nor `serial` with claims. */
const isBarrier = (call: Call): boolean => !isSafe(call) && !(call.serial && call.claims.length > 0)

/** Same resource, at least one `exclusive`. */
function conflicts(one: Call, other: Call): boolean {
  const isExclusive = (claim: Claim): boolean =>
    claim.mode === 'exclusive' || claim.resource.startsWith('port:')
  const claimsOf = (call: Call): readonly Claim[] => [...call.claims, { resource: 'gateway', mode: 'shared' }]
  return claimsOf(one).some((a) =>
    claimsOf(other).some((b) => a.resource === b.resource && (isExclusive(a) || isExclusive(b))),
  )
}

/** The rank that counts now: age lifts `poll` to `automation`, that to `interactive`. */
function rankNow(call: Call, table: Table): number {
  const own = RANKS.indexOf(call.rank)
  if (call.rank !== 'automation' && call.rank !== 'poll') return own
  return table.now >= call.enqueuedAt + table.ageMs[call.rank] ? own - 1 : own
}

/** Why a waiting call never starts: it gets its result at once, nobody waits for it. */
function isOver(call: Call, table: Table): 'deadline' | 'stopped' | undefined {
  if (call.state !== 'waiting') return undefined
  if (call.deadlineAt !== undefined && table.now >= call.deadlineAt) return 'deadline'
  return table.stopLatched && call.effect !== 'read' && call.rank !== 'stop' ? 'stopped' : undefined
}

/**
 * Must `later` wait for `earlier`? By declarations alone, whatever came of any between. Two calls of a
 * lane that conflict take turns in declared order under every policy; the later one's turn has not come.
 */
function keepsOrder(earlier: Call, later: Call, lane: Lane, calls: readonly Call[]): boolean {
  if (conflicts(earlier, later)) return true
  const span = calls.filter((call) => call.index >= earlier.index && call.index <= later.index)
  if (lane.policy === 'batch') return lane.stage === 'open' || !calls.every(isSafe)
  if (lane.policy === 'partition') return !span.every(isSafe)
  return span.some(isBarrier)
}

/**
 * The earlier calls of its lane that keep their order to this one, of themselves or through one between. What came of
 * that one changes nothing, so that a call that is cancelled lets nobody past those before it.
 */
function predecessors(call: Call, lane: Lane, calls: readonly Call[]): readonly Call[] {
  const found: Call[] = []
  const earlier = calls.filter((other) => other.index < call.index)
  for (const other of earlier.sort((a, b) => b.index - a.index)) {
    if ([call, ...found].some((later) => keepsOrder(other, later, lane, calls))) found.unshift(other)
  }
  return found
}

/** What its lane makes this call wait for. */
function laneWaits(call: Call, table: Table): Wait[] {
  const { lane } = call
  if (lane === undefined) return []
  const calls = table.calls.filter((other) => other.lane?.id === lane.id)
  const waits: Wait[] = predecessors(call, lane, calls)
    .filter((other) => other.state !== 'finished' && !isOver(other, table))
    .map(({ id }) => ({ reason: 'lane', id }))
  const isEarly = call.effect === 'read' && isSafe(call) && call.sealed === true && lane.policy !== 'batch'
  if (lane.stage === 'streaming' && !isEarly) waits.push({ reason: 'stream' })
  if (lane.stage === 'confirming') waits.push({ reason: 'confirmation' })
  return waits
}

/** A call that waits for claims; `stuck`: it may not start yet, or is behind one such. */
interface Waiter {
  readonly call: Call
  readonly stuck: boolean
}

const isSameDevice = (one: Call, other: Call): boolean =>
  one.device !== undefined && one.device === other.device

/** Does a waiter that is ahead of this call hold it back? Later ones of its lane have it from `keepsOrder`. */
function holdsBack({ call: waiter, stuck }: Waiter, call: Call, now: number): boolean {
  // A stop command goes out at once: nobody slips past it for two seconds.
  const isPatient = waiter.claims.length > 1 && waiter.rank !== 'stop'
  if (isPatient && now < waiter.enqueuedAt + SEVERAL_CLAIMS_WAIT_MS) return false
  return conflicts(waiter, call) && (!stuck || isSameDevice(waiter, call))
}

/**
 * Behind a call to its own device that may not start yet, it cannot start either, and holds back as few: one slow unit
 * of a bus stops no other. The text has no chains; the patience of several claims is left out of them, so that the end
 * of it never lets anybody start.
 */
const isBehindStuck = (call: Call, ahead: readonly Waiter[]): boolean =>
  ahead.some(({ call: waiter, stuck }) => stuck && isSameDevice(waiter, call) && conflicts(waiter, call))

/** One pass, best first: a call that starts only takes claims, so it can never let one before it start. */
function decide(table: Table): { starts: Call[]; waits: Map<string, Wait[]> } {
  const starts: Call[] = []
  const waits = new Map<string, Wait[]>()
  const ahead: Waiter[] = []
  const running = table.calls.filter((call) => call.state === 'running')
  const waiting = table.calls.filter((call) => call.state === 'waiting')
  for (const call of waiting.sort((a, b) => rankNow(a, table) - rankNow(b, table) || a.order - b.order)) {
    const over = isOver(call, table)
    // A call that is over, or whose turn in its lane has not come, waits for no claims and holds back nobody.
    const before: Wait[] = over ? [{ reason: over }] : laneWaits(call, table)
    // Stop commands go out at once, even on a suspect line.
    const notYet: Wait[] = call.notYet && call.rank !== 'stop' ? [{ reason: call.notYet }] : []
    const taken = [...running, ...starts].filter((other) => conflicts(other, call))
    const blockers = ahead.filter((waiter) => holdsBack(waiter, call, table.now))
    if (before.length + notYet.length + taken.length + blockers.length === 0) starts.push(call)
    else if (before.length === 0) ahead.push({ call, stuck: notYet.length > 0 || isBehindStuck(call, ahead) })
    const others: Wait[] = [
      ...taken.map(({ id }) => ({ reason: 'claims' as const, id })),
      ...blockers.map((blocker) => ({ reason: 'ahead' as const, id: blocker.call.id })),
    ]
    waits.set(call.id, over ? before : [...before, ...notYet, ...others])
  }
  return { starts, waits }
}

/** The ids of the calls that may start now, all of them, in the order in which they are to be started. */
export function mayStart(table: Table): string[] {
  return decide(table).starts.map((call) => call.id)
}

/** Everything that this waiting call waits for now; empty if it may start (or is not waiting). */
export function waitsFor(table: Table, id: string): Wait[] {
  return decide(table).waits.get(id) ?? []
}
