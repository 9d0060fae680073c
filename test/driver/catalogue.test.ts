import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadCatalogue, readCatalogue } from '../../src/driver/catalogue.ts'

const minimal = (type: string) =>
  `export default { type: '${type}', title: 'A type', describe: () => ({ tools: {} }) }\n`

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalogue-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

describe('the catalogue', () => {
  test('is the folder of device files', async () => {
    const types = await loadCatalogue()
    expect([...types.keys()]).toEqual(expect.arrayContaining(['line', 'mh-z19', 'modbus']))
    for (const [name, type] of types) expect(type.type).toBe(name)
  })

  test('holds every file of a folder, in the order of their names, and nothing else', async () => {
    await writeFile(join(directory, 'pump.js'), minimal('pump'))
    await writeFile(join(directory, 'lamp-2.mjs'), minimal('lamp-2'))
    await writeFile(join(directory, 'README.md'), '# Not a device')
    await writeFile(join(directory, 'pump.d.ts'), 'export default 1')
    await writeFile(join(directory, 'pump.test.js'), 'throw new Error("a test is no device")')
    await mkdir(join(directory, 'old'))
    expect([...(await loadCatalogue(directory)).keys()]).toEqual(['lamp-2', 'pump'])
  })

  test('names every file that is no device type, and keeps the others', async () => {
    await writeFile(join(directory, 'good.js'), minimal('good'))
    await writeFile(join(directory, 'broken.js'), 'export default {')
    await writeFile(join(directory, 'empty.js'), 'export const type = 1\n')
    await writeFile(join(directory, 'other.js'), minimal('another'))
    await writeFile(join(directory, 'throws.js'), 'throw new Error("no such codec")\n')
    const { types, faults } = await readCatalogue(directory)
    expect([...types.keys()]).toEqual(['good'])
    expect(faults.map(({ file }) => file)).toEqual(
      ['broken', 'empty', 'other', 'throws'].map((name) => join(directory, `${name}.js`)),
    )
    expect(faults[1]?.message).toContain('defineDevice')
    expect(faults[2]?.message).toContain('"another"')
    expect(faults[3]?.message).toContain('no such codec')
    await expect(loadCatalogue(directory)).rejects.toThrow('other.js')
  })

  test('has one file for a type', async () => {
    await writeFile(join(directory, 'pump.js'), minimal('pump'))
    await writeFile(join(directory, 'pump.mjs'), minimal('pump'))
    const { types, faults } = await readCatalogue(directory)
    expect([...types.keys()]).toEqual(['pump'])
    expect(faults).toHaveLength(1)
  })

  test('does not invent a folder', async () => {
    await expect(loadCatalogue(join(directory, 'nowhere'))).rejects.toThrow('nowhere')
  })
})
