/** docs/device-api.md lists what a device file may import, no more and no less, with signatures that the compiler takes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { page, ROOT, tableBelow } from './pages.ts'
import { createWorkspace, runTool } from './workspace.ts'

const PATH = 'docs/device-api.md'

/** What `src/driver/device.ts` exports, with whether it is a mere type. */
function exported(): ReadonlyMap<string, { readonly isType: boolean }> {
  const source = readFileSync(join(ROOT, 'src/driver/device.ts'), 'utf8')
  const names = new Map<string, { isType: boolean }>()
  for (const [, type, list = ''] of source.matchAll(/^export (type )?\{([^}]*)\} from/gm)) {
    for (const entry of list.split(',').map((one) => one.trim())) {
      const name = entry.replace(/^type /, '')
      if (name !== '') names.set(name, { isType: type !== undefined || entry !== name })
    }
  }
  if (/^export (?!(type )?\{)/m.test(source)) throw new Error('device.ts exports what is not read here')
  return names
}

interface Row {
  readonly name: string
  /** `V` of `Exchange<V>`. */
  readonly parameter: string | undefined
  /** Undefined: it is a link to where it is told. */
  readonly signature: string | undefined
}

/** The rows of every table whose first column is an export. */
function rows(): readonly Row[] {
  const { text } = page(PATH)
  const tables = text.split(/^\| export \| signature \| .*\n\|---\|---\|---\|\n/m).slice(1)
  return tables.flatMap((table) => {
    const lines = table.slice(0, table.search(/^(?!\|)/m)).split('\n')
    return lines.filter((line) => line !== '').map(rowOf)
  })
}

function rowOf(line: string): Row {
  const [, first = '', second = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
  const [, name, parameter] = /^`(\w+)(?:<(\w+)>)?`$/.exec(first) ?? []
  if (name === undefined) throw new Error(`${line}: no name of an export`)
  return { name, parameter, signature: /^`(.*)`$/.exec(second)?.[1]?.replaceAll('\\|', '|') }
}

const workspace = createWorkspace()
afterAll(() => workspace.remove())

describe('the page of what a device file imports', () => {
  it('has each export once, and nothing else', () => {
    const names = rows().map(({ name }) => name)
    expect(names.length).toBeGreaterThan(90)
    expect(names.toSorted()).toEqual([...exported().keys()].toSorted())
  })

  it('says of each what it takes, or where that is told', () => {
    const untold = rows().filter(({ signature }) => signature === undefined)
    const told = ['Command', 'GatewayError', 'Type', 'command', 'defineDevice', 'nullable']
    expect(untold.map(({ name }) => name).toSorted()).toEqual(told)
  })

  it('has signatures and keys that are those of the code', { timeout: 120_000 }, async () => {
    workspace.write('check.ts', program())
    const compilerOptions = {
      preserveSymlinks: true,
      rootDir: '../..',
      noUnusedLocals: false,
      paths: { '@serialport/binding-mock': ['../../node_modules/@serialport/binding-mock/dist/index.d.ts'] },
    }
    const include = ['../../src/**/*.d.ts']
    const config = { extends: '../../tsconfig.json', compilerOptions, include, files: ['check.ts'] }
    workspace.write('tsconfig.json', JSON.stringify(config))
    const found = await runTool(workspace.folder, 'typescript/lib/tsc.js', ['-p', '.'])
    expect(found).toEqual({ code: 0, said: '' })
  })
})

const optional = (key: string) => key.endsWith('?')
const bare = (key: string) => key.replace('?', '')

/** A program that compiles only if every signature fits its export both ways, and every list of keys is whole. */
function program(): string {
  const names = exported()
  const types = [...names].filter(([, { isType }]) => isType).map(([name]) => name)
  const checks = rows().flatMap(({ name, parameter, signature }) => {
    if (signature === undefined) return []
    const isType = names.get(name)?.isType === true
    if (isType && signature.startsWith('{')) {
      const type = parameter === undefined ? name : `${name}<unknown>`
      return keysCheck(name, type, signature.replaceAll(/[{}\s]/g, '').split(','))
    }
    const value = isType ? `({} as ${name})` : `device.${name}`
    const type = isType ? name : `typeof device.${name}`
    const back =
      isType || signature.includes('=>') ? [`export const ${name}_back: ${type} = {} as (${signature})`] : []
    return [`export const ${name}_is: ${signature} = ${value}`, ...back]
  })
  const ofTables = [
    keysCheck(
      'defineDevice',
      'StaticDeviceSpec | ConfigurableDeviceSpec<TObject>',
      keysBelow('Keys of defineDevice'),
    ),
    keysCheck('command', 'device.Command', keysBelow('Keys of command')),
  ]
  return [
    "import * as device from '#device'",
    `import type { ${types.join(', ')} } from '#device'`,
    "import type { TObject, TProperties, TSchema } from 'typebox'",
    "import type { ConfigurableDeviceSpec, StaticDeviceSpec } from './src/driver/define-device.ts'",
    "import type { TraitedFraming as Framing } from './src/port/framer/traits.ts'",
    'type KeysOf<T> = T extends unknown ? keyof T : never',
    // Of several forms, a key may be left out if one of them lets it be, or does not have it.
    'type Optional<T> = T extends unknown ? { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T] : never',
    ...checks,
    ...ofTables.flat(),
    '',
  ].join('\n')
}

function keysBelow(heading: string): readonly string[] {
  return tableBelow(PATH, heading).map(([key = '']) => key.replaceAll('`', ''))
}

function keysCheck(name: string, type: string, keys: readonly string[]): readonly string[] {
  const record = keys.map((key) => `${bare(key)}: true`).join(', ')
  const quoted = (some: readonly string[]) => some.map((key) => `'${bare(key)}'`)
  const required = quoted(keys.filter((key) => !optional(key)))
  const left = quoted(keys.filter(optional))
  return [
    `export const ${name}_keys: Record<KeysOf<${type}>, true> = { ${record} }`,
    // Nothing that may be left out is said to be required, and the other way round.
    `export const ${name}_required: Exclude<KeysOf<${type}>, Optional<${type}>>[] = [${required.join(', ')}]`,
    `export const ${name}_optional: (Optional<${type}> | Exclude<KeysOf<${type}>, keyof (${type})>)[] = [${left.join(', ')}]`,
  ]
}
