/** What an ear hears of a burst: a line drops and changes bytes, and a wrong setting makes noise of all of them. */
import type { LineSettings } from '../port/request.ts'
import { arrivedAt, type Burst, slice } from './burst.ts'

/** What becomes of one byte: another value, or null where it is lost. */
export type ByteFate = (value: number, at: number) => number | null

/** How far two clocks may be apart until the stop bit is missed: half a bit in ten. */
const BAUD_RATE_TOLERANCE = 0.05

/** Whether one side understands what the other sends. Stop bits do not matter: an ear checks only the first. */
export function settingsAgree(one: LineSettings, other: LineSettings): boolean {
  return (
    Math.abs(one.baudRate / other.baudRate - 1) < BAUD_RATE_TOLERANCE &&
    one.dataBits === other.dataBits &&
    one.parity === other.parity
  )
}

/** Bytes as a wrong setting makes them: anything above ASCII, so never the end of a text line. */
export function noise(random: () => number): ByteFate {
  return () => 0x80 | Math.floor(random() * 0x80)
}

/** The burst after that fate: in pieces where bytes are lost, each byte at its own time. */
export function heard(burst: Burst, fate: ByteFate): Burst[] {
  const bytes = new Uint8Array(burst.bytes.length)
  const pieces: Burst[] = []
  let from = 0
  for (const [index, sent] of burst.bytes.entries()) {
    const value = fate(sent, arrivedAt(burst, index))
    if (value !== null) {
      bytes[index] = value
      continue
    }
    if (index > from) pieces.push(slice({ ...burst, bytes }, from, index))
    from = index + 1
  }
  if (bytes.length > from) pieces.push(slice({ ...burst, bytes }, from, bytes.length))
  return pieces
}
