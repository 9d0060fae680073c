/**
 * NMEA 0183 sentences, `$…*hh` on a line of their own. A sentence is published only if its checksum is there and
 * right; what stands before its `$` on the line, as after a lost line end, is no part of it.
 */
import type { FrameSink } from '../framing.ts'
import { startsWith } from '../reply.ts'
import { lines } from './lines.ts'
import type { TraitedFraming } from './traits.ts'

/** The standard has 82, and receivers with more digits than its authors foresaw go beyond it. */
const SENTENCE_LENGTH_MAX = 160

const DOLLAR = 0x24
const ASTERISK = 0x2a

/** Frames are sentences from `$` to the second digit of the checksum. */
export function nmea(): TraitedFraming {
  const cut = lines({ terminator: 'auto', lengthMax: SENTENCE_LENGTH_MAX })
  return {
    key: 'nmea-0183',
    frameLengthMax: cut.frameLengthMax,
    silenceEndsFrame: false,
    shape: startsWith([DOLLAR]),
    checked: true,
    create: (sink) =>
      cut.create({
        frame: (line) => takeLine(line, sink),
        error: (kind, length) => sink.error(kind, length),
      }),
  }
}

function takeLine(line: Uint8Array, sink: FrameSink): void {
  const start = line.lastIndexOf(DOLLAR)
  const junk = start === -1 ? line.length : start
  if (junk > 0) sink.error('junk', junk)
  if (start === -1) return
  const sentence = line.subarray(start)
  const stated = statedChecksum(sentence)
  if (stated === undefined) sink.error('form', sentence.length)
  else if (stated !== checksumOf(sentence)) sink.error('checksum', sentence.length)
  else sink.frame(new Uint8Array(sentence))
}

/** Undefined: the sentence does not end in an asterisk and two hexadecimal digits. */
function statedChecksum(sentence: Uint8Array): number | undefined {
  if (sentence.at(-3) !== ASTERISK) return undefined
  const digits = Buffer.from(sentence.subarray(-2)).toString('latin1')
  return /^[0-9A-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

/** Exclusive or of everything between `$` and `*`. */
function checksumOf(sentence: Uint8Array): number {
  let sum = 0
  for (const byte of sentence.subarray(1, -3)) sum ^= byte
  return sum
}
