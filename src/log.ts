/** The log: pino underneath, an interface above, so that a test can look at what was said. */
import pino from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** A log whose every line carries these fields as well. */
  child(fields: Record<string, unknown>): Log
}

/** JSON lines on stderr, so that stdout stays a command's answer. */
export function createLog(level: LogLevel): Log {
  return pino(
    {
      level,
      base: null,
      redact: { paths: ['token', '*.token', 'password', '*.password'], censor: '[secret]' },
    },
    pino.destination({ dest: 2, sync: false }),
  )
}

/** Says nothing: the default of the library. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
}
