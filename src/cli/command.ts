/** What a command is made of, and how its arguments are read: nothing is dropped, and what is wrong is named. */
import { parseArgs } from 'node:util'
import { nearestName } from '../config/near-names.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

/** Exit codes: done, the thing asked for failed, wrong usage or an invalid configuration. */
export const DONE = 0
export const FAILED = 1
export const WRONG_USAGE = 2

/** Ends a command with a message on stderr. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault'
  readonly exitCode: typeof FAILED | typeof WRONG_USAGE
  /** The words of the command line themselves were wrong. */
  showsUsage = false

  constructor(exitCode: typeof FAILED | typeof WRONG_USAGE, ...lines: readonly string[]) {
    super(lines.join('\n'))
    this.exitCode = exitCode
  }
}

/** The words of the command line are wrong: shows the usage as well. */
function usageFault(message: string): CommandFault {
  const fault = new CommandFault(WRONG_USAGE, message)
  fault.showsUsage = true
  return fault
}

export interface Option {
  readonly type: 'string' | 'boolean'
  /** What stands for the value in the help. */
  readonly value?: string
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name]['type'] extends 'boolean' ? boolean : string
}

export interface CommandSpec<O extends Options> {
  readonly options: O
  /** How many arguments beside the options it takes, and what they are called. */
  readonly positionals: { readonly min: number; readonly max: number; readonly names: readonly string[] }
  /** More for its help, by line. */
  readonly notes?: readonly string[]
  /** Answers the exit code. */
  readonly run: (values: Values<O>, positionals: readonly string[], terminal: Terminal) => Promise<number>
}

export interface Command {
  readonly options: Options
  readonly positionals: CommandSpec<Options>['positionals']
  readonly notes: readonly string[]
  readonly execute: (args: readonly string[], terminal: Terminal) => Promise<number>
}

/** A command in the list of all, loaded when it is asked for. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

export function defineCommand<const O extends Options>(spec: CommandSpec<O>): Command {
  return {
    options: spec.options,
    positionals: spec.positionals,
    notes: spec.notes ?? [],
    execute: async (args, terminal) => {
      const { values, positionals } = parse(args, spec.options)
      const { min, max, names } = spec.positionals
      if (positionals.length < min)
        throw usageFault(`${names[positionals.length] ?? 'an argument'} is missing`)
      if (positionals.length > max) {
        const extra = positionals.slice(max).join(' ')
        const hint = 'config' in spec.options ? ` (a configuration is named with --config ${extra})` : ''
        throw usageFault(max === 0 ? `takes no arguments: ${extra}${hint}` : `too many arguments: ${extra}`)
      }
      return spec.run(values as Values<O>, positionals, terminal)
    },
  }
}

/** The library says it in words for programmers. */
function refuseUnknown(args: readonly string[], config: Record<string, { type: Option['type'] }>): void {
  const { tokens } = parseArgs({
    args: [...args],
    options: config,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option' || Object.hasOwn(config, token.name)) continue
    const names = Object.keys(config)
    const near = nearestName(token.name, names)
    const has = names.map((name) => `--${name}`).join(', ')
    const hint = near === undefined ? `it has ${has}` : `did you mean --${near}?`
    throw usageFault(`there is no option ${printable(token.rawName)} (${hint})`)
  }
}

/** Strict: an unknown option, a value too few, or an option that is given twice is wrong usage. */
function parse(args: readonly string[], options: Options) {
  const config: Record<string, { type: Option['type'] }> = {}
  for (const [name, { type }] of Object.entries(options)) config[name] = { type }
  refuseUnknown(args, config)
  try {
    const parsed = parseArgs({
      args: [...args],
      options: config,
      allowPositionals: true,
      strict: true,
      tokens: true,
    })
    const given = new Set<string>()
    for (const token of parsed.tokens) {
      if (token.kind !== 'option') continue
      if (given.has(token.name)) throw usageFault(`--${token.name} is given twice`)
      given.add(token.name)
    }
    return parsed
  } catch (error) {
    if (error instanceof TypeError) throw usageFault(error.message)
    throw error
  }
}
