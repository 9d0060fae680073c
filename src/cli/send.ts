/** `baudway send`: raw bytes through the queue of a port, and what comes back. */
import type { SendResult } from '../tool/shapes.ts'
import { readEscapedText, readHex } from './byte-notation.ts'
import { CommandFault, DONE, defineCommand, FAILED, WRONG_USAGE } from './command.ts'
import { findGateway, GATEWAY_OPTIONS } from './gateway-client.ts'
import { hexLines } from './hex-lines.ts'
import { printable, printableJson } from './printable.ts'
import { OUTCOME_COLOURS } from './result-text.ts'
import { coloured } from './terminal.ts'

const WAIT_DEFAULT_MS = 1_000
const WAIT_MAX_MS = 10_000

export const send = defineCommand({
  options: {
    hex: { type: 'string', value: 'HEX', help: 'the bytes in hex, in place of TEXT: "ff 01 86"' },
    wait: { type: 'string', value: 'MS', help: 'how long to listen, 0 to 10000; default 1000' },
    json: { type: 'boolean', help: 'print what HTTP answers' },
    ...GATEWAY_OPTIONS,
  },
  positionals: { min: 1, max: 2, names: ['PORT', '[TEXT]'] },
  notes: [
    'PORT is the id of a port of the running gateway (admin). In TEXT, \\r, \\n, \\t,',
    '\\0 and \\\\ stand for one byte each, and \\xNN for any; nothing is added to it.',
  ],
  run: async (values, [port = '', text], terminal) => {
    const bytes = bytesOf(text, values.hex)
    const waitMs = waitOf(values.wait)
    const gateway = await findGateway(values, terminal)
    const body = { hex: Buffer.from(bytes).toString('hex'), waitMs }
    const result = (await gateway.post(`/v1/ports/${encodeURIComponent(port)}/send`, body)) as SendResult
    if (values.json) {
      terminal.print(printableJson(result))
    } else {
      const { outcome, error, received } = result
      const many = bytes.length === 1 ? '1 byte' : `${bytes.length} bytes`
      terminal.print(`${many}: ${coloured(terminal, OUTCOME_COLOURS[outcome], SENT[outcome])}`)
      if (error) terminal.print(`  ${printable(`${error.code}: ${error.message}`)}`)
      if (error?.hint !== undefined) terminal.print(`  ${printable(error.hint)}`)
      for (const line of hexLines(received, terminal.columns - INDENT.length)) terminal.print(INDENT + line)
      if (received.hex === '' && !error && waitMs > 0) terminal.print(`Nothing came within ${waitMs} ms.`)
    }
    return result.error ? FAILED : DONE
  },
})

const INDENT = '  '
const SENT = {
  executed: 'sent',
  not_executed: 'not sent',
  unknown: 'sent; what the device made of it is unknown',
} as const

function bytesOf(text: string | undefined, hex: string | undefined): Uint8Array {
  if (text !== undefined && hex !== undefined) {
    throw new CommandFault(WRONG_USAGE, 'TEXT and --hex exclude each other')
  }
  if (text === undefined && hex === undefined) {
    throw new CommandFault(WRONG_USAGE, 'What is to be sent is missing: TEXT, or --hex HEX.')
  }
  const reading = hex === undefined ? readEscapedText(text ?? '') : readHex(hex)
  if ('bytes' in reading) return reading.bytes
  throw new CommandFault(WRONG_USAGE, `${hex === undefined ? 'TEXT' : '--hex'}: ${reading.fault}`)
}

function waitOf(text: string | undefined): number {
  if (text === undefined) return WAIT_DEFAULT_MS
  const waitMs = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (waitMs <= WAIT_MAX_MS) return waitMs
  throw new CommandFault(WRONG_USAGE, `--wait: "${text}" is not a number of milliseconds from 0 to 10000`)
}
