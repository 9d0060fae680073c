/** Files as they lie on a disk. */
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatFault } from '../../src/config/fault.ts'
import { loadConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baudway-config-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, content: string | Uint8Array, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

/** The faults of a file, its folder left out. */
async function faultsOf(path: string): Promise<string[]> {
  const { faults, configuration } = await loadConfiguration(path, fakeTypes)
  expect(configuration === undefined).toBe(faults.length > 0)
  return faults.map((fault) => formatFault(fault).replace(`${folder}/`, ''))
}

/** The tests may run as root, whom no permission stops. */
async function asNobody<T>(action: () => Promise<T>): Promise<T> {
  const NOBODY = 65_534
  if (process.geteuid?.() !== 0) return action()
  process.seteuid?.(NOBODY)
  try {
    return await action()
  } finally {
    process.seteuid?.(0)
  }
}

describe('a configuration file', () => {
  it('is loaded', async () => {
    const path = write('good.yaml', '\ufeffhttp:\r\n  port: 80\r\n')
    const { configuration, faults } = await loadConfiguration(path, fakeTypes)
    expect(faults).toEqual([])
    expect(configuration?.http.port).toBe(80)
  })

  it('that does not exist, or is none, is a fault', async () => {
    const file = write('file.yaml', '{}')
    symlinkSync('loop.yaml', join(folder, 'loop.yaml'))
    expect(await faultsOf(join(folder, 'none.yaml'))).toEqual(['none.yaml:1:1: the file does not exist'])
    expect(await faultsOf(`${file}/x`)).toEqual([
      'file.yaml/x:1:1: the file does not exist (a part of its path is no directory)',
    ])
    const [ofFolder] = (await loadConfiguration(folder, fakeTypes)).faults
    expect(ofFolder).toMatchObject({ file: folder, line: 1, column: 1 })
    expect(ofFolder?.message).toBe('this is a directory, not a file')
    expect(await faultsOf(join(folder, 'loop.yaml'))).toEqual([
      expect.stringMatching(/^loop.yaml:1:1: the file cannot be read: ELOOP/),
    ])
  })

  it('that may not be read is a fault', async () => {
    const path = write('locked.yaml', '{}', 0o000)
    expect(await asNobody(() => faultsOf(path))).toEqual([
      'locked.yaml:1:1: the file may not be read (the user of this process has no permission)',
    ])
  })

  it('that never ends is a fault', async () => {
    expect(await faultsOf('/dev/zero')).toEqual(['/dev/zero:1:1: the file is larger than 1048576 bytes'])
  })

  it.each([
    ['a byte of Latin-1', [0x61, 0x3a, 0x20, 0xfc, 0x0a], 'x.yaml:1:4: the file is not UTF-8'],
    // "# ü" and a replacement character that really stands there come before it.
    [
      'a character cut short in the second line',
      [0x0a, 0x23, 0x20, 0xc3, 0xbc, 0xef, 0xbf, 0xbd, 0xe2, 0x82, 0x0a, 0x23],
      'x.yaml:2:5: the file is not UTF-8',
    ],
    ['a character cut short at the end', [0x0a, 0x0a, 0x23, 0xe2, 0x82], 'x.yaml:3:2: the file is not UTF-8'],
    ['a surrogate', [0x23, 0xed, 0xa0, 0x80, 0x0a], 'x.yaml:1:2: the file is not UTF-8'],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00], 'x.yaml:1:1: the file is UTF-16 (save it as UTF-8)'],
  ])('with %s is a fault', async (_, bytes, fault) => {
    expect(await faultsOf(write('x.yaml', Uint8Array.from(bytes)))).toEqual([fault])
  })

  it('with a secret is warned of if everybody may read it', async () => {
    const text = 'mqtt: { url: "mqtt://h", password: hunter2 }\n'
    const warned = async (mode: number) => {
      const { warnings } = await loadConfiguration(write('secret.yaml', text, mode), fakeTypes)
      return warnings.map(({ pointer }) => pointer)
    }
    expect(await warned(0o644)).toEqual(['/mqtt', '/mqtt/password'])
    expect(await warned(0o640)).toEqual(['/mqtt'])
  })
})
