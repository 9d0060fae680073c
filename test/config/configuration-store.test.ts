import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigurationStore } from '../../src/config/configuration-store.ts'

describe('the configuration file', () => {
  let directory: string
  let file: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'baudway-store-'))
    file = join(directory, 'baudway.yaml')
    await writeFile(file, '# mine\nhttp: {}\n', { mode: 0o640 })
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('is replaced whole: comments, mode and all, and the old one stays beside it', async () => {
    const store = new ConfigurationStore(file)
    await store.write('# yours\nhttp: { port: 80 }\n')
    expect(await readFile(file, 'utf8')).toBe('# yours\nhttp: { port: 80 }\n')
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    expect(await readFile(`${file}.previous`, 'utf8')).toBe('# mine\nhttp: {}\n')
    expect((await readdir(directory)).sort()).toEqual(['baudway.yaml', 'baudway.yaml.previous'])
  })

  it('has a version that changes with the text, and with nothing else', async () => {
    const store = new ConfigurationStore(file)
    const first = await store.read()
    expect((await store.read()).version).toBe(first.version)
    const second = await store.write('http: {}\n')
    expect(second.version).not.toBe(first.version)
    expect((await store.write(first.text)).version).toBe(first.version)
  })

  it('is worked on by one at a time', async () => {
    const store = new ConfigurationStore(file)
    const texts = Array.from({ length: 6 }, (_, number) => `# ${String(number).repeat(60_000)}\nhttp: {}\n`)
    const { version } = await store.read()
    const wrote = await Promise.all(
      texts.map((text) =>
        store.exclusively(async () => {
          if ((await store.read()).version !== version) return false
          await store.write(text)
          return true
        }),
      ),
    )
    expect(wrote).toEqual([true, false, false, false, false, false])
    expect(await readFile(file, 'utf8')).toBe(texts[0])
  })

  it('that is gone is an error, and nothing is made in its place', async () => {
    await rm(file)
    const store = new ConfigurationStore(file)
    await expect(store.read()).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(store.write('http: {}\n')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await readdir(directory)).toEqual([])
  })
})
