/** The surroundings of a command: where it writes, what it reads, and nothing of the process behind that. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { createLog, type Log, type LogLevel, logFormatFor } from '../log.ts'

export interface Terminal {
  /** A line of the answer, on stdout. */
  readonly print: (line: string) => void
  /** A line of diagnosis, on stderr. */
  readonly complain: (line: string) => void
  /** Whether the answer may be coloured. */
  readonly colour: boolean
  /** Columns of a line; Infinity where nobody looks at it as a screen. */
  readonly columns: number
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly directory: string
  readonly fetch: typeof fetch
  readonly readFile: (path: string) => Promise<string>
  readonly readStandardInput: () => Promise<string>
  /** The log of a long-running command. */
  readonly createLog: (wanted?: LogWanted) => Log
  /** Listens to the signals that a long-running command handles; answers how to stop listening. */
  readonly onSignal: (listener: (signal: Signal) => void) => () => void
  /** Ends the process at once. */
  readonly exit: (code: number) => void
}

export interface LogWanted {
  /** Default: what suits the place that it goes to. */
  readonly format?: 'text' | 'json'
  /** Default: info. */
  readonly level?: LogLevel
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export type Signal = (typeof SIGNALS)[number]

const COLUMNS_DEFAULT = 80

/** The terminal of this process. Colour only where a person looks, and not against NO_COLOR (no-color.org). */
export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process
  const seen = stdout.isTTY === true
  return {
    print: (line) => void stdout.write(`${line}\n`),
    complain: (line) => void stderr.write(`${line}\n`),
    colour: seen && !env.NO_COLOR && env.TERM !== 'dumb',
    columns: seen ? (stdout.columns ?? COLUMNS_DEFAULT) : Number.POSITIVE_INFINITY,
    environment: env,
    directory: process.cwd(),
    fetch,
    readFile: (path) => readFile(path, 'utf8'),
    readStandardInput: () => text(process.stdin),
    createLog: ({ format, level = 'info' } = {}) => {
      const isTerminal = stderr.isTTY === true
      const place = { isTerminal, journalStream: env.JOURNAL_STREAM }
      return createLog(level, {
        format: logFormatFor(format, place),
        colour: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
      })
    },
    onSignal: (listener) => {
      for (const signal of SIGNALS) process.on(signal, listener)
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener)
      }
    },
    exit: (code) => process.exit(code),
  }
}

const COLOURS = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const

export type Colour = keyof typeof COLOURS

export function coloured(
  terminal: Pick<Terminal, 'colour'>,
  colour: Colour | undefined,
  line: string,
): string {
  return terminal.colour && colour ? `\u001b[${COLOURS[colour]}m${line}\u001b[0m` : line
}
