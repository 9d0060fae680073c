/**
 * Frames that nothing but silence ends. The line tells of the silence by `idle`; whatever came before it is one frame
 * or, if its start or checksum is wrong, none.
 */
import { startsWith } from '../reply.ts'
import type { Checksum } from './checksum.ts'
import type { TraitedFraming } from './traits.ts'

export interface IdleFrames {
  /** Silence that ends a frame, in milliseconds. */
  readonly idleMs: number
  readonly start?: readonly number[]
  readonly checksum?: Checksum
  /** What is longer is dropped whole. */
  readonly lengthMax: number
}

export function idleFrames(options: IdleFrames): TraitedFraming {
  const { idleMs, start = [], checksum, lengthMax } = options
  return {
    key: `idle-frames:${JSON.stringify([idleMs, start, checksum?.key ?? null, lengthMax])}`,
    frameLengthMax: lengthMax,
    idleMs,
    silenceEndsFrame: true,
    shape: startsWith(start),
    checked: checksum !== undefined,
    create(sink) {
      let chunks: Uint8Array[] = []
      let held = 0
      let overflowed = false
      const clear = () => {
        chunks = []
        held = 0
      }
      return {
        push(chunk) {
          if (overflowed || held + chunk.length > lengthMax) {
            sink.error(overflowed ? 'junk' : 'overflow', held + chunk.length)
            overflowed = true
            clear()
            return
          }
          chunks.push(Uint8Array.from(chunk))
          held += chunk.length
        },
        idle() {
          const frame = Uint8Array.from(Buffer.concat(chunks))
          clear()
          overflowed = false
          if (frame.length === 0) return
          if (!start.every((byte, index) => frame[index] === byte)) sink.error('form', frame.length)
          else if (!(checksum?.matches(frame) ?? true)) sink.error('checksum', frame.length)
          else sink.frame(frame)
        },
        reset() {
          clear()
          overflowed = false
        },
        /** Not 0 after an overflow: its end is still to be told. */
        get held() {
          return overflowed ? 1 : held
        },
      }
    },
  }
}
