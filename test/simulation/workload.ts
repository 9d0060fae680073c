/** The callers of a simulated run: they hand over what the plan says, and take down what they are answered. */
import { pause } from '../../src/clock.ts'
import { GatewayError } from '../../src/errors.ts'
import type { Principal } from '../../src/tool/home.ts'
import type { CallRequest, CallResult } from '../../src/tool/shapes.ts'
import type { CallRecord, LaneRecord } from './history.ts'
import type { CallPlan, Submission } from './plan.ts'
import type { World } from './world.ts'

const STOPPER: Principal = { id: 'stopper', name: 'stopper', role: 'admin' }

export class Workload {
  readonly #world: World
  readonly lanes: LaneRecord[] = []
  readonly calls: CallRecord[] = []

  constructor(world: World) {
    this.#world = world
  }

  get isSettled(): boolean {
    return this.calls.every(({ settledAt, orphaned }) => settledAt !== undefined || orphaned)
  }

  /** Everything of the plan, at its time. */
  schedule(): void {
    for (const submission of this.#world.plan.submissions) {
      this.#world.view.after(submission.at, () => this.#whenHeard(() => this.submit(submission)))
    }
  }

  /** What is asked of a process whose event loop stands still is heard when it turns again. */
  #whenHeard(work: () => void): void {
    const { clock, view } = this.#world
    if (clock.isStalled) void clock.input(view).then(work)
    else work()
  }

  /** What was asked of a process that is no more is answered by nobody. */
  orphan(): void {
    for (const call of this.calls) if (call.settledAt === undefined) call.orphaned = true
  }

  submit(plan: Submission): LaneRecord {
    const { gateway, life } = this.#world
    const lane: LaneRecord = { plan, calls: [], partitions: undefined, life, rejected: undefined }
    if (!gateway) return lane
    if (plan.kind === 'stop' || plan.kind === 'release') {
      if (plan.kind === 'stop') void gateway.emergencyStop.engage(STOPPER)
      else gateway.emergencyStop.release(STOPPER)
      return lane
    }
    this.lanes.push(lane)
    if (plan.kind === 'batch') void this.#batch(lane)
    else void this.#lane(lane)
    return lane
  }

  async #batch(lane: LaneRecord): Promise<void> {
    const { gateway } = this.#world
    const { plan } = lane
    const calls = plan.calls.map((call) => this.#begin(lane, call))
    if (!gateway) return
    try {
      const { policy, priority, deadlineMs, onError } = plan
      this.#cancelLater(calls, (id) => gateway.gate.cancelCall(id, STOPPER))
      const options = { policy, priority, deadlineMs, onError }
      const { partitions, results } = await gateway.batch(plan.calls.map(requestOf), options)
      lane.partitions = partitions
      for (const [index, call] of calls.entries()) this.#end(call, results[index])
    } catch (error) {
      this.#refuse(lane, calls, error)
    }
  }

  async #lane(lane: LaneRecord): Promise<void> {
    const { gateway, view } = this.#world
    if (!gateway) return
    const { policy, priority, deadlineMs, onError, calls } = lane.plan
    const open = gateway.lane({ policy, priority, deadlineMs, onError })
    for (const plan of calls) {
      if (plan.afterMs !== undefined) await pause(view, plan.afterMs)
      if (this.#world.clock.isStalled) await this.#world.clock.input(view)
      if (this.#world.gateway !== gateway) return
      const call = this.#begin(lane, plan)
      void open.add(requestOf(plan)).then(
        (result) => this.#end(call, result),
        (error: unknown) => this.#refuse(lane, [call], error),
      )
      this.#cancelLater([call], (id) => open.cancel(id))
    }
    lane.partitions = (await open.end()).partitions
  }

  #begin(lane: LaneRecord, plan: CallPlan): CallRecord {
    const call: CallRecord = {
      plan,
      lane,
      index: lane.calls.length,
      submittedAt: this.#world.clock.now,
      settledAt: undefined,
      result: undefined,
      settledCount: 0,
      cancelledAt: undefined,
      orphaned: false,
    }
    lane.calls.push(call)
    this.calls.push(call)
    this.#world.recorder.note(`${call.submittedAt} call ${plan.nonce} ${plan.name}`)
    return call
  }

  #end(call: CallRecord, result: CallResult | undefined): void {
    call.settledCount += 1
    // A batch answers when its last call is over; the feed tells each end when it comes.
    call.settledAt ??=
      this.#world.recorder.told.get(callId(call.plan.nonce))?.[0]?.at ?? this.#world.clock.now
    call.result ??= result
    const told =
      result && `${result.status} ${result.outcome} ${result.error?.code} ${JSON.stringify(result.value)}`
    this.#world.recorder.note(`${this.#world.clock.now} end ${call.plan.nonce} ${told}`)
  }

  #refuse(lane: LaneRecord, calls: readonly CallRecord[], error: unknown): void {
    lane.rejected = error instanceof GatewayError ? error.code : String(error)
    for (const call of calls) this.#end(call, undefined)
  }

  #cancelLater(calls: readonly CallRecord[], cancel: (id: string) => unknown): void {
    for (const call of calls) {
      const { cancelAfterMs, nonce } = call.plan
      if (cancelAfterMs === undefined) continue
      const giveUp = () => {
        if (call.settledAt !== undefined || call.orphaned) return
        call.cancelledAt = this.#world.clock.now
        cancel(callId(nonce))
      }
      this.#world.view.after(cancelAfterMs, () => this.#whenHeard(giveUp))
    }
  }
}

export function callId(nonce: number): string {
  return `n${nonce}`
}

function requestOf({ nonce, device, name, runsMs }: CallPlan): CallRequest {
  return {
    id: callId(nonce),
    name: device === undefined ? name : `${device}__${name}`,
    arguments: device === undefined ? { nonce, runsMs: runsMs ?? 0 } : { nonce },
  }
}
