/** A terminal that keeps what is printed on it. */
import { readFile } from 'node:fs/promises'
import type { Signal, Terminal } from '../../src/cli/terminal.ts'

export interface FakeTerminal extends Terminal {
  /** Sends a signal to the command. */
  readonly signal: (signal: Signal) => void
  readonly exits: number[]
  readonly printed: string[]
  readonly complained: string[]
}

export function fakeTerminal(parts: Partial<Terminal> & { input?: string } = {}): FakeTerminal {
  const printed: string[] = []
  const complained: string[] = []
  const exits: number[] = []
  const listeners = new Set<(signal: Signal) => void>()
  const { input = '', ...terminal } = parts
  return {
    exits,
    signal: (signal) => {
      for (const listener of listeners) listener(signal)
    },
    onSignal: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    exit: (code) => void exits.push(code),
    printed,
    complained,
    print: (line) => void printed.push(line),
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
