/** What a device type is to the rest of the gateway. Device files write the easier form of `defineDevice`. */
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
  /** Here and in the classes, null: there is none by its nature, as a power factor has no unit. */
  readonly unit?: string | null
  readonly title?: string
  /** Home Assistant's classes of sensors; the gateway passes them on as they are. */
  readonly deviceClass?: string | null
  readonly stateClass?: 'measurement' | 'total' | 'total_increasing' | null
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

/** Bytes of an example: hex ("ff 86 02") or text. */
export type ExampleBytes = string | { readonly text: string }

/** A vector: a reply and what it means, or a request and its bytes. */
export interface Example {
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly request?: ExampleBytes
  /**
   * What comes from the line: the frame, with the terminator of a line left out or not; all that was pushed, for a
   * tool that answers from it.
   */
  readonly reply?: ExampleBytes
  /** For a tool of several transactions: all of them, in order. */
  readonly exchanges?: readonly { readonly request: ExampleBytes; readonly reply: ExampleBytes }[]
  /** What the tool returns for the reply. */
  readonly value?: unknown
  /** The device code of a refusal. */
  readonly refused?: string | number
  /** The device says that it is busy. */
  readonly busy?: true
  /** The frame is not the reply: it is foreign, or it fails its checksum or form. */
  readonly ignored?: true
}

export interface ToolBase<P extends TObject, V> {
  readonly title?: string
  readonly description: string
  readonly parameters?: P
  readonly returns?: TObject
  readonly examples?: readonly Example[]
  readonly correlates?: Correlation
  /** From the first byte sent; default from the type's line. */
  readonly timeoutMs?: number
  /** Readings that the value sets, by field; default: the fields of the value that are readings. */
  readings?(value: V): Readonly<Record<string, unknown>>
  readonly dangerous?: boolean
  readonly effect: Effect
  readonly claims?: readonly Claim[]
  /** Why it is serial, shown in the tool list. */
  readonly because?: string
  readonly serial?: boolean
  readonly parallelSafe?: boolean | Predicate<Static<P>>
}

/** A predicate of the arguments; its parameter is as loose as a method's, so that typed tools fit one list. */
export type Predicate<A> = { test(args: A): boolean }['test']

/** Proves a `set` or `act` whose acknowledgement says nothing. */
export interface ReadBack {
  readonly exchange: Exchange<unknown>
  confirms(value: unknown): boolean
}

/** One transaction. */
export interface ExchangeTool<P extends TObject = TObject<TProperties>, V = unknown> extends ToolBase<P, V> {
  /** Throws a GatewayError `invalid_arguments` for what the schema of the parameters cannot express. */
  exchange(args: Static<P>): Exchange<V>
  /** Run afterwards in the same hold. */
  readBack?(args: Static<P>): ReadBack
  readonly run?: never
  readonly get?: never
}

/** Several transactions, or a protocol with steps. */
export interface RunTool<P extends TObject = TObject<TProperties>, V = unknown> extends ToolBase<P, V> {
  run(session: DeviceSession, args: Static<P>): Promise<V>
  /** The kinds of frame that any reply of the run may be; default: any frame. */
  readonly shapes?: readonly ReplyShape[]
  readonly exchange?: never
  readonly get?: never
}

/** Answers from what the device last pushed. It touches no port: nothing is sent, and nothing is waited for. */
export interface GetTool<P extends TObject = TObject<TProperties>, V = unknown> extends ToolBase<P, V> {
  get(pushed: PushedFields, args: Static<P>): V
  readonly exchange?: never
  readonly run?: never
}

export type ToolSpec<P extends TObject = TObject<TProperties>, V = unknown> =
  | ExchangeTool<P, V>
  | RunTool<P, V>
  | GetTool<P, V>

/** The last value of each pushed field; null where the device said that it has none. */
export type PushedFields = Readonly<Record<string, unknown>>

/** What a device says of its own accord, again and again. */
export interface PushedSpec {
  /**
   * The fields that a frame sets: readings, and whatever the tools with `get` need besides. Null: the device says that
   * it has no value, which takes the place of the one before. Undefined: a frame of another kind. Never throws.
   */
  readonly fields: (frame: Uint8Array) => PushedFields | undefined
  /** After this long without such a frame nothing that was pushed is true any more. */
  readonly silenceMs: number
}

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

/** What is asked of a device again and again. */
export interface PollSpec {
  /** A duration such as "30s"; what the configuration says goes first. */
  readonly every: string
  readonly tool: string
  /**
   * The same question in runs of one transaction each, so that nobody waits for more than one frame; their values
   * are fields of the tool's value. Default: the tool as it is.
   */
  readonly parts?: readonly Exchange<Readonly<Record<string, unknown>>>[]
}

/** What happens between the opening of the port and the first request. */
export interface BootSpec {
  /** At most this long for the banner; then the probe, if there is one, must answer, else boot is done. */
  readonly waitMs: number
  /** The device's own announcement that it is ready, at its start and in mid-session. */
  readonly banner?: (frame: Uint8Array) => boolean
  readonly probe?: Exchange<unknown>
}

/** A query whose positive reply shows that the expected device is there. */
export interface IdentitySpec {
  readonly exchange: Exchange<unknown>
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
  /** Needed by tools with `get`. */
  readonly pushed?: PushedSpec
  readonly poll?: PollSpec
  readonly boot?: BootSpec
  readonly identity?: IdentitySpec
  /** Settings of the line that this device has otherwise than its type. */
  readonly uart?: Partial<LineSettings>
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
  /** Its tools are written in the configuration: a `read` that declares nothing stays undeclared. */
  readonly toolsConfigured?: boolean
  /** Faults that a schema cannot express; warnings too. Asked of options that fit the schema. */
  faults?(options: Static<O>): readonly OptionFault[]
  /** Never throws for options that fit the schema and have no fault. */
  describe(options: Static<O>): DeviceDescription
  /** Options for the demo, the contract test and `baudway types`, where a device needs some. */
  readonly sample: Static<O>
  /** Vectors of the sample's tools, where the tools depend on the options and cannot carry their own. */
  readonly sampleExamples?: Readonly<Record<string, readonly Example[]>>
}
