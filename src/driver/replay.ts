/**
 * A recorded line, played against a device type: which tool a request is, what a reply says, what was no frame. It
 * is pure, and it knows only what the bytes and the type say: a request that no tool sends stays unnamed.
 */
import type { FrameErrorKind } from '../port/framing.ts'
import type { DeviceDescription, Exchange, Verdict } from './device-type.ts'
import { type KnownRequest, knownRequests } from './known-requests.ts'

export interface RecordedEntry {
  /** ISO 8601. */
  readonly at: string
  readonly direction: 'tx' | 'rx'
  readonly bytes: Uint8Array
}

interface Placed {
  readonly at: string
  readonly bytes: Uint8Array
}

/** What one frame, or the bytes that are none, came to. */
export type Replayed =
  | (Placed & { readonly kind: 'request'; readonly request: KnownRequest | undefined })
  /** `isAsked`: to the request before; else it fits one of the type's requests, and that one was not seen. */
  | (Placed & {
      readonly kind: 'reply'
      readonly tool: string
      readonly isAsked: boolean
      readonly verdict: Verdict<unknown>
    })
  | (Placed & { readonly kind: 'event'; readonly name: string; readonly fields: Fields })
  | (Placed & { readonly kind: 'pushed'; readonly fields: Fields })
  | (Placed & { readonly kind: 'unrecognised' })
  | {
      readonly at: string
      readonly kind: 'frame_error'
      readonly error: FrameErrorKind
      readonly length: number
    }

type Fields = Readonly<Record<string, unknown>>

/** The silence that ends a frame which is not continued, as on a live line. */
const SILENCE_MS = 35

export function replay(device: DeviceDescription, entries: readonly RecordedEntry[]): Replayed[] {
  const player = createPlayer(device)
  for (const entry of entries) player.play(entry)
  return player.end()
}

function createPlayer(device: DeviceDescription) {
  const { framing } = device
  const { byBytes, all } = knownRequests(device)
  const replayed: Replayed[] = []
  let at = ''
  let asked: KnownRequest | undefined
  const framer = framing.create({
    frame: (frame) => {
      const said = decoded(device, all, asked, frame)
      if (said.kind === 'reply' && said.isAsked) asked = undefined
      replayed.push({ at, bytes: frame, ...said })
    },
    error: (error, length) => replayed.push({ at, kind: 'frame_error', error, length }),
  })
  const silence = () => {
    if (framing.silenceEndsFrame && framer.held > 0) framer.idle()
  }
  return {
    play(entry: RecordedEntry): void {
      const gapMs = Date.parse(entry.at) - Date.parse(at)
      if (entry.direction === 'tx' || gapMs >= Math.max(SILENCE_MS, framing.idleMs ?? 0)) silence()
      at = entry.at
      if (entry.direction === 'rx') {
        framer.push(entry.bytes)
        return
      }
      asked = byBytes.get(keyOf(entry.bytes))
      replayed.push({ at, kind: 'request', bytes: entry.bytes, request: asked })
    },
    end(): Replayed[] {
      silence()
      return replayed
    },
  }
}

type Said =
  | { kind: 'reply'; tool: string; isAsked: boolean; verdict: Verdict<unknown> }
  | { kind: 'event'; name: string; fields: Fields }
  | { kind: 'pushed'; fields: Fields }
  | { kind: 'unrecognised' }

/** In the order of a live line: the request that waits, events, what is pushed; only then what might be meant. */
function decoded(
  device: DeviceDescription,
  all: readonly KnownRequest[],
  asked: KnownRequest | undefined,
  frame: Uint8Array,
): Said {
  const verdict = asked && verdictOf(asked.exchange, frame)
  if (asked && verdict) return { kind: 'reply', tool: asked.tool, isAsked: true, verdict }
  for (const { name, match } of device.events ?? []) {
    const fields = match(frame)
    if (fields !== undefined) return { kind: 'event', name, fields }
  }
  const pushed = device.pushed?.fields(frame)
  if (pushed !== undefined) return { kind: 'pushed', fields: pushed }
  for (const { tool, exchange } of all) {
    const possible = verdictOf(exchange, frame)
    if (possible) return { kind: 'reply', tool, isAsked: false, verdict: possible }
  }
  return { kind: 'unrecognised' }
}

/** A decoder that throws has not recognised the frame. */
function verdictOf(exchange: Exchange<unknown>, frame: Uint8Array): Verdict<unknown> | undefined {
  try {
    return exchange.reply?.match(frame)
  } catch {
    return undefined
  }
}

function keyOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
