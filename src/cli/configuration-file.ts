/**
 * Which configuration is meant, in the order of the contract: the file that is named, `./baudway.yaml`,
 * `/etc/baudway/baudway.yaml`. A file that is there and cannot be used is an error, never a reason to go on looking.
 */
import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Configuration } from '../config/configuration.ts'
import { type Fault, formatFault } from '../config/fault.ts'
import { devicesDirOf, loadConfiguration } from '../config/load.ts'
import { configurableTypes } from '../configurable-types.ts'
import { loadTypes } from '../driver/catalogue.ts'
import type { DeviceType } from '../driver/device-type.ts'
import { messageOf } from '../errors.ts'
import type { ConfigurationReport } from '../tool/home.ts'
import { CommandFault, WRONG_USAGE } from './command.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

export const USUAL_FILES = ['baudway.yaml', '/etc/baudway/baudway.yaml'] as const

/** The file as it is to be shown; undefined: none is named, and none is in the usual places. */
export async function findConfigurationFile(
  named: string | undefined,
  directory: string,
): Promise<string | undefined> {
  if (named !== undefined) return named
  for (const file of USUAL_FILES) {
    if (await isThere(resolve(directory, file))) return file
  }
  return undefined
}

/** A link to nothing is there: somebody has put it there. */
async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** All that is to be said of a file: what `POST /v1/config/check` answers for its text. */
export async function checkConfiguration(
  file: string,
  { directory }: Pick<Terminal, 'directory'>,
): Promise<ConfigurationReport> {
  const path = resolve(directory, file)
  const { configuration, faults, warnings } = await loadConfiguration(
    path,
    configurableTypes(await typesOf(path)),
  )
  return { valid: configuration !== undefined, faults, warnings }
}

export interface ReadConfiguration {
  readonly configuration: Configuration
  /** The catalogue's, and those of the folder that the file names. */
  readonly types: ReadonlyMap<string, DeviceType>
  /** Absolute. */
  readonly path: string
}

/** The configuration of a file; its warnings are said, and its faults end the command. */
export async function readConfiguration(file: string, terminal: Terminal): Promise<ReadConfiguration> {
  const path = resolve(terminal.directory, file)
  const types = await typesOf(path)
  const { configuration, faults, warnings } = await loadConfiguration(path, configurableTypes(types))
  const say = (fault: Fault) => terminal.complain(printable(formatFault({ ...fault, file })))
  for (const warning of warnings) say({ ...warning, message: `warning: ${warning.message}` })
  if (configuration) return { configuration, types, path }
  for (const fault of faults) say(fault)
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  throw new CommandFault(WRONG_USAGE, `${file} has ${count}.`)
}

async function typesOf(path: string): Promise<ReadonlyMap<string, DeviceType>> {
  try {
    return await loadTypes(await devicesDirOf(path))
  } catch (error) {
    throw new CommandFault(WRONG_USAGE, `The device types cannot be used:\n${messageOf(error)}`)
  }
}
