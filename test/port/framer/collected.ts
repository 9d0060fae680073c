/** What a framer makes of bytes, for tests. */
import type { FrameErrorKind, Framer, Framing } from '../../../src/port/framing.ts'

export interface Collected {
  readonly framer: Framer
  /** Hex, in order. */
  readonly frames: string[]
  readonly errors: { readonly kind: FrameErrorKind; readonly length: number }[]
}

export function collected(framing: Framing): Collected {
  const frames: string[] = []
  const errors: Collected['errors'] = []
  const framer = framing.create({
    frame: (frame) => frames.push(hex(frame)),
    error: (kind, length) => errors.push({ kind, length }),
  })
  return { framer, frames, errors }
}

/** The frames of bytes that come in pieces of these sizes, over and over. */
export function framesIn(framing: Framing, bytes: Uint8Array, sizes: readonly number[]): string[] {
  const { framer, frames } = collected(framing)
  for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    framer.push(bytes.subarray(offset, offset + size))
    offset += size
  }
  return frames
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replaceAll(/..(?!$)/g, '$& ')
}

export function bytes(text: string): Uint8Array {
  return Buffer.from(text.replaceAll(' ', ''), 'hex')
}
