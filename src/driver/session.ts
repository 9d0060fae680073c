/**
 * A run as the device's own code sees it: exchanges one after the other, each verdict a value or an error, and an
 * honest word on what is known when it stops half-way.
 */
import { type Effect, GatewayError, messageOf, outcomeOf } from '../errors.ts'
import type { LineHold } from '../port/request.ts'
import type { DeviceSession, Exchange, Verdict } from './device-type.ts'

/** One transaction on the line that the run holds; null: there is no reply, by design. */
export type Transact = <V>(exchange: Exchange<V>) => Promise<Verdict<V> | null>

export interface SessionRun {
  readonly progress: { sent: boolean; wireMs: number }
}

/** The device's view of a run: exchanges one after the other, each verdict a value or an error. */
export class Session implements DeviceSession {
  readonly #transactOnce: Transact
  readonly #effect: Effect
  readonly #line: LineHold
  readonly #run: SessionRun
  /** The exchange before: one at a time, however the device's own code asks. */
  #last: Promise<unknown> = Promise.resolve()
  #completed = 0
  /** A transaction was sent, and whether the device did it is not known. */
  #isUncertain = false
  /** The last transaction had a reply. */
  isAcknowledged = false

  constructor(transact: Transact, effect: Effect, line: LineHold, run: SessionRun) {
    this.#transactOnce = transact
    this.#effect = effect
    this.#line = line
    this.#run = run
  }

  exchange<V>(exchange: Exchange<V>): Promise<V> {
    const next = this.#last.then(() => this.#transact(exchange))
    this.#last = next.catch(() => {})
    return next
  }

  /** Nothing of the run is on the line any more. */
  async settled(): Promise<void> {
    await this.#last
  }

  /**
   * The error as the caller may have it. A run of several transactions that stops half-way has done something, so
   * what proves of a single one that nothing was done proves nothing here.
   */
  honest(thrown: unknown): unknown {
    if (!(thrown instanceof GatewayError)) return thrown
    const effect = this.#effect
    const { code, message, details, provenNotDone } = thrown
    const isHalfWay = effect !== 'read' && (this.#completed > 0 || this.#isUncertain)
    const outcome = outcomeOf(code, { effect, sent: this.#line.sent, provenNotDone })
    if (!isHalfWay || outcome !== 'not_executed') return thrown
    const isRefusal = code === 'device_error' || code === 'device_busy'
    const deviceCode = isRefusal ? { deviceCode: 'busy' } : {}
    return new GatewayError(isRefusal ? 'device_error' : 'tool_failed', message, {
      details: { ...deviceCode, ...(Array.isArray(details) ? {} : details), completed: this.#completed },
      cause: thrown,
    })
  }

  async #transact<V>(exchange: Exchange<V>): Promise<V> {
    try {
      const verdict = await this.#transactOnce(exchange)
      if (verdict !== null && verdict.kind !== 'value') throw refusalOf(verdict)
      this.#completed += 1
      this.isAcknowledged = verdict !== null
      return (verdict === null ? null : verdict.value) as V
    } catch (error) {
      this.#isUncertain ||= this.#line.sent && !isProof(error)
      throw error
    } finally {
      this.#run.progress.sent = this.#line.sent
      this.#run.progress.wireMs = this.#line.wireMs
    }
  }
}

/** The device's own word that it has not done what it was asked, or that it was not even asked. */
function isProof(error: unknown): boolean {
  return error instanceof GatewayError && (error.provenNotDone || error.code === 'device_busy')
}

function refusalOf(verdict: Exclude<Verdict<unknown>, { kind: 'value' }>): GatewayError {
  const { message } = verdict
  if (verdict.kind === 'busy') {
    const { retryAfterMs } = verdict
    return new GatewayError('device_busy', message, {
      details: retryAfterMs === undefined ? {} : { retryAfterMs },
    })
  }
  const { deviceCode, provenNotDone } = verdict
  return new GatewayError('device_error', message, { details: { deviceCode }, provenNotDone })
}

/** Runs what a device type brings along. */
export async function ownCode<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw new GatewayError('tool_failed', `the tool itself failed: ${messageOf(thrown)}`, { cause: thrown })
  }
}
