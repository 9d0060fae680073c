/** A terminal that keeps what is printed on it. */
import { readFile } from 'node:fs/promises'
import type { Signal, Terminal } from '../../src/cli/terminal.ts'
import { silentLog } from '../../src/log.ts'

export interface FakeTerminal extends Terminal {
  /** Sends a signal to the command. */
  readonly signal: (signal: Signal) => void
  readonly exits: number[]
  readonly printed: string[]
  readonly complained: string[]
  /** The first line of the answer, once there is one. */
  readonly firstLine: Promise<string>
}

export function fakeTerminal(parts: Partial<Terminal> & { input?: string } = {}): FakeTerminal {
  const printed: string[] = []
  const complained: string[] = []
  const exits: number[] = []
  const listeners = new Set<(signal: Signal) => void>()
  const { input = '', ...terminal } = parts
  let announce: (line: string) => void = () => {}
  const firstLine = new Promise<string>((resolve) => {
    announce = resolve
  })
  return {
    exits,
    firstLine,
    signal: (signal) => {
      for (const listener of listeners) listener(signal)
    },
    onSignal: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    createLog: () => silentLog,
    exit: (code) => void exits.push(code),
    printed,
    complained,
    print: (line) => {
      printed.push(line)
      announce(line)
    },
    complain: (line) => void complained.push(line),
    colour: false,
    columns: 80,
    environment: {},
    directory: '/nowhere',
    fetch,
    readFile: (path) => readFile(path, 'utf8'),
    readStandardInput: async () => input,
    ...terminal,
  }
}
