import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { ADMIN_TOKEN_FILE, adminToken, newToken } from '../../src/store/admin-token.ts'
import { VirtualClock } from '../virtual-clock.ts'

const TOKEN = /^bw_[0-9a-f]{64}$/

let root: string
let directory: string
let file: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'baudway-token-'))
  directory = join(root, 'state', 'of', 'the-gateway')
  file = join(directory, ADMIN_TOKEN_FILE)
})

afterEach(() => rm(root, { recursive: true }))

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

async function prepared(content: string, mode = 0o600): Promise<void> {
  await mkdir(directory, { recursive: true })
  await writeFile(file, content, { mode })
  await chmod(file, mode)
}

describe('the admin token', () => {
  it('is made at the first start, with its directory, for nobody else to read', async () => {
    const token = await adminToken(systemClock, directory)
    expect(token).toMatch(TOKEN)
    expect(await readFile(file, 'utf8')).toBe(`${token}\n`)
    expect(await modeOf(file)).toBe(0o600)
    expect(await modeOf(directory)).toBe(0o700)
    expect(await readdir(directory)).toEqual([ADMIN_TOKEN_FILE])
  })

  it('is the same at every later start', async () => {
    const token = await adminToken(systemClock, directory)
    expect(await adminToken(systemClock, directory)).toBe(token)
    expect(await readFile(file, 'utf8')).toBe(`${token}\n`)
  })

  it('is another one for another gateway', async () => {
    const token = await adminToken(systemClock, directory)
    expect(await adminToken(systemClock, join(root, 'other'))).not.toBe(token)
    expect(newToken(systemClock)).toMatch(TOKEN)
  })

  it('comes from the randomness of the clock', () => {
    expect(newToken(new VirtualClock({ seed: 3 }))).toBe(newToken(new VirtualClock({ seed: 3 })))
  })

  it('is closed to others again when somebody has opened its file', async () => {
    const token = newToken(systemClock)
    await prepared(`${token}\n`, 0o644)
    expect(await adminToken(systemClock, directory)).toBe(token)
    expect(await modeOf(file)).toBe(0o600)
  })

  it('takes the place of an empty file, as a crash before the first write leaves it', async () => {
    await prepared('\n', 0o644)
    const token = await adminToken(systemClock, directory)
    expect(await readFile(file, 'utf8')).toBe(`${token}\n`)
    expect(await modeOf(file)).toBe(0o600)
  })

  it('is made anew beside a draft that a crash left behind', async () => {
    await mkdir(directory, { recursive: true })
    await writeFile(`${file}.new`, 'bw_half a token, and much longer than a whole one'.repeat(9), {
      mode: 0o666,
    })
    const token = await adminToken(systemClock, directory)
    expect(await readFile(file, 'utf8')).toBe(`${token}\n`)
    expect(await modeOf(file)).toBe(0o600)
    expect(await readdir(directory)).toEqual([ADMIN_TOKEN_FILE])
  })

  for (const content of [
    'a token of another program',
    `${'bw_'.padEnd(66, '0')}x`,
    `${'bw_'.padEnd(67, 'A')}`,
  ]) {
    it(`does not replace what is none of ours: ${content.slice(0, 30)}…`, async () => {
      await prepared(content)
      await expect(adminToken(systemClock, directory)).rejects.toThrow(file)
      expect(await readFile(file, 'utf8')).toBe(content)
    })
  }

  it('is not replaced where its file is there and cannot be read', async () => {
    await mkdir(directory, { recursive: true })
    await symlink(file, file)
    await expect(adminToken(systemClock, directory)).rejects.toMatchObject({ code: 'ELOOP' })
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    await rm(file)
    await mkdir(file)
    await expect(adminToken(systemClock, directory)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  it('is not made where its directory cannot be', async () => {
    await writeFile(join(root, 'state'), 'a file')
    await expect(adminToken(systemClock, directory)).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
})
