/**
 * The catalogue is a folder: every device file in it is a type, and nothing else lists them. It works on the sources
 * (under a TypeScript loader) and on the build alike.
 */
import { readdir } from 'node:fs/promises'
import { register } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { messageOf } from '../errors.ts'
import type { DeviceType } from './device-type.ts'

/** A device file that is no device type, and why. */
export interface CatalogueFault {
  readonly file: string
  readonly message: string
}

/** The folder beside this file's own, in the sources and in the build. */
const OWN_DIRECTORY = fileURLToPath(new URL('../../devices', import.meta.url))

const DEVICE_FILE = /^([a-z0-9-]+)\.(?:ts|js|mjs)$/

/** The types of a folder by name. Rejects with one error that names every broken file. */
export async function loadCatalogue(
  directory: string = OWN_DIRECTORY,
): Promise<ReadonlyMap<string, DeviceType>> {
  const { types, faults } = await readCatalogue(directory)
  if (faults.length > 0) {
    throw new Error(faults.map(({ file, message }) => `${file}: ${message}`).join('\n'))
  }
  return types
}

let isResolverRegistered = false

/** From now on every module of the process finds `baudway/device`, wherever it lies. */
function registerResolver(): void {
  if (isResolverRegistered) return
  isResolverRegistered = true
  // The build has `.js` files, the sources `.ts` files.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const deviceUrl = new URL(`./device.${extension}`, import.meta.url).href
  register(`./device-resolver.${extension}`, { parentURL: import.meta.url, data: { deviceUrl } })
}

/**
 * The catalogue's types together with those of a folder of the user's, whose files are plain JavaScript. Rejects with
 * one error that names every broken file, and every type that the catalogue has already.
 */
export async function loadTypes(devicesDir: string | undefined): Promise<ReadonlyMap<string, DeviceType>> {
  const own = await loadCatalogue()
  if (devicesDir === undefined) return own
  registerResolver()
  const { types, faults } = await readCatalogue(devicesDir)
  const clashes = [...types.keys()].filter((type) => own.has(type))
  const messages = [
    ...faults.map(({ file, message }) => `${file}: ${message}`),
    ...clashes.map((type) => `${join(devicesDir, type)}: the catalogue has a type "${type}" already`),
  ]
  if (messages.length > 0) throw new Error(messages.join('\n'))
  return new Map([...own, ...types])
}

/** The types of a folder that can be used, in the order of their names, and the faults of the others. */
export async function readCatalogue(
  directory: string,
): Promise<{ types: ReadonlyMap<string, DeviceType>; faults: readonly CatalogueFault[] }> {
  const types = new Map<string, DeviceType>()
  const faults: CatalogueFault[] = []
  for (const name of (await readdir(directory)).sort()) {
    const type = DEVICE_FILE.exec(name)?.[1]
    if (type === undefined) continue
    const file = join(directory, name)
    try {
      const loaded = deviceTypeOf(await import(pathToFileURL(file).href))
      if (typeof loaded === 'string') faults.push({ file, message: loaded })
      else if (loaded.type !== type)
        faults.push({ file, message: `its type is "${loaded.type}", not "${type}"` })
      else if (types.has(type)) faults.push({ file, message: `there are two files of the type "${type}"` })
      else types.set(type, loaded)
    } catch (thrown) {
      faults.push({ file, message: messageOf(thrown) })
    }
  }
  return { types, faults }
}

/** The default export, or what is wrong with it. */
function deviceTypeOf(module: unknown): DeviceType | string {
  const exported =
    typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
  const isType =
    typeof exported === 'object' &&
    exported !== null &&
    'type' in exported &&
    typeof exported.type === 'string' &&
    'describe' in exported &&
    typeof exported.describe === 'function'
  return isType ? (exported as DeviceType) : 'its default export is no device type: use defineDevice'
}
