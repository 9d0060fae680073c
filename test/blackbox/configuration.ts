/** The gateway's configuration of a run: two units on a bus, a device whose replies name their request, and one whose do not. */

/** The devices answer within 500 ms or never; the rest is for the way on a busy machine. */
export const REPLY_LATENCY_MAX_MS = 900
export const DEVICE_LATENCY_MAX_MS = 500
const TIMEOUT_MS = 150

export function configuration(meters: string, board: string, amp: string): string {
  const pace = `timeoutMs: ${TIMEOUT_MS}, replyLatencyMaxMs: ${REPLY_LATENCY_MAX_MS}, gapMs: 1`
  const meter = (address: number) => `
  - id: meter_${address}
    type: modbus
    poll: off
    port: bus
    address: ${address}
    ${pace.replaceAll(', ', '\n    ')}
    registers:
      - { name: word, register: 0, kind: holding, format: uint16, writable: true }
      - { name: long, register: 10, kind: holding, format: uint32, writable: true }`
  const line = (id: string, path: string, isNamed: boolean) => {
    const read = (command: string, name: string) =>
      `{ command: "${command}", reply: "^${isNamed ? `${name}=` : ''}(?<value>[0-9]+)$", returns: { value: integer }, effect: read, parallelSafe: true }`
    const value = 'parameters: { value: { type: integer, minimum: 0 } }'
    const set = (name: string) =>
      `{ command: "SET ${name} {value}", ${value}, reply: "${isNamed ? `^SET ${name} {value}$` : '^OK$'}", effect: set }`
    const nonce = 'nonce: { type: string, maxLength: 40 }'
    const reply = isNamed ? '^ADDED {nonce} (?<value>[0-9]+)$' : '^OK$'
    return `
  - id: ${id}
    type: line
    poll: off
    port: { path: ${path}, baudRate: 115200 }
    terminator: "\\r"
    ${pace.replaceAll(', ', '\n    ')}
    tools:
      read_a: ${read('GET a', 'a')}
      read_b: ${read('GET b', 'b')}
      read_total: ${read('CNT', 'total')}
      set_a: ${set('a')}
      set_b: ${set('b')}
      add: { command: "ADD {amount} {nonce}", parameters: { amount: { type: integer, minimum: 1 }, ${nonce} }, reply: "${reply}"${isNamed ? ', returns: { value: integer }' : ''}, effect: act }`
  }
  return `
ports:
  bus: { path: ${meters}, baudRate: 115200 }
devices:${meter(1)}${meter(2)}${line('board', board, true)}${line('amp', amp, false)}
`
}
