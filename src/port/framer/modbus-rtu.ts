/**
 * Modbus RTU frames. The protocol ends a frame by 3.5 characters of silence, which neither USB adapters nor
 * operating systems preserve; so the length comes from the function code and the byte count, and the CRC decides.
 * Any unit is taken: boards answer as F8, FE and FF as well as from the standard's 1 to 247.
 */
import { crc16modbus } from './checksum.ts'
import { type FrameRule, frameSearch, NO_FRAME, UNDECIDED } from './frame-search.ts'
import type { TraitedFraming } from './traits.ts'

/** The longest frame of the standard: unit, 253 bytes of PDU, CRC. */
export const MODBUS_FRAME_MAX = 256

/** How long a frame of one function is: always the same, or `base` plus the count that stands at `countAt`. */
type LengthRule =
  | { readonly length: number }
  | { readonly base: number; readonly countAt: number; readonly even: boolean }

const COUNTED_BITS: LengthRule = { base: 5, countAt: 2, even: false }
const COUNTED_REGISTERS: LengthRule = { base: 5, countAt: 2, even: true }
const EXCEPTION: LengthRule = { length: 5 }

const REPLIES: readonly (readonly [functionCode: number, rule: LengthRule])[] = [
  [0x01, COUNTED_BITS],
  [0x02, COUNTED_BITS],
  [0x03, COUNTED_REGISTERS],
  [0x04, COUNTED_REGISTERS],
  [0x05, { length: 8 }],
  [0x06, { length: 8 }],
  [0x07, { length: 5 }],
  [0x08, { length: 8 }],
  [0x0f, { length: 8 }],
  [0x10, { length: 8 }],
  [0x16, { length: 10 }],
  [0x17, COUNTED_REGISTERS],
  // Peacefair's reset of the energy counter: nothing but the function, both ways.
  [0x42, { length: 4 }],
]

const REQUESTS: readonly (readonly [functionCode: number, rule: LengthRule])[] = [
  [0x01, { length: 8 }],
  [0x02, { length: 8 }],
  [0x03, { length: 8 }],
  [0x04, { length: 8 }],
  [0x05, { length: 8 }],
  [0x06, { length: 8 }],
  [0x07, { length: 4 }],
  [0x08, { length: 8 }],
  [0x0f, { base: 9, countAt: 6, even: false }],
  [0x10, { base: 9, countAt: 6, even: true }],
  [0x16, { length: 10 }],
  [0x17, { base: 13, countAt: 10, even: true }],
  [0x42, { length: 4 }],
]

/** What the master receives. */
export function modbusRtu(): TraitedFraming {
  return framing('modbus-rtu', ruleOf([...REPLIES, ...exceptionsOf(REPLIES)]))
}

/** What a device receives: for simulators. */
export function modbusRtuRequests(): TraitedFraming {
  return framing('modbus-rtu-requests', ruleOf(REQUESTS))
}

function exceptionsOf(replies: typeof REPLIES): readonly (readonly [number, LengthRule])[] {
  return replies.map(([functionCode]) => [functionCode | 0x80, EXCEPTION] as const)
}

function framing(key: string, rule: FrameRule): TraitedFraming {
  return {
    key,
    frameLengthMax: MODBUS_FRAME_MAX,
    silenceEndsFrame: true,
    shape: { bytes: [] },
    checked: true,
    create: (sink) => frameSearch(rule, sink),
  }
}

function ruleOf(rules: readonly (readonly [number, LengthRule])[]): FrameRule {
  const byFunction: (LengthRule | undefined)[] = new Array(256).fill(undefined)
  for (const [functionCode, rule] of rules) byFunction[functionCode] = rule
  const crc = crc16modbus({ from: 0 })
  return {
    lengthAt(bytes, offset) {
      const functionCode = bytes[offset + 1]
      if (functionCode === undefined) return UNDECIDED
      const rule = byFunction[functionCode]
      if (rule === undefined) return NO_FRAME
      if ('length' in rule) return rule.length
      const count = bytes[offset + rule.countAt]
      if (count === undefined) return UNDECIDED
      const length = rule.base + count
      const plausible = count > 0 && length <= MODBUS_FRAME_MAX && !(rule.even && count % 2 === 1)
      return plausible ? length : NO_FRAME
    },
    valid: (frame) => crc.matches(frame),
  }
}
