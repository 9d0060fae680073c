/** The built command as a user meets it: what it says of a bad configuration, how it starts, and how it stops. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallResult } from '../../src/tool/shapes.ts'
import { ptyPair } from '../pty/pty-pair.ts'
import { baudway, ROOT, startGateway, until } from './gateway-process.ts'

const GOOD = 'devices:\n  - { id: room, type: mh-z19, port: { path: simulated } }\n'

/** Each text, and where its fault is: counted by hand. */
const INVALID: Record<string, { text: string; at: string; says: RegExp }> = {
  'an unknown key': { text: 'devics: []\n', at: '1:1', says: /unknown key "devics".*devices/ },
  'an unknown key of a device': {
    text: 'devices:\n  - id: room\n    type: mh-z19\n    port: { path: /dev/ttyAMA0 }\n    pol: 10s\n',
    at: '5:5',
    says: /unknown key "pol".*poll/,
  },
  'a wrong type': { text: 'http: { port: fast }\n', at: '1:15', says: /port/ },
  'a duplicate id': {
    text: 'devices:\n  - { id: room, type: mh-z19, port: { path: /dev/a } }\n  - { id: room, type: mh-z19, port: { path: /dev/b } }\n',
    at: '3:11',
    says: /room/,
  },
  'an unknown type': {
    text: 'devices:\n  - { id: room, type: mh-z20, port: { path: /dev/a } }\n',
    at: '2:23',
    says: /mh-z20.*mh-z19/,
  },
  'an unknown port': {
    text: 'ports:\n  bus1: { path: /dev/a }\ndevices:\n  - { id: room, type: mh-z19, port: bus2 }\n',
    at: '4:37',
    says: /bus2.*bus1/,
  },
  'two devices at one address': {
    text: 'ports:\n  bus1: { path: /dev/a }\ndevices:\n  - { id: one, type: modbus, port: bus1, address: 4, coils: [{ name: a, coil: 0 }] }\n  - { id: two, type: modbus, port: bus1, address: 4, coils: [{ name: a, coil: 0 }] }\n',
    at: '5:51',
    says: /address 4/,
  },
  'no YAML': { text: 'devices: [\n', at: '2:1', says: /./ },
}

describe('an invalid configuration', () => {
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'baudway-command-'))
  })
  afterAll(() => rm(directory, { recursive: true }))

  for (const [what, { text, at, says }] of Object.entries(INVALID)) {
    it(`with ${what} is named as FILE:LINE:COLUMN by check and by start, with exit code 2`, async () => {
      const file = join(directory, 'bad.yaml')
      await writeFile(file, text)
      for (const command of ['check', 'start']) {
        const { code, stdout, stderr } = await baudway([command, '--config', file], { cwd: directory })
        expect(code, command).toBe(2)
        const line = `${stdout}${stderr}`.split('\n').find((each) => each.startsWith(`${file}:${at}: `))
        expect(line, `${command} said: ${stdout}${stderr}`).toMatch(says)
        expect(stderr).not.toMatch(/^\s+at /m)
      }
    })
  }

  it('that is missing or a directory is said to be, with exit code 2, and is never replaced by the demo', async () => {
    for (const file of [join(directory, 'missing.yaml'), directory]) {
      for (const command of ['check', 'start']) {
        const { code, stdout, stderr } = await baudway([command, '--config', file], { cwd: directory })
        expect(code).toBe(2)
        expect(`${stdout}${stderr}`).toContain(`${file}:1:1: `)
        expect(`${stdout}${stderr}`).not.toMatch(/demo/i)
      }
    }
  })

  it('that may not be read is said to be, with exit code 2', async () => {
    const file = join(directory, 'secret.yaml')
    await writeFile(file, GOOD)
    await chmod(file, 0)
    const unprivileged = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
    const main = join(ROOT, 'dist', 'src', 'main.js')
    await chmod(directory, 0o755)
    const failed = await promisify(execFile)('setpriv', [
      ...unprivileged,
      main,
      'check',
      '--config',
      file,
    ]).catch((error: { code: number; stdout: string; stderr: string }) => error)
    expect(failed).toMatchObject({ code: 2 })
    expect(`${failed.stdout}${failed.stderr}`).toContain(`${file}:1:1: `)
  })

  it('is not what a good one is: exit code 0', async () => {
    const file = join(directory, 'good.yaml')
    await writeFile(file, GOOD)
    const { code } = await baudway(['check', '--config', file], { cwd: directory })
    expect(code).toBe(0)
  })
})

describe('a gateway in the foreground', () => {
  it('keeps its token for its own user, and gives its place to nobody else', async () => {
    const gateway = await startGateway(GOOD)
    try {
      const token = await stat(join(gateway.directory, 'state', 'admin.token'))
      expect(token.mode & 0o777).toBe(0o600)
      const port = new URL(gateway.url).port
      const second = await baudway([
        'start',
        '--config',
        join(gateway.directory, 'baudway.yaml'),
        '--port',
        port,
        '--state-dir',
        join(gateway.directory, 'other'),
      ])
      expect(second.code).toBe(1)
      expect(second.stderr).toContain(port)
      expect(second.stderr).not.toMatch(/^\s+at /m)
    } finally {
      await gateway.remove()
    }
  })

  it('lets no second gateway use its state directory', async () => {
    const gateway = await startGateway(GOOD)
    try {
      const file = join(gateway.directory, 'baudway.yaml')
      const state = join(gateway.directory, 'state')
      const second = await baudway(['start', '--config', file, '--port', '0', '--state-dir', state])
      expect(second).toMatchObject({ code: 1 })
      expect(second.stderr).toContain(`process ${gateway.pid}`)
      expect((await gateway.command('devices')).code).toBe(0)
    } finally {
      await gateway.remove()
    }
  })

  it('answers every caller on SIGTERM, lets what is on the wire finish, and ends with 0 within 5 s', async () => {
    const pair = await ptyPair()
    const gateway = await startGateway(`
devices:
  - id: mute
    type: mh-z19
    port: { path: ${pair.near} }
    timeoutMs: 1000
`)
    try {
      await until(
        () => gateway.get<{ ports: { state: string }[] }>('/v1/ports'),
        ({ ports }) => ports[0]?.state === 'open',
      )
      const calls = Array.from({ length: 5 }, () =>
        gateway.post<CallResult>('/v1/calls', { name: 'mute__read_co2' }),
      )
      await until(
        () => gateway.get<{ queue: { waiting: number; running: number } }>('/v1/ports/mute'),
        ({ queue }) => queue.running === 1 && queue.waiting === 4,
      )
      const { code, tookMs } = await gateway.stop('SIGTERM')
      expect(code).toBe(0)
      expect(tookMs).toBeLessThan(5_000)
      const results = await Promise.all(calls)
      expect(results[0]).toMatchObject({ outcome: 'unknown', error: { code: 'timeout' } })
      for (const result of results.slice(1)) {
        expect(result).toMatchObject({ outcome: 'not_executed', error: { code: 'stopped' } })
      }
    } finally {
      await gateway.remove()
      await pair.remove()
    }
  })

  it('does not wait for a device that takes too long: the call is stopped, and its outcome unknown', async () => {
    const pair = await ptyPair()
    const gateway = await startGateway(`
devices:
  - { id: mute, type: mh-z19, port: { path: ${pair.near} }, poll: off, timeoutMs: 60000 }
`)
    try {
      await until(
        () => gateway.get<{ ports: { state: string }[] }>('/v1/ports'),
        ({ ports }) => ports[0]?.state === 'open',
      )
      const call = gateway.post<CallResult>('/v1/calls', { name: 'mute__read_co2' })
      await until(
        () => gateway.get<{ queue: { running: number } }>('/v1/ports/mute'),
        ({ queue }) => queue.running === 1,
      )
      const { code, tookMs } = await gateway.stop('SIGTERM')
      expect(code).toBe(0)
      expect(tookMs).toBeLessThan(5_000)
      expect(await call).toMatchObject({ outcome: 'unknown', error: { code: 'stopped' } })
    } finally {
      await gateway.remove()
      await pair.remove()
    }
  })
})

describe('the systemd unit', () => {
  it('is verified clean by systemd', async () => {
    const unit = join(ROOT, 'systemd', 'baudway.service')
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit])
    expect(`${stdout}${stderr}`).toBe('')
  })
})
