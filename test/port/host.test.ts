import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { linuxHost, namesOnlyHost } from '../../src/port/host.ts'

let folder: string
const path = (name: string) => join(folder, name)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baudway-host-'))
})

afterEach(() => rm(folder, { recursive: true }))

describe('what Linux knows of a path before it is opened', () => {
  it('calls a path absent that is not there, and a link that leads nowhere', async () => {
    await symlink(path('nowhere'), path('dangling'))
    await symlink(path('round'), path('round'))
    await writeFile(path('file'), '')
    for (const name of ['nothing', 'dangling', 'no/such/folder']) {
      expect(await linuxHost.inspect(path(name)), name).toEqual({ kind: 'absent' })
      expect(await linuxHost.deviceKey(path(name)), name).toBeUndefined()
    }
    for (const name of ['round', 'file/below']) {
      expect(await linuxHost.inspect(path(name)), name).toEqual({ kind: 'absent' })
    }
  })

  it('takes no file, no folder and no other device for a serial port', async () => {
    await writeFile(path('file'), '')
    await mkdir(path('folder'))
    await symlink('/dev/null', path('null'))
    for (const [given, real] of [
      [path('file'), path('file')],
      [path('folder'), path('folder')],
      ['/dev/null', '/dev/null'],
      [path('null'), '/dev/null'],
      ['/dev/urandom', '/dev/urandom'],
    ] as const) {
      expect(await linuxHost.inspect(given)).toEqual({
        kind: 'unfit',
        reason: `${real} is not a serial port`,
      })
    }
  })

  it('follows links to the device, so that two names of one device are one key', async () => {
    // The one terminal that every Linux has: character device 5:0.
    await symlink('/dev/tty', path('by-id'))
    await symlink(path('by-id'), path('link-to-a-link'))
    const direct = await linuxHost.inspect('/dev/tty')
    expect(direct).toEqual({ kind: 'present', resolvedPath: '/dev/tty', deviceKey: 'device:1280' })
    expect(await linuxHost.inspect(path('by-id'))).toEqual(direct)
    expect(await linuxHost.inspect(path('link-to-a-link'))).toEqual(direct)
    expect(await linuxHost.deviceKey(path('link-to-a-link'))).toBe('device:1280')
  })

  it('sees that a link leads elsewhere now', async () => {
    await symlink('/dev/tty', path('port'))
    const before = await linuxHost.deviceKey(path('port'))
    await rm(path('port'))
    await symlink('/dev/null', path('port'))
    expect(await linuxHost.deviceKey(path('port'))).not.toBe(before)
    await rm(path('port'))
    expect(await linuxHost.deviceKey(path('port'))).toBeUndefined()
  })
})

describe('a host whose paths are only names', () => {
  it('finds every path, each a device of its own', async () => {
    expect(await namesOnlyHost.inspect('/dev/a')).toEqual({
      kind: 'present',
      resolvedPath: '/dev/a',
      deviceKey: 'name:/dev/a',
    })
    expect(await namesOnlyHost.deviceKey('/dev/b')).toBe('name:/dev/b')
  })
})
