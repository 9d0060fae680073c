/** The help: what commands there are, and what each one takes. It is made of what the commands declare. */
import type { Command, Option } from './command.ts'
import { COMMANDS } from './commands.ts'

export function overview(): readonly string[] {
  return [
    'usage: baudway <command> [options]',
    '',
    ...columns(COMMANDS.map(({ name, summary }) => [name, summary])),
    '',
    ...columns([
      ['help [COMMAND]', 'this help, or that of a command'],
      ['--version', 'print the version'],
    ]),
    '',
    'Exit codes: 0 done, 1 what was asked for failed, 2 wrong usage or an invalid',
    'configuration.',
  ]
}

export function commandHelp(name: string, summary: string, command: Command): readonly string[] {
  const options = Object.entries(command.options).map(
    ([option, spec]) => [optionUsage(option, spec), spec.help] as const,
  )
  return [
    usageLine(name, command),
    '',
    `  ${summary}`,
    ...command.notes.map((note) => `  ${note}`),
    '',
    ...columns([...options, ['--help', 'print this']]),
  ]
}

export function usageLine(name: string, { positionals, options }: Command): string {
  const some = Object.keys(options).length > 0 ? ['[options]'] : []
  return ['usage: baudway', name, ...positionals.names, ...some].join(' ')
}

function optionUsage(name: string, { type, value }: Option): string {
  return type === 'boolean' ? `--${name}` : `--${name} ${value ?? 'VALUE'}`
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
