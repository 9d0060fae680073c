/**
 * How a device file writes a tool. Most tools are one request and one kind of reply, and need no procedural code:
 * `request` and `reply` become an exchange whose reply shapes are as narrow as the framing and the reply allow.
 */
import type { Static, TObject } from 'typebox'
import { assert } from '../errors.ts'
import type { TraitedFraming } from '../port/framer/traits.ts'
import { traitsOf } from '../port/framer/traits.ts'
import type { Framing } from '../port/framing.ts'
import { type ReplyShape, startsWith } from '../port/reply.ts'
import type {
  DeviceSession,
  Exchange,
  PushedFields,
  ReadBack,
  ToolBase,
  ToolSpec,
  Verdict,
} from './device-type.ts'
import { exchangeOf, type FrameKind, unanswered, uncorrelated } from './exchange.ts'

/** Declares the reply of a tool. */
export interface ReplySpec<P extends TObject, R extends TObject> {
  /** Bytes that every such frame starts with; what comes after is the decoder's. */
  readonly startsWith: ArrayLike<number>
  /** Length of the frame, where the framing does not fix it. */
  readonly length?: number
  /** Undefined: the frame is not the reply after all. Never throws. */
  decode(frame: Buffer, args: Static<P>): Static<R> | undefined
  /** The device says that it is busy: why. Asked first. */
  busy?(frame: Buffer): string | undefined
}

/** Declares a frame by which the device refuses. */
export interface RefusalSpec {
  readonly startsWith: ArrayLike<number>
  readonly length?: number
  /** A `refused` or `busy` verdict. */
  verdict(frame: Buffer): Verdict<never> | undefined
}

interface Described<P extends TObject, R extends TObject> extends ToolBase<P, Static<R>> {
  readonly parameters?: P
  readonly returns?: R
  /** Run after the command in the same hold. */
  readBack?(args: Static<P>): ReadBack
}

/** One request and one kind of reply. */
export interface RequestCommand<P extends TObject, R extends TObject> extends Described<P, R> {
  request(args: Static<P>): ArrayLike<number>
  /** `none`: the device acknowledges nothing, by design. A mere decoder takes any frame of the framing. */
  readonly reply: 'none' | ReplySpec<P, R> | Decoder<P, R>
  readonly refusal?: RefusalSpec
  readonly exchange?: never
  readonly run?: never
  readonly get?: never
}

/** Undefined or false: not the reply. */
export type Decoder<P extends TObject, R extends TObject> = {
  decode(frame: Buffer, args: Static<P>): Static<R> | undefined | false
}['decode']

/** One transaction, put together by the type's own code. */
export interface ExchangeCommand<P extends TObject, R extends TObject> extends Described<P, R> {
  exchange(args: Static<P>): Exchange<Static<R>>
  readonly request?: never
  readonly run?: never
  readonly get?: never
}

/** Several transactions. */
export interface RunCommand<P extends TObject, R extends TObject> extends Described<P, R> {
  run(session: DeviceSession, args: Static<P>): Promise<Static<R>>
  readonly shapes?: readonly ReplyShape[]
  readonly request?: never
  readonly exchange?: never
  readonly get?: never
}

/** An answer from what the device last pushed. */
export interface GetCommand<P extends TObject, R extends TObject>
  extends Omit<Described<P, R>, 'readBack' | 'readings'> {
  get(pushed: PushedFields, args: Static<P>): Static<R>
  readonly request?: never
  readonly exchange?: never
  readonly run?: never
}

export type CommandSpec<P extends TObject, R extends TObject> =
  | RequestCommand<P, R>
  | ExchangeCommand<P, R>
  | RunCommand<P, R>
  | GetCommand<P, R>

/** Any tool of a device file. */
export type Command = CommandSpec<TObject, TObject>

/** Gives `request`, `reply` and the rest the types of `parameters` and `returns`. */
export function command<P extends TObject, R extends TObject>(spec: CommandSpec<P, R>): Command {
  return spec
}

/** The tool behind a command. `serial` is what the type says of everything that changes something. */
export function toolOf(where: string, spec: Command, framing: Framing, serial: boolean): ToolSpec {
  const inherited = spec.effect === 'read' || !serial ? {} : { serial: true }
  if (spec.request === undefined) return { ...spec, ...inherited }
  const { request, reply, refusal, ...described } = spec
  const correlates = spec.correlates ?? (typeof reply === 'object' ? 'shape' : 'none')
  const traits = traitsOf(framing)
  const replyShape = shapeOf(where, typeof reply === 'object' ? reply : { startsWith: [] }, traits)
  const refusalShape = refusal && shapeOf(where, refusal, traits)
  return {
    ...described,
    ...inherited,
    correlates,
    exchange(args) {
      const bytes = request(args)
      if (reply === 'none') return unanswered(bytes)
      const kinds: FrameKind<unknown>[] = []
      if (refusal && refusalShape)
        kinds.push({ shape: refusalShape, verdict: (frame) => refusal.verdict(frame) })
      kinds.push({ shape: replyShape, verdict: (frame) => verdictOf(reply, frame, args) })
      const exchange = exchangeOf(bytes, kinds)
      if (correlates !== 'none' || exchange.reply === null) return exchange
      return { request: exchange.request, reply: uncorrelated(exchange.reply) }
    },
  }
}

function verdictOf(
  reply: ReplySpec<TObject, TObject> | Decoder<TObject, TObject>,
  frame: Buffer,
  args: Static<TObject>,
): Verdict<unknown> | undefined {
  if (typeof reply === 'function') return valueOrNone(reply(frame, args))
  const message = reply.busy?.(frame)
  return message === undefined ? valueOrNone(reply.decode(frame, args)) : { kind: 'busy', message }
}

function valueOrNone(decoded: unknown): Verdict<unknown> | undefined {
  return decoded === undefined || decoded === false ? undefined : { kind: 'value', value: decoded }
}

/** What the framing promises, and what the kind of frame adds. */
function shapeOf(
  where: string,
  kind: { readonly startsWith: ArrayLike<number>; readonly length?: number },
  traits: Pick<TraitedFraming, 'shape'>,
): ReplyShape {
  const { shape } = traits
  const own = startsWith(kind.startsWith, kind.length)
  const length = kind.length ?? shape.length
  assert(
    shape.length === undefined || length === shape.length,
    `${where}: the framing has no frames of ${length} bytes`,
  )
  const bytes = new Map(shape.bytes)
  for (const [offset, byte] of own.bytes) {
    assert((bytes.get(offset) ?? byte) === byte, `${where}: the framing has no frames that start so`)
    bytes.set(offset, byte)
  }
  return length === undefined ? { bytes: [...bytes] } : { length, bytes: [...bytes] }
}
