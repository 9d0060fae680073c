/** What a device file declares. `defineDevice` checks it, the contract test holds every file to it. */
import type { Static, TObject, TProperties } from 'typebox'
import type { Effect } from '../errors.ts'
import type { Framing } from '../port/framing.ts'
import type { ReplyMatcher, ReplyShape } from '../port/reply.ts'
import type { LineSettings } from '../port/request.ts'
import type { Claim } from './claim.ts'

/** What a frame says to the request that it answers. */
export type Verdict<V> =
  | { readonly kind: 'value'; readonly value: V }
  /** The device said no, in its own protocol. `provenNotDone`: the refusal proves that nothing was done. */
  | {
      readonly kind: 'refused'
      readonly deviceCode: string | number
      readonly message: string
      readonly provenNotDone: boolean
    }
  | { readonly kind: 'busy'; readonly message: string; readonly retryAfterMs?: number }

/** One request and what may answer it. */
export interface Exchange<V> {
  readonly request: Uint8Array
  /** Null: no acknowledgement by design. */
  readonly reply: ReplyMatcher<Verdict<V>> | null
}

/**
 * How far a reply names its request. `request`: wholly (Modbus 05, numbered protocols); `shape`: in part (Modbus
 * 03 names unit, function and length, not the register); `none`: any frame could be it.
 */
export type Correlation = 'request' | 'shape' | 'none'

export interface ReadingSpec {
  readonly unit?: string
  readonly title?: string
  /** Home Assistant's classes. */
  readonly deviceClass?: string
  readonly stateClass?: 'measurement' | 'total' | 'total_increasing'
  /** Outside of it a decoded value is nonsense and is reported as null. */
  readonly min?: number
  readonly max?: number
  readonly precision?: number
}

/** The line as a `run` of several transactions sees it. The port is held throughout. */
export interface DeviceSession {
  /** The value of the reply; null where the exchange has none by design. Rejects with a GatewayError. */
  exchange<V>(exchange: Exchange<V>): Promise<V>
}

/** A vector: a reply and what it means, or a request and its bytes. Bytes are hex ("ff 86 02"), text as `{ text }`. */
export interface Example {
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly request?: string | { readonly text: string }
  readonly reply?: string | { readonly text: string }
  /** What the tool returns for the reply. */
  readonly value?: unknown
  /** The device code of a refusal. */
  readonly refused?: string | number
  /** The device says that it is busy. */
  readonly busy?: true
  /** The frame is not the reply: it is foreign, or it fails its checksum or form. */
  readonly ignored?: true
}

interface ToolBase<P extends TObject, V> {
  readonly title?: string
  readonly description: string
  readonly parameters?: P
  readonly returns?: TObject
  readonly examples?: readonly Example[]
  readonly correlates?: Correlation
  /** From the first byte sent; default from the type's line. */
  readonly timeoutMs?: number
  /** Readings that the value sets, by field; default: the fields of the value that are readings. */
  readonly readings?: (value: V) => Readonly<Record<string, unknown>>
  readonly dangerous?: boolean
  readonly effect: Effect
  readonly claims?: readonly Claim[]
  /** Why it is serial, shown in the tool list. */
  readonly because?: string
  readonly serial?: boolean
  readonly parallelSafe?: boolean | ((args: Static<P>) => boolean)
}

/** One transaction. */
export interface ExchangeTool<P extends TObject, V> extends ToolBase<P, V> {
  readonly exchange: (args: Static<P>) => Exchange<V>
  /** Proves a `set` or `act` whose acknowledgement says nothing: run afterwards in the same hold. */
  readonly readBack?: (args: Static<P>) => {
    exchange: Exchange<unknown>
    confirms: (value: never) => boolean
  }
  readonly run?: never
}

/** Several transactions, or a protocol with steps. */
export interface RunTool<P extends TObject, V> extends ToolBase<P, V> {
  readonly run: (session: DeviceSession, args: Static<P>) => Promise<V>
  /** The kinds of frame that any reply of the run may be; default: any frame. */
  readonly shapes?: readonly ReplyShape[]
  readonly exchange?: never
}

export type ToolSpec<P extends TObject = TObject<TProperties>, V = unknown> =
  | ExchangeTool<P, V>
  | RunTool<P, V>

/** A frame that the device sends of its own accord. */
export interface EventSpec {
  readonly name: string
  readonly match: (frame: Uint8Array) => Readonly<Record<string, unknown>> | undefined
}

/** Times of the line; what the configuration says of a device goes first. */
export interface LineTimes {
  readonly timeoutMs: number
  readonly replyLatencyMaxMs?: number
  readonly gapMs?: number
}

/** What a device simulator answers, `afterMs` after the last byte of the request. */
export interface SimulatedReply {
  readonly bytes: Uint8Array
  readonly afterMs: number
}

/** The world that a device simulator lives in. */
export interface SimulatedWorld {
  /** Milliseconds since the simulation began. */
  now(): number
  random(): number
  /** Writes the device's own execution log, the truth of tests: one line for everything that it really did. */
  executed(command: string, detail?: Readonly<Record<string, unknown>>): void
  /** Sends bytes unasked. */
  send(bytes: Uint8Array): void
  /** Calls back every `intervalMs` of simulated time. */
  every(intervalMs: number, callback: () => void): void
}

/** A device as the far end of the wire sees it. */
export interface DeviceSimulator {
  /** Frames of requests. */
  readonly framing: Framing
  /** A request frame came; undefined: the device stays silent. Several replies are sent one after the other. */
  receive(frame: Uint8Array): SimulatedReply | readonly SimulatedReply[] | undefined
}

/** A device of this type and these options. */
export interface DeviceDescription {
  readonly framing: Framing
  readonly line: LineTimes
  readonly readings: Readonly<Record<string, ReadingSpec>>
  readonly tools: Readonly<Record<string, ToolSpec>>
  readonly events?: readonly EventSpec[]
  readonly poll?: { readonly every: string; readonly tool: string }
  readonly simulator?: (world: SimulatedWorld) => DeviceSimulator
}

export interface OptionFault {
  /** JSON pointer into the device's options. */
  readonly field: string
  readonly message: string
  readonly severity?: 'error' | 'warning'
}

export interface DeviceType<O extends TObject = TObject<TProperties>> {
  readonly type: string
  readonly title: string
  readonly description?: string
  /** The type's own keys of a configured device. */
  readonly options: O
  /** Several devices may share one port; the option `address` tells them apart. */
  readonly addressed: boolean
  /** Line settings that a port of such a device has unless the configuration says otherwise. */
  readonly uart: Partial<LineSettings>
  /** Commands of a device never overlap: given to every `set` and `act` tool. */
  readonly serial: boolean
  /** Faults that a schema cannot express; warnings too. */
  readonly faults?: (options: Static<O>) => readonly OptionFault[]
  readonly describe: (options: Static<O>) => DeviceDescription
  /** Options for the demo, the contract test and `baudway types`, where a device needs some. */
  readonly sample: Static<O>
}
