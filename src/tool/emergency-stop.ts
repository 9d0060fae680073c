/**
 * The emergency stop, latched: what runs is ended, what waits is answered, the devices' stop commands go out at once,
 * and until somebody releases it nothing that changes something is run. It is in no lane and needs no confirmation.
 */
import { type Clock, isoTime } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Principal } from './home.ts'
import type { CallRequest, CallResult, StopStatus } from './shapes.ts'

export interface StopParts {
  readonly clock: Clock
  readonly log: Log
  readonly scheduler: Scheduler
  /** The stop commands of all devices, as the configuration names them. */
  readonly commands: () => readonly CallRequest[]
  readonly send: (command: CallRequest, principal: Principal) => Promise<CallResult>
}

interface Latch {
  readonly sinceWallMs: number
  readonly by: string
  commands: readonly CallResult[]
}

export class EmergencyStop {
  readonly #parts: StopParts
  #latch: Latch | undefined

  constructor(parts: StopParts) {
    this.#parts = parts
  }

  get isLatched(): boolean {
    return this.#latch !== undefined
  }

  /** Resolves when every stop command has its result. A second stop sends the commands again and keeps the latch. */
  async engage(principal: Principal): Promise<StopStatus> {
    const { clock, log, scheduler, commands, send } = this.#parts
    const latch = this.#latch ?? { sinceWallMs: clock.wall(), by: principal.name, commands: [] }
    this.#latch = latch
    log.warn({ by: principal.name }, 'emergency stop')
    scheduler.stopAll()
    latch.commands = await Promise.all(commands().map((command) => send(command, principal)))
    return this.status()
  }

  release(principal: Principal): StopStatus {
    if (this.#latch) this.#parts.log.warn({ by: principal.name }, 'emergency stop released')
    this.#latch = undefined
    return this.status()
  }

  status(): StopStatus {
    const latch = this.#latch
    return {
      stopped: latch !== undefined,
      since: latch ? isoTime(latch.sinceWallMs) : null,
      by: latch?.by ?? null,
      commands: latch?.commands ?? [],
    }
  }
}
