import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { readCatalogue } from '../../src/driver/catalogue.ts'
import { contractFindings, gradeOf } from '../../src/driver/contract.ts'
import { createWorkspace, runTool } from '../docs/workspace.ts'
import { fakeTerminal } from './fake-terminal.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'baudway-new-'))
})

afterEach(() => rm(directory, { recursive: true }))

async function create(...words: string[]) {
  const terminal = fakeTerminal({ directory })
  const code = await runCommandLine(['new-device', ...words], terminal)
  return { code, printed: terminal.printed, complained: terminal.complained }
}

/** As a project that has installed Baudway. */
async function install(): Promise<void> {
  await mkdir(join(directory, 'node_modules'))
  await symlink(ROOT, join(directory, 'node_modules', 'baudway'))
}

/** Runs the generated test on the sources. */
async function testOutput(file: string): Promise<string> {
  const words = [
    '--conditions=source',
    '--import',
    'tsx',
    '--test',
    '--test-reporter=tap',
    join(directory, file),
  ]
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  return (await run(process.execPath, words, { cwd: ROOT, env })).stdout
}

describe('new-device', () => {
  it.each([
    ['text', []],
    ['Modbus', ['--modbus']],
  ])('writes a device of %s that keeps every rule of the contract, up to platinum', async (_, words) => {
    await install()
    expect((await create('my-sensor', ...words)).code).toBe(0)
    const { types, faults } = await readCatalogue(join(directory, 'devices'))
    expect(faults).toEqual([])
    const type = types.get('my-sensor')
    const findings = type ? await contractFindings(type) : []
    expect(findings.length).toBeGreaterThan(10)
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    expect(type && (await gradeOf(type))).toBe('platinum')
  })

  it('writes a Modbus device whose address is that of the configuration', async () => {
    await install()
    await create('my-meter', '--modbus')
    const type = (await readCatalogue(join(directory, 'devices'))).types.get('my-meter')
    expect(type?.addressed).toBe(true)
    const { read_climate } = type?.describe({ address: 17 }).tools ?? {}
    expect(read_climate?.exchange?.({}).request[0]).toBe(17)
  })

  it.each([
    ['TypeScript', [], 'devices/my-sensor.test.ts', 3],
    ['JavaScript', ['--js'], 'devices/my-sensor.test.mjs', 3],
    ['TypeScript for Modbus', ['--modbus'], 'devices/my-sensor.test.ts', 5],
    ['JavaScript for Modbus', ['--modbus', '--js'], 'devices/my-sensor.test.mjs', 5],
  ])(
    'writes a test in %s that passes as it is',
    async (_name, words, file, tests) => {
      await install()
      const { printed } = await create('my-sensor', ...words)
      expect(printed).toContain(`wrote ${file}`)
      expect(await testOutput(file)).toMatch(new RegExp(`^# pass ${tests}$`, 'm'))
    },
    60_000,
  )

  it('writes a test that fails once the device is broken', async () => {
    await install()
    await create('my-sensor')
    const device = join(directory, 'devices', 'my-sensor.ts')
    await writeFile(device, (await readFile(device, 'utf8')).replace('Number(number)', 'Number(number) + 1'))
    await expect(testOutput('devices/my-sensor.test.ts')).rejects.toThrow()
  }, 60_000)

  it('puts the test where the tests are in a checkout, on the sources', async () => {
    await writeFile(join(directory, 'package.json'), '{"name":"baudway"}')
    await mkdir(join(directory, 'devices'))
    await create('my-sensor')
    expect(await readdir(join(directory, 'devices'))).toEqual(['my-sensor.ts'])
    const device = await readFile(join(directory, 'devices', 'my-sensor.ts'), 'utf8')
    expect(device).toContain("from '#device'")
    const test = await readFile(join(directory, 'test', 'devices', 'my-sensor.test.ts'), 'utf8')
    expect(test).toContain('../../devices/my-sensor.ts')
    expect(test).toContain('../../src/driver/contract.ts')
  })

  it('writes files that the compiler finds nothing in', { timeout: 120_000 }, async () => {
    const workspace = createWorkspace()
    try {
      await writeFile(join(directory, 'package.json'), '{"name":"baudway"}')
      await mkdir(join(directory, 'devices'))
      await create('my-sensor')
      await create('my-meter', '--modbus')
      const files = ['devices', 'test/devices'].flatMap((folder) =>
        ['my-sensor', 'my-meter'].map((name) => `${folder}/${name}${folder === 'devices' ? '' : '.test'}.ts`),
      )
      for (const file of files) workspace.write(file, await readFile(join(directory, file), 'utf8'))
      const options = { preserveSymlinks: true, rootDir: '../..' }
      const include = ['../../src/**/*.d.ts']
      const paths = {
        '@serialport/binding-mock': ['../../node_modules/@serialport/binding-mock/dist/index.d.ts'],
      }
      const config = {
        extends: '../../tsconfig.json',
        compilerOptions: { ...options, paths },
        include,
        files,
      }
      workspace.write('tsconfig.json', JSON.stringify(config))
      expect(await runTool(workspace.folder, 'typescript/lib/tsc.js', ['-p', '.'])).toEqual({
        code: 0,
        said: '',
      })
    } finally {
      workspace.remove()
    }
  })

  it('names every command from the new file to the running device', async () => {
    await writeFile(join(directory, 'package.json'), '{"name":"baudway"}')
    await mkdir(join(directory, 'devices'))
    const { printed } = await create('my-meter', '--modbus')
    expect(printed).toEqual([
      'wrote devices/my-meter.ts',
      'wrote test/devices/my-meter.test.ts',
      '',
      'Types:    npm run types',
      'Test:     npx vitest run --project unit test/devices/my-meter.test.ts',
      'Build:    npm run build',
      'Grade:    npx baudway types',
      'Use:      - { id: my_meter, type: my-meter, address: 1, port: { path: simulated } }',
      '          below "devices:" in baudway.yaml',
      'Check:    npx baudway check',
      `Guide:    ${join(ROOT, 'docs/adding-a-device.md')}`,
      `Imports:  ${join(ROOT, 'docs/device-api.md')}`,
    ])
    for (const line of printed.slice(-2)) await readFile(line.replace(/^\S+ +/, ''))
  })

  it('has the types checked outside of a checkout too, as the project there has it', async () => {
    const typed = async (folder: string) =>
      (await create('a-meter', '--dir', folder)).printed.filter((line) => line.startsWith('Types:'))
    expect(await typed('one')).toEqual([
      expect.stringMatching(/^Types: {4}npx tsc --noEmit --strict .*a-meter\.ts$/),
    ])
    await writeFile(join(directory, 'tsconfig.json'), '{}')
    expect(await typed('other')).toEqual(['Types:    npx tsc --noEmit'])
    const { printed } = await create('b-meter', '--js')
    expect(printed.join('\n')).not.toContain('tsc')
  })

  it('prints keys for the configuration that are valid there', async () => {
    await install()
    const { printed } = await create('my-meter', '--modbus')
    const text = printed
      .filter((line) => /devicesDir:|devices:/.test(line))
      .map((line) => line.replace('Use:', '').trim())
    const { types } = await readCatalogue(join(directory, 'devices'))
    const { configuration, faults } = parseConfiguration(
      text.join('\n'),
      'baudway.yaml',
      configurableTypes(types),
    )
    expect(faults).toEqual([])
    expect(configuration?.devices).toMatchObject([{ id: 'my_meter', type: 'my-meter' }])
  })

  it('writes devices and tests that pass in a checkout as they are', async () => {
    for (const name of ['src', 'node_modules', 'package.json']) {
      await symlink(join(ROOT, name), join(directory, name))
    }
    const conditions = ['source', 'node', 'import', 'default']
    const config = { resolve: { conditions }, ssr: { resolve: { conditions } } }
    await writeFile(join(directory, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
    await mkdir(join(directory, 'devices'))
    await create('my-sensor')
    await create('my-meter', '--modbus')
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
    const { VITEST: _, ...env } = process.env
    const { stdout } = await run(process.execPath, [vitest, 'run', '--reporter=json'], {
      cwd: directory,
      env,
    })
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 10, numTotalTests: 10 })
  }, 60_000)

  it('writes into --dir, else into the devicesDir of the configuration', async () => {
    expect((await create('a-sensor', '--dir', 'elsewhere')).printed[0]).toBe('wrote elsewhere/a-sensor.ts')
    await writeFile(join(directory, 'baudway.yaml'), `devicesDir: ${join(directory, 'own')}\n`)
    expect((await create('b-sensor')).printed[0]).toBe('wrote own/b-sensor.ts')
  })

  it('overwrites neither the device nor its test', async () => {
    await create('my-sensor')
    await rm(join(directory, 'devices', 'my-sensor.ts'))
    const { code, complained } = await create('my-sensor')
    expect(code).toBe(1)
    expect(complained[0]).toContain('devices/my-sensor.test.ts is there already.')
    expect(await readdir(join(directory, 'devices'))).toEqual(['my-sensor.test.ts'])
  })

  it.each([
    ['My-Sensor', 'is not lower-case words joined by hyphens'],
    ['../evil', 'is not lower-case words joined by hyphens'],
    ['mh-z19', 'The catalogue has a device type mh-z19 already'],
  ])('refuses the name %s', async (name, message) => {
    const { code, complained } = await create(name)
    expect(code).toBe(2)
    expect(complained[0]).toContain(message)
    expect(await readdir(directory)).toEqual([])
  })
})
