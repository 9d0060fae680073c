/** The code of the documentation is code: programs type-check, data parses, configurations are valid. */
import { afterAll, describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { formatFault } from '../../src/config/fault.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { loadCatalogue, readCatalogue } from '../../src/driver/catalogue.ts'
import { type CodeBlock, PAGES } from './pages.ts'
import { createWorkspace, runTool } from './workspace.ts'

const blocks = PAGES.flatMap((one) => one.blocks)
const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language))

/** A block that imports something is a whole program; "// devices/x.ts" in its first line is where it stands. */
const programs = inLanguage('ts').filter(({ text }) => /^import /m.test(text))
const fileOf = ({ text }: CodeBlock, index: number) =>
  /^\/\/ (\S+\.ts)$/m.exec(text)?.[1] ?? `block-${index}.ts`

const workspace = createWorkspace()
afterAll(() => workspace.remove())

describe('the code blocks', () => {
  it('say which language they are in, and it is one that is checked here', () => {
    const known = ['ts', 'json', 'yaml', 'sh', 'text', '']
    expect(blocks.filter(({ language }) => !known.includes(language)).map(({ place }) => place)).toEqual([])
    // A drawing has no language; on the README it is the one of the layers.
    const plain = inLanguage('').map(({ place }) => place.replace(/:.*/, ''))
    expect(plain.filter((path) => path !== 'README.md')).toEqual([])
  })

  it('of TypeScript are whole programs, which type-check', { timeout: 120_000 }, async () => {
    expect(
      inLanguage('ts')
        .filter((block) => !programs.includes(block))
        .map(({ place }) => place),
    ).toEqual([])
    expect(programs.length).toBeGreaterThan(4)
    const placeOf = new Map<string, string>()
    for (const [index, block] of programs.entries()) {
      const file = fileOf(block, index)
      workspace.write(file, block.text)
      placeOf.set(file, block.place)
    }
    const compilerOptions = {
      // A program that shows something need not use all of it.
      noUnusedLocals: false,
      preserveSymlinks: true,
      rootDir: '../..',
      // The package has types, but names them in none of its exports.
      paths: { '@serialport/binding-mock': ['../../node_modules/@serialport/binding-mock/dist/index.d.ts'] },
    }
    workspace.write(
      'tsconfig.json',
      JSON.stringify({
        extends: '../../tsconfig.json',
        compilerOptions,
        include: ['../../src/**/*.d.ts'],
        files: [...placeOf.keys()],
      }),
    )
    const { code, said } = await runTool(workspace.folder, 'typescript/lib/tsc.js', ['-p', '.'])
    const placed = said.replaceAll(/^([\w/.-]+\.ts)/gm, (file) => `${placeOf.get(file) ?? ''} ${file}`)
    expect(placed).toBe('')
    expect(code).toBe(0)
  })

  it('of JSON parse', () => {
    const found = inLanguage('json')
    expect(found.length).toBeGreaterThan(1)
    for (const { text, place } of found) expect(() => JSON.parse(text), place).not.toThrow()
  })

  it('of YAML parse', () => {
    for (const { text, place } of inLanguage('yaml')) {
      expect(parseDocument(text).errors.map(String), place).toEqual([])
    }
  })

  it('of YAML are configurations without faults, whose keys all have an effect', async () => {
    const found = inLanguage('yaml')
    expect(found.length).toBeGreaterThan(4)
    // The types of the guide are there as well.
    for (const block of programs) {
      const file = fileOf(block, 0)
      if (file.startsWith('devices/')) workspace.write(file, block.text)
    }
    const { types: own } = await readCatalogue(`${workspace.folder}/devices`)
    const types = configurableTypes(new Map([...(await loadCatalogue()), ...own]))
    for (const { text, place } of found) {
      const { faults, warnings, configuration } = parseConfiguration(text, place, types)
      expect(faults.map(formatFault)).toEqual([])
      expect(warnings.map(formatFault).filter((line) => line.includes('no effect'))).toEqual([])
      expect(configuration?.devices.length, place).toBeGreaterThan(0)
    }
  })
})
