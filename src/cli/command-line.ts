/** From the words of a command line to an exit code. Only what nobody expected leaves as an exception. */
import { nearest } from '../tool/nearest.ts'
import { VERSION } from '../version.ts'
import { CommandFault, DONE, WRONG_USAGE } from './command.ts'
import { COMMANDS, findCommand } from './commands.ts'
import { commandHelp, overview, usageLine } from './help.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...rest] = words
  switch (first) {
    case undefined:
      for (const line of overview()) terminal.complain(line)
      return WRONG_USAGE
    case '--version':
      terminal.print(VERSION)
      return DONE
    case 'help':
    case '--help':
    case '-h':
      return help(rest, terminal)
    default:
      return wantsHelp(rest) ? help([first], terminal) : run(first, rest, terminal)
  }
}

/** `--help` among the words of a command, up to a `--`. */
function wantsHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h')
}

async function help([name]: readonly string[], terminal: Terminal): Promise<number> {
  const entry = name === undefined ? undefined : findCommand(name)
  if (name !== undefined && !entry) return unknownCommand(name, terminal)
  const lines = entry ? commandHelp(entry.name, entry.summary, await entry.load()) : overview()
  for (const line of lines) terminal.print(line)
  return DONE
}

async function run(name: string, words: readonly string[], terminal: Terminal): Promise<number> {
  const entry = findCommand(name)
  if (!entry) return unknownCommand(name, terminal)
  const command = await entry.load()
  try {
    return await command.execute(words, terminal)
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error
    const [first = '', ...more] = error.message.split('\n')
    terminal.complain(`baudway ${name}: ${first}`)
    for (const line of more) terminal.complain(line)
    if (error.showsUsage) terminal.complain(usageLine(name, command))
    return error.exitCode
  }
}

function unknownCommand(name: string, terminal: Terminal): number {
  const near = nearest(
    name,
    COMMANDS.map((entry) => entry.name),
  )
  const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
  terminal.complain(`baudway: there is no command "${printable(name)}".${meant} See "baudway help".`)
  return WRONG_USAGE
}
