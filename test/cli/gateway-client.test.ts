import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { writeGatewayFile } from '../../src/cli/gateway-file.ts'
import { ADMIN_TOKEN, READ_CO2, READ_TOKEN } from '../transport/fake-home.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { makeWorkplace, type Workplace } from './workplace.ts'

let work: Workplace

beforeEach(async () => {
  work = await makeWorkplace()
})

afterEach(() => work.remove())

/** Where nothing listens: the port was free a moment ago. */
let nobody: string

beforeAll(async () => {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  nobody = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  listener.close()
  await once(listener, 'close')
})

describe('finding the gateway', () => {
  async function local(folder: string, url: string, token = ADMIN_TOKEN): Promise<string> {
    const stateDir = join(work.directory, folder)
    await mkdir(stateDir, { recursive: true })
    await writeFile(join(stateDir, 'admin.token'), `${token}\n`, { mode: 0o600 })
    await writeGatewayFile(stateDir, { url, pid: process.pid })
    return stateDir
  }

  it.each(['.baudway', '.baudway-demo'])('takes the URL and the token of ./%s', async (folder) => {
    const { url } = await work.serve()
    await local(folder, url)
    const terminal = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['tools'], terminal)).toBe(0)
  })

  it('looks at $STATE_DIRECTORY first', async () => {
    const { url } = await work.serve()
    const stateDir = await local('managed', url)
    await local('.baudway', nobody)
    const terminal = fakeTerminal({
      directory: work.directory,
      environment: { STATE_DIRECTORY: `${stateDir}:/other` },
    })
    expect(await runCommandLine(['tools'], terminal)).toBe(0)
  })

  it('passes over the file of a gateway that is dead', async () => {
    const { url } = await work.serve()
    await local('.baudway-demo', url)
    await mkdir(join(work.directory, '.baudway'))
    // The largest process id that Linux gives is 2^22.
    await writeFile(
      join(work.directory, '.baudway', 'gateway.json'),
      JSON.stringify({ url: nobody, pid: 4_194_305 }),
    )
    expect(await runCommandLine(['tools'], fakeTerminal({ directory: work.directory }))).toBe(0)
  })

  it.each(['', '{', 'null', '{"url":1,"pid":1}'])(
    'passes over a gateway.json that holds %j',
    async (content) => {
      const { url } = await work.serve()
      await local('.baudway-demo', url)
      await mkdir(join(work.directory, '.baudway'))
      await writeFile(join(work.directory, '.baudway', 'gateway.json'), content)
      expect(await runCommandLine(['tools'], fakeTerminal({ directory: work.directory }))).toBe(0)
    },
  )

  it('prefers an option to the environment, and that to the state directory', async () => {
    const { url, terminal } = await work.serve()
    await local('.baudway', nobody)
    expect(await runCommandLine(['tools'], terminal)).toBe(0)
    const wrong = fakeTerminal({
      directory: work.directory,
      environment: { BAUDWAY_URL: nobody, BAUDWAY_TOKEN: 'x' },
    })
    expect(await runCommandLine(['tools', '--url', `${url}/`, '--token', READ_TOKEN], wrong)).toBe(0)
  })

  it('never sends the token of a state directory to another gateway', async () => {
    const { url } = await work.serve()
    await local('.baudway', nobody)
    const terminal = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['tools', '--url', url], terminal)).toBe(1)
    expect(terminal.complained.slice(-2)).toEqual([
      'Give a token with --token or BAUDWAY_TOKEN.',
      'For a gateway of this machine, --state-dir DIR in the place of --url gives both.',
    ])
  })

  it('takes what that advice says: the state directory gives the URL and the token', async () => {
    const { url } = await work.serve()
    await local('elsewhere', url)
    const bare = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['devices', '--url', url], bare)).toBe(1)
    const told = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['devices', '--state-dir', 'elsewhere'], told)).toBe(0)
  })

  it('says what to do where nothing listens', async () => {
    const terminal = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['tools', '--url', nobody], terminal)).toBe(1)
    expect(terminal.complained).toEqual([
      `baudway tools: No gateway at ${nobody}. Nothing listens there.`,
      'Start it with "baudway start". One of this machine with another state directory is found by',
      '--state-dir DIR, which gives its token too; one of another machine by --url URL --token TOKEN.',
    ])
  })

  it('says that a call may have been done where the connection broke under it', async () => {
    const { terminal } = await work.serve({
      call: async () => {
        work.disconnect()
        return new Promise(() => {})
      },
    })
    expect(await runCommandLine(['call', READ_CO2.name], terminal)).toBe(1)
    expect(terminal.complained.at(-1)).toContain('may have been done')
  })

  it('says that a token was refused', async () => {
    const { url } = await work.serve()
    const terminal = fakeTerminal({
      directory: work.directory,
      environment: { BAUDWAY_URL: url, BAUDWAY_TOKEN: 'wrong' },
    })
    expect(await runCommandLine(['devices'], terminal)).toBe(1)
    expect(terminal.complained).toContain('The token was refused.')
  })

  it('knows what is no gateway', async () => {
    const page = async () => new Response('<html></html>', { status: 200 })
    const terminal = fakeTerminal({ directory: work.directory, fetch: page })
    expect(await runCommandLine(['tools', '--url', 'http://router.local'], terminal)).toBe(1)
    expect(terminal.complained[0]).toContain('is not a Baudway gateway')
    expect(await runCommandLine(['tools', '--url', 'router'], terminal)).toBe(2)
  })

  it('says whose state directory it is that cannot be read', async () => {
    await mkdir(join(work.directory, '.baudway', 'gateway.json'), { recursive: true })
    const terminal = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['tools'], terminal)).toBe(1)
    expect(terminal.complained).toEqual([
      `baudway tools: The state directory ${join(work.directory, '.baudway')} cannot be read (EISDIR).`,
      'Run this as the user of the gateway, or set BAUDWAY_URL and BAUDWAY_TOKEN.',
    ])
  })

  it('that --state-dir names asks nobody else when it does not run', async () => {
    const { url } = await work.serve()
    await local('.baudway', url)
    await mkdir(join(work.directory, 'empty'))
    const terminal = fakeTerminal({ directory: work.directory })
    expect(await runCommandLine(['tools', '--state-dir', 'empty'], terminal)).toBe(1)
    expect(terminal.complained).toEqual([
      'baudway tools: No gateway runs with the state directory empty.',
      'Start it with "baudway start", or name the directory that it was started with.',
    ])
  })

  it('takes --state-dir instead of looking', async () => {
    const { url } = await work.serve()
    await local('.baudway', nobody)
    await local('elsewhere', url)
    expect(
      await runCommandLine(
        ['tools', '--state-dir', 'elsewhere'],
        fakeTerminal({ directory: work.directory }),
      ),
    ).toBe(0)
  })
})
