/** The device types that a command works with: those of the catalogue, and those of a directory of one's own. */
import { resolve } from 'node:path'
import { loadCatalogue, readCatalogue } from '../driver/catalogue.ts'
import type { DeviceType } from '../driver/device-type.ts'
import { nearest } from '../tool/nearest.ts'
import { CommandFault, type Option, WRONG_USAGE } from './command.ts'
import type { Terminal } from './terminal.ts'

export const OWN_TYPES_OPTION = {
  dir: { type: 'string', value: 'DIR', help: 'a directory of device types of your own' },
} as const satisfies Record<string, Option>

/** One's own go before those of the catalogue. Faulty files are said. */
export async function loadTypes(
  directory: string | undefined,
  terminal: Terminal,
): Promise<ReadonlyMap<string, DeviceType>> {
  const catalogue = await loadCatalogue()
  if (directory === undefined) return catalogue
  let own: Awaited<ReturnType<typeof readCatalogue>>
  try {
    own = await readCatalogue(resolve(terminal.directory, directory))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFault(WRONG_USAGE, `--dir: ${directory} cannot be read (${code ?? 'no reason given'})`)
  }
  for (const { file, message } of own.faults) terminal.complain(`${file}: ${message}`)
  return new Map([...catalogue, ...own.types])
}

export function findType(types: ReadonlyMap<string, DeviceType>, name: string): DeviceType {
  const type = types.get(name)
  if (type) return type
  const near = nearest(name, types.keys())
  const meant = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'See "baudway types".'
  throw new CommandFault(WRONG_USAGE, `There is no device type "${name}". ${meant}`)
}
