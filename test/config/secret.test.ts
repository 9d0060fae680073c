import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveSecret } from '../../src/config/secret.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baudway-secret-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(content: string): string {
  const path = join(folder, 'secret')
  writeFileSync(path, content)
  return path
}

describe('a secret', () => {
  it('may stand there itself', async () => {
    expect(await resolveSecret('hunter2', {})).toEqual({ value: 'hunter2' })
  })

  it('comes from the environment', async () => {
    expect(await resolveSecret({ env: 'PASSWORD' }, { PASSWORD: 'hunter2' })).toEqual({ value: 'hunter2' })
  })

  it.each([{}, { PASSWORD: undefined }, { PASSWORD: '' }])(
    'is missing from the environment %j',
    async (environment) => {
      expect(await resolveSecret({ env: 'PASSWORD' }, environment)).toEqual({
        fault: 'the environment variable PASSWORD is not set',
      })
    },
  )

  it.each([
    ['hunter2', 'hunter2'],
    ['hunter2\n', 'hunter2'],
    ['hunter2\r\n', 'hunter2'],
    // Only one line end is the editor's; spaces may be meant.
    [' hunter2 \n\n', ' hunter2 \n'],
  ])('comes from a file that holds %j', async (content, value) => {
    expect(await resolveSecret({ file: write(content) }, {})).toEqual({ value })
  })

  it('is read anew each time, so that a new one is taken up', async () => {
    const secret = { file: write('old') }
    expect(await resolveSecret(secret, {})).toEqual({ value: 'old' })
    write('new')
    expect(await resolveSecret(secret, {})).toEqual({ value: 'new' })
  })

  it('is missing, with the reason and the path', async () => {
    const missing = join(folder, 'none')
    const not = (path: string) => `the secret in ${path} is not to be had:`
    expect(await resolveSecret({ file: missing }, {})).toEqual({
      fault: `${not(missing)} the file does not exist`,
    })
    const empty = write('\n')
    expect(await resolveSecret({ file: empty }, {})).toEqual({ fault: `${not(empty)} the file is empty` })
    const large = write('x'.repeat(65_537))
    expect(await resolveSecret({ file: large }, {})).toEqual({
      fault: `${not(large)} the file is larger than 65536 bytes`,
    })
  })
})
