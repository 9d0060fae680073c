/** Reads the requests of simulated calls as the far end does: which unit, which command, whose call. */
import type { Command, LineKind } from './plan.ts'

export interface SeenRequest {
  /** On a bus; 0 on a line of text. */
  readonly unit: number
  readonly command: Command | 'level' | 'last'
  /** Undefined: the request has no room for it. */
  readonly nonce: number | undefined
}

const BUS_FUNCTIONS: Readonly<Record<number, Command>> = { 3: 'read', 4: 'read_serial', 5: 'act', 6: 'set' }
const TEXT_WORDS: Readonly<Record<string, Command>> = {
  R: 'read',
  G: 'read_serial',
  Q: 'ask',
  S: 'set',
  D: 'act',
  X: 'act_read_back',
}

export function requestOf(kind: LineKind, bytes: Uint8Array): SeenRequest | undefined {
  return kind === 'bus' ? busRequest(bytes) : textRequest(bytes)
}

/** Unit, function, address, count or value, CRC. The address is the nonce; 0 is a poll. */
function busRequest(bytes: Uint8Array): SeenRequest | undefined {
  const [unit, functionCode, high, low] = bytes
  if (unit === undefined || functionCode === undefined || high === undefined || low === undefined)
    return undefined
  const command = BUS_FUNCTIONS[functionCode]
  if (!command) return undefined
  const nonce = high * 256 + low
  return { unit, nonce, command: nonce === 0 ? 'level' : command }
}

/** A letter and the nonce; `L` asks for the last act. */
function textRequest(bytes: Uint8Array): SeenRequest | undefined {
  const text = Buffer.from(bytes).toString('latin1').trim()
  if (text === 'L') return { unit: 0, command: 'last', nonce: undefined }
  const [, word = '', digits] = /^([A-Z]) ([0-9]+)$/.exec(text) ?? []
  const command = TEXT_WORDS[word]
  if (!command) return undefined
  const nonce = Number(digits)
  return { unit: 0, nonce, command: nonce === 0 ? 'level' : command }
}
