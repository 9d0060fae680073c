/**
 * Who has been accepted and is not over, by port and by resource: the bounds on it, what is shown of a port's queue,
 * and whom a change of a resource concerns. A call waits from its acceptance until its admission.
 */
import { GatewayError } from '../errors.ts'
import { CALLS_MAX } from '../limits.ts'
import { type Claims, GATEWAY } from './claims.ts'
import type { Rank } from './declaration.ts'
import type { Task } from './task.ts'

export interface Occupant {
  readonly task: Task
  readonly rank: Rank
  readonly claims: Claims
}

interface PortCounts {
  waiting: number
  /** Those of the waiting that do not count against the queue. */
  polls: number
  running: number
}

export class Occupancy<O extends Occupant> {
  readonly #queueLength: number
  readonly #waiting = new Set<O>()
  readonly #waitingByResource = new Map<string, Set<O>>()
  readonly #running = new Set<O>()
  readonly #ports = new Map<string, PortCounts>()

  constructor(queueLength: number) {
    this.#queueLength = queueLength
  }

  /** Why there is no room for the task. A stop command always finds room; a poll does not count against a port. */
  refusal(task: Task, rank: Rank): GatewayError | undefined {
    if (rank === 'stop') return undefined
    if (this.#waiting.size + this.#running.size >= CALLS_MAX) {
      return queueFull(`${CALLS_MAX} calls are already waiting or running`)
    }
    if (rank === 'poll') return undefined
    for (const port of task.ports) {
      const counts = this.#ports.get(port)
      if (counts && counts.waiting - counts.polls >= this.#queueLength) {
        return queueFull(`${this.#queueLength} calls are already waiting for port ${port}`)
      }
    }
    return undefined
  }

  accept(occupant: O): void {
    this.#waiting.add(occupant)
    for (const resource of occupant.claims.keys()) {
      if (resource === GATEWAY) continue
      const waiting = this.#waitingByResource.get(resource)
      if (waiting) waiting.add(occupant)
      else this.#waitingByResource.set(resource, new Set([occupant]))
    }
    this.#count(occupant, 'waiting', 1)
  }

  start(occupant: O): void {
    this.#leaveWaiting(occupant)
    this.#running.add(occupant)
    this.#count(occupant, 'running', 1)
  }

  /** The call is over, whether it ran or not; one that was never accepted is let pass. */
  leave(occupant: O): void {
    if (this.#running.delete(occupant)) this.#count(occupant, 'running', -1)
    else if (this.#waiting.has(occupant)) this.#leaveWaiting(occupant)
  }

  /** A copy: what is done with it may change who waits. Undefined: all. */
  waitingFor(resource: string | undefined): readonly O[] {
    return [...(resource === undefined ? this.#waiting : (this.#waitingByResource.get(resource) ?? []))]
  }

  get isAnyRunning(): boolean {
    return this.#running.size > 0
  }

  ofPort(port: string): { readonly waiting: number; readonly running: number } {
    const { waiting, running } = this.#ports.get(port) ?? { waiting: 0, running: 0 }
    return { waiting, running }
  }

  #leaveWaiting(occupant: O): void {
    this.#waiting.delete(occupant)
    for (const resource of occupant.claims.keys()) {
      const waiting = this.#waitingByResource.get(resource)
      waiting?.delete(occupant)
      if (waiting?.size === 0) this.#waitingByResource.delete(resource)
    }
    this.#count(occupant, 'waiting', -1)
  }

  #count(occupant: O, what: 'waiting' | 'running', change: 1 | -1): void {
    for (const port of occupant.task.ports) {
      const counts = this.#ports.get(port) ?? { waiting: 0, polls: 0, running: 0 }
      counts[what] += change
      if (what === 'waiting' && occupant.rank === 'poll') counts.polls += change
      if (counts.waiting + counts.running === 0) this.#ports.delete(port)
      else this.#ports.set(port, counts)
    }
  }
}

export function queueFull(message: string): GatewayError {
  return new GatewayError('queue_full', message, { hint: 'Wait for results before sending more calls.' })
}
