/** A terminal that keeps what is printed on it. */
import { readFile } from 'node:fs/promises'
import type { Terminal } from '../../src/cli/terminal.ts'

export interface FakeTerminal extends Terminal {
  readonly printed: string[]
  readonly complained: string[]
}

export function fakeTerminal(parts: Partial<Terminal> & { input?: string } = {}): FakeTerminal {
  const printed: string[] = []
  const complained: string[] = []
  const { input = '', ...terminal } = parts
  return {
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
