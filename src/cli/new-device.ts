/** `baudway new-device`: a device file that works, and its test, to be changed into one's own. */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadConfiguration } from '../config/load.ts'
import { configurableTypes } from '../configurable-types.ts'
import { loadCatalogue } from '../driver/catalogue.ts'
import { CommandFault, DONE, defineCommand, FAILED, WRONG_USAGE } from './command.ts'
import { findConfigurationFile } from './configuration-file.ts'
import { deviceFile } from './device-template/device-file.ts'
import { modbusDeviceFile } from './device-template/modbus-device-file.ts'
import { modbusTestFile } from './device-template/modbus-test-file.ts'
import { testFile } from './device-template/test-file.ts'
import { printableJson } from './printable.ts'
import type { Terminal } from './terminal.ts'

export const newDevice = defineCommand({
  options: {
    dir: { type: 'string', value: 'DIR', help: 'default devicesDir of the configuration, else ./devices' },
    modbus: { type: 'boolean', help: 'a device of Modbus RTU with an address, instead of lines of text' },
    js: { type: 'boolean', help: 'JavaScript, which every Node loads without a build' },
    json: { type: 'boolean', help: 'print the files as JSON' },
  },
  positionals: { min: 1, max: 1, names: ['NAME'] },
  notes: [
    'NAME is lower-case words joined by hyphens: my-sensor. It writes NAME.ts and',
    'NAME.test.ts; in a checkout of Baudway the test goes to test/devices.',
    'A file that is there already is never overwritten.',
  ],
  run: async (values, [name = ''], terminal) => {
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
      throw new CommandFault(
        WRONG_USAGE,
        `NAME: "${name}" is not lower-case words joined by hyphens: my-sensor`,
      )
    }
    if ((await loadCatalogue()).has(name)) {
      throw new CommandFault(
        WRONG_USAGE,
        `The catalogue has a device type ${name} already: choose another NAME.`,
      )
    }
    const directory = resolve(terminal.directory, values.dir ?? (await usualDirectory(terminal)))
    const files = filesOf(name, directory, values)
    await writeAll(files, terminal)
    const shown = files.map(({ path }) => pathText(path, terminal))
    if (values.json) {
      terminal.print(printableJson({ type: name, files: files.map(({ path }) => path) }))
      return DONE
    }
    for (const path of shown) terminal.print(`wrote ${path}`)
    for (const line of nextSteps(name, files, values.modbus === true, terminal)) terminal.print(line)
    return DONE
  },
})

interface NewFile {
  readonly path: string
  readonly text: string
}

async function usualDirectory(terminal: Terminal): Promise<string> {
  const file = await findConfigurationFile(undefined, terminal.directory)
  if (file === undefined) return 'devices'
  const types = configurableTypes(await loadCatalogue())
  const { configuration } = await loadConfiguration(resolve(terminal.directory, file), types)
  return configuration?.devicesDir ?? 'devices'
}

/** In the folder of the catalogue itself the test goes where its tests are, and both are TypeScript. */
function filesOf(
  name: string,
  directory: string,
  { js, modbus }: { readonly js?: boolean; readonly modbus?: boolean },
): readonly [NewFile, NewFile] {
  const [deviceText, testText] = modbus ? [modbusDeviceFile, modbusTestFile] : [deviceFile, testFile]
  const root = dirname(directory)
  if (isCheckout(root) && relative(root, directory) === 'devices') {
    const words = { name, deviceFile: `../../devices/${name}.ts`, contract: '../../src/driver/contract.ts' }
    return [
      { path: join(directory, `${name}.ts`), text: deviceText({ name, device: '#device' }) },
      { path: join(root, 'test/devices', `${name}.test.ts`), text: testText(words) },
    ]
  }
  const ending = js ? 'mjs' : 'ts'
  const words = { name, deviceFile: `./${name}.${ending}`, contract: undefined }
  return [
    { path: join(directory, `${name}.${ending}`), text: deviceText({ name, device: 'baudway/device' }) },
    { path: join(directory, `${name}.test.${ending}`), text: testText(words) },
  ]
}

function isCheckout(directory: string): boolean {
  try {
    const { name } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { name?: unknown }
    return name === 'baudway'
  } catch {
    return false
  }
}

/** The device first; nothing is written if one of them is there. */
async function writeAll(files: readonly NewFile[], terminal: Terminal): Promise<void> {
  for (const { path } of files) {
    if (isThere(path)) {
      const shown = pathText(path, terminal)
      throw new CommandFault(FAILED, `${shown} is there already. Choose another NAME, or another --dir.`)
    }
  }
  for (const { path, text } of files) {
    try {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text, { flag: 'wx' })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new CommandFault(FAILED, `${path} cannot be written (${code ?? 'no reason given'}).`)
    }
  }
}

function isThere(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Every command from here to the running device. No runner of tests looks at types: that is a step of its own. */
function nextSteps(
  name: string,
  [device, test]: readonly [NewFile, NewFile],
  isAddressed: boolean,
  terminal: Terminal,
): readonly string[] {
  const path = pathText(test.path, terminal)
  const keys = `{ id: ${name.replaceAll('-', '_')}, type: ${name}, ${isAddressed ? 'address: 1, ' : ''}port: { path: simulated } }`
  if (test.text.includes("from 'vitest'")) {
    return [
      '',
      'Types:    npm run types',
      `Test:     npx vitest run --project unit ${path}`,
      'Build:    npm run build',
      'Grade:    npx baudway types',
      `Use:      - ${keys}`,
      '          below "devices:" in baudway.yaml',
      'Check:    npx baudway check',
      ...guides(terminal),
    ]
  }
  const isTyped = device.path.endsWith('.ts')
  return [
    '',
    ...(isTyped ? [`Types:    ${typesCommand(device.path, terminal)}`] : []),
    `Test:     ${isTyped ? 'npx tsx' : 'node'} --test ${path}`,
    `Use:      devicesDir: ${dirname(device.path)}`,
    `          devices: [${keys}]`,
    'Check:    npx baudway check',
    ...guides(terminal),
    ...(isTyped && !loadsTypeScript()
      ? [`This Node (${process.version}) loads no TypeScript: compile it, or use --js.`]
      : []),
  ]
}

/** A project has its own settings, and the compiler takes either these or the names of files. */
function typesCommand(file: string, terminal: Terminal): string {
  if (isThere(join(terminal.directory, 'tsconfig.json'))) return 'npx tsc --noEmit'
  return `npx tsc --noEmit --strict --target es2022 --module nodenext ${pathText(file, terminal)}`
}

/** The documentation lies beside `src` in a checkout, and beside `dist` in an installed package. */
function guides(terminal: Terminal): readonly string[] {
  const here = dirname(fileURLToPath(import.meta.url))
  const folder = ['../../docs', '../../../docs'].map((place) => join(here, place)).find(isThere)
  if (folder === undefined) return []
  return [
    `Guide:    ${pathText(join(folder, 'adding-a-device.md'), terminal)}`,
    `Imports:  ${pathText(join(folder, 'device-api.md'), terminal)}`,
  ]
}

/** Node from 22.18 on. */
function loadsTypeScript(): boolean {
  return 'typescript' in process.features && Boolean(process.features.typescript)
}

function pathText(path: string, { directory }: Terminal): string {
  const below = relative(directory, path)
  return below.startsWith('..') ? path : below
}
