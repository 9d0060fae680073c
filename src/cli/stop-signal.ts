/**
 * The signals of a command that runs until it is stopped: the first SIGINT or SIGTERM asks it to end in order, one
 * more ends it at once. The same key press may come twice, from the terminal and from a parent that passes it on;
 * that echo is not a second wish.
 */
import type { Clock } from '../clock.ts'
import { FAILED } from './command.ts'
import type { Signal, Terminal } from './terminal.ts'

const ECHO_MS = 300

export interface StopSignal {
  /** Resolves with the first signal. */
  readonly signal: Promise<Signal>
  /** Stops listening. */
  forget(): void
}

export function stopSignal(
  terminal: Pick<Terminal, 'onSignal' | 'exit'>,
  clock: Clock,
  onReload: () => void,
): StopSignal {
  let forget = () => {}
  const signal = new Promise<Signal>((resolve) => {
    let askedAt: number | undefined
    forget = terminal.onSignal((name) => {
      if (name === 'SIGHUP') {
        onReload()
      } else if (askedAt === undefined) {
        askedAt = clock.now()
        resolve(name)
      } else if (clock.now() - askedAt > ECHO_MS) {
        terminal.exit(FAILED)
      }
    })
  })
  return { signal, forget }
}
