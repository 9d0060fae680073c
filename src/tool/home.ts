/** The gateway as a transport sees it: everything that may be asked, nothing of how it is done. */

import type { DeviceStatus } from '../driver/device-status.ts'
import type { Effect } from '../errors.ts'
import type { PortStatus, TraceEntry } from '../port/status.ts'

import type { FeedEvent, Subscription } from './event-feed.ts'
import type {
  BatchOptions,
  BatchRequest,
  BatchResponse,
  BatchStatus,
  CallRequest,
  CallResult,
  PlanResponse,
  SendRequest,
  SendResult,
  StopStatus,
  ToolView,
} from './shapes.ts'
import type { JsonSchema } from './tool.ts'

export type Role = 'read' | 'control' | 'admin'

/** Who is calling. */
export interface Principal {
  readonly id: string
  readonly name: string
  readonly role: Role
}

export interface PortView extends PortStatus {
  /** Calls that wait for the port, and whether one is running. */
  readonly queue: { readonly waiting: number; readonly running: number }
}

export interface Readiness {
  readonly ready: boolean
  readonly version: string
  /** Counts by state. */
  readonly ports: Readonly<Record<string, number>>
  /** Counts by availability. */
  readonly devices: Readonly<Record<string, number>>
}

/** A fault of a configuration, placed in its file where there is one. */
export interface ConfigurationFault {
  readonly message: string
  readonly hint?: string
  /** JSON pointer. */
  readonly pointer: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

export interface ConfigurationReport {
  readonly valid: boolean
  readonly faults: readonly ConfigurationFault[]
  readonly warnings: readonly ConfigurationFault[]
}

export interface ConfigurationText {
  /** The file's text as it is. */
  readonly text: string
  readonly path: string
  /** Changes with every change of the text: an ETag. */
  readonly version: string
}

/** What a reload did: ids. */
export interface ReloadReport extends ConfigurationReport {
  readonly applied: boolean
  readonly ports: ChangedIds
  readonly devices: ChangedIds
  /** Keys whose change counts from the next start on. */
  readonly needsRestart: readonly string[]
}

export interface ChangedIds {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly untouched: readonly string[]
}

/** A device type as it is listed. */
export interface TypeView {
  readonly type: string
  readonly title: string
  readonly description: string | null
  readonly addressed: boolean
  /** Its tools are written in the configuration. */
  readonly toolsConfigured: boolean
  readonly grade: 'bronze' | 'silver' | 'gold' | 'platinum' | null
  readonly uart: Readonly<Record<string, unknown>>
  /** JSON Schema of the type's own keys. */
  readonly options: JsonSchema
  readonly tools: readonly {
    readonly command: string
    readonly title: string
    readonly description: string
    readonly effect: Effect
    readonly dangerous: boolean
  }[]
  readonly readings: readonly { readonly field: string; readonly unit: string | null }[]
}

export interface Home extends Calling, Watching, Administration {
  readiness(): Readiness
  ports(): readonly PortView[]
  port(id: string): PortView | undefined
  devices(): readonly DeviceStatus[]
  device(id: string): DeviceStatus | undefined
  tools(): readonly ToolView[]
  /** The principal of a bearer token, or undefined. Takes the same time for every wrong token. */
  authenticate(token: string): Principal | undefined
}

/** Calls and what stops them. Nothing here rejects for what happens to a call. */
export interface Calling {
  call(request: CallRequest & BatchOptions, principal: Principal): Promise<CallResult>
  batch(request: BatchRequest, principal: Principal): Promise<BatchResponse>
  plan(request: BatchRequest, principal: Principal): PlanResponse
  /** The batch goes on by itself, and may be asked for until ten minutes after its end. */
  startBatch(request: BatchRequest, principal: Principal): BatchStatus
  /** Undefined: no such batch of this principal (an admin sees all). */
  batchStatus(id: string, principal: Principal): BatchStatus | undefined
  /** Cancels what has not started. */
  cancelBatch(id: string, principal: Principal): BatchStatus | undefined
  /** Cancels one call that has not started: the state of its batch. Undefined: no such call under way. */
  cancelCall(id: string, principal: Principal): BatchStatus | undefined
  stopStatus(): StopStatus
  /** Ends what runs, answers what waits, sends the stop commands, and latches. */
  stop(principal: Principal): Promise<StopStatus>
  releaseStop(principal: Principal): StopStatus
}

/** What comes by itself. Listeners are called synchronously and must not throw. */
export interface Watching {
  /** Undefined: too many listeners. */
  events(lastEventId: string | undefined, listener: (event: FeedEvent) => void): Subscription | undefined
  /** The last entries of a port's trace, oldest first; undefined: no such port. */
  trace(portId: string, last: number): readonly TraceEntry[] | undefined
  /** New entries as they come; the function ends it. Undefined: no such port. */
  watchTrace(portId: string, listener: (entry: TraceEntry) => void): (() => void) | undefined
}

export interface Administration {
  types(): Promise<readonly TypeView[]>
  /** Closes the port for so long, and opens it again. Undefined: no such port. */
  releasePort(id: string, durationMs: number): Promise<PortView | undefined>
  /** Undefined: no such port. */
  send(portId: string, request: SendRequest, principal: Principal): Promise<SendResult | undefined>
  /** Undefined: the gateway has no file. */
  configuration(): Promise<ConfigurationText | undefined>
  checkConfiguration(text: string): Promise<ConfigurationReport>
  /**
   * Keeps the old version beside the new one and applies it. `version`: only if the file is still that one;
   * `conflict`: it is not. `unwritable`: the gateway's user may not write it; nothing was changed.
   */
  writeConfiguration(
    text: string,
    version?: string,
  ): Promise<ReloadReport | 'conflict' | 'unwritable' | undefined>
  /** Reads the file again. Undefined: the gateway has no file. */
  reload(): Promise<ReloadReport | undefined>
}
