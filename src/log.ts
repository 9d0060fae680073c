/** The log: pino underneath, an interface above, so that a test can look at what was said. */
import { fstatSync } from 'node:fs'
import pino from 'pino'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** A log whose every line carries these fields as well. */
  child(fields: Record<string, unknown>): Log
}

/** `journal`: text whose priority systemd reads, and whose time it knows itself. */
export type LogFormat = 'json' | 'text' | 'journal'

export interface LogOptions {
  /** Default: JSON lines. */
  readonly format?: LogFormat
  /** Of text: the level in its colour. */
  readonly colour?: boolean
  /** Default: stderr, so that stdout stays a command's answer. */
  readonly write?: (line: string) => void
}

export function createLog(level: LogLevel, { format = 'json', colour = false, write }: LogOptions = {}): Log {
  const destination = write ? { write } : pino.destination({ dest: 2, sync: false })
  const options = {
    level,
    base: null,
    redact: { paths: ['token', '*.token', 'password', '*.password'], censor: '[secret]' },
  }
  if (format === 'json') return pino(options, destination)
  return pino(options, { write: (json: string) => destination.write(textLine(json, format, colour)) })
}

/** Where the log of this process goes. */
export interface LogPlace {
  readonly isTerminal: boolean
  /** JOURNAL_STREAM: device and inode of the stream to the journal of systemd. */
  readonly journalStream: string | undefined
}

/** What is wanted, else what suits the place: text for people and the journal, JSON for everything else. */
export function logFormatFor(wanted: 'text' | 'json' | undefined, place: LogPlace): LogFormat {
  const isJournal = place.journalStream !== undefined && place.journalStream === identityOfStderr()
  if (wanted === 'json') return 'json'
  if (isJournal) return 'journal'
  return wanted === 'text' || place.isTerminal ? 'text' : 'json'
}

/** The variable is inherited: it counts only for the stream that it names (systemd.exec(5)). */
function identityOfStderr(): string | undefined {
  try {
    const { dev, ino } = fstatSync(2)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

interface Line {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly [field: string]: unknown
}

/** By pino's level: the word, the priority of syslog(3), the colour of a terminal. */
const LEVELS: Readonly<Record<number, readonly [word: string, priority: number, colour: number]>> = {
  20: ['DEBUG', 7, 2],
  30: ['INFO', 6, 32],
  40: ['WARN', 4, 33],
  50: ['ERROR', 3, 31],
}
const LEVEL_UNKNOWN = ['ERROR', 3, 31] as const
/** Said as the end of the sentence, not as a field. */
const REASONS = ['reason', 'error']
/** What the sentence of a port's state says already, or what the reason names. */
const PORT_STATE = ['port', 'state', 'from', 'path']

function textLine(json: string, format: 'text' | 'journal', colour: boolean): string {
  const { level, time, msg = '', ...fields } = JSON.parse(json) as Line
  const [word, priority, code] = LEVELS[level] ?? LEVEL_UNKNOWN
  const said = sentence(msg, fields)
  if (format === 'journal') return `<${priority}>${said}\n`
  const shown = colour ? `\u001b[${code}m${word}\u001b[0m` : word
  return `${new Date(time).toTimeString().slice(0, 8)} ${shown} ${said}\n`
}

/** `emergency stop (by=owner)`; a new state of a port reads `port bus1 lost: the device hung up`. */
function sentence(message: string, fields: Readonly<Record<string, unknown>>): string {
  const { port, state } = fields
  const isState = typeof port === 'string' && typeof state === 'string'
  const said = isState ? `port ${port} ${state}` : message
  const reasons = REASONS.flatMap((name) => (typeof fields[name] === 'string' ? [fields[name]] : []))
  const known = isState ? [...REASONS, ...PORT_STATE] : REASONS
  const rest = Object.entries(fields).filter(([name, value]) => {
    return !known.includes(name) || (REASONS.includes(name) && typeof value !== 'string')
  })
  const shown = rest.map(([name, value]) => `${name}=${fieldText(value)}`).join(', ')
  return plain([said, ...reasons].join(': ') + (shown === '' ? '' : ` (${shown})`))
}

function fieldText(value: unknown): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(6)))
  return typeof value === 'string' && /^[^\s,()="]+$/.test(value) ? value : JSON.stringify(value)
}

/** What a device said is data: no line of the log may move the cursor, or be more than one line. */
function plain(text: string): string {
  return text.replace(/[\t\n\r]+/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
}

/** Says nothing: the default of the library. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
}
