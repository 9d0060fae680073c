/** What a framing promises of its frames, beyond where they end: drivers build their reply shapes on it. */
import type { Framing } from '../framing.ts'
import { ANY_SHAPE, type ReplyShape } from '../reply.ts'

export interface TraitedFraming extends Framing {
  /** What every frame has. */
  readonly shape: ReplyShape
  /** A frame that was damaged on the wire is found out by its checksum. */
  readonly checked: boolean
}

/** The traits of any framing; one that promises nothing has any shape and is not checked. */
export function traitsOf(framing: Framing | TraitedFraming): Pick<TraitedFraming, 'shape' | 'checked'> {
  return 'shape' in framing ? framing : { shape: ANY_SHAPE, checked: false }
}
