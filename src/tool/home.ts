/** The gateway as a transport sees it: everything that may be asked, nothing of how it is done. */
import type { DeviceStatus } from '../driver/device-status.ts'
import type { PortStatus, TraceEntry } from '../port/status.ts'
import type {
  BatchOptions,
  BatchRequest,
  BatchResponse,
  CallRequest,
  CallResult,
  PlanResponse,
  ToolView,
} from './shapes.ts'

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

export interface Home {
  readiness(): Readiness
  ports(): readonly PortView[]
  port(id: string): PortView | undefined
  /** The last entries of a port's trace, oldest first; undefined: no such port. */
  trace(portId: string, last: number): readonly TraceEntry[] | undefined
  devices(): readonly DeviceStatus[]
  device(id: string): DeviceStatus | undefined
  tools(): readonly ToolView[]
  /** Never rejects for what happens to a call; rejects with a RequestFault for a request that is none. */
  call(request: CallRequest & BatchOptions, principal: Principal): Promise<CallResult>
  batch(request: BatchRequest, principal: Principal): Promise<BatchResponse>
  plan(request: BatchRequest, principal: Principal): PlanResponse
  /** The principal of a bearer token, or undefined. Takes the same time for every wrong token. */
  authenticate(token: string): Principal | undefined
}
