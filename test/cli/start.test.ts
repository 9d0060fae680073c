import { once } from 'node:events'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { silentLog } from '../../src/log.ts'
import { type FakeTerminal, fakeTerminal } from './fake-terminal.ts'
import { makeWorkplace, type Workplace } from './workplace.ts'

let work: Workplace

beforeEach(async () => {
  work = await makeWorkplace()
})

afterEach(() => work.remove())

const SIMULATED = `
http: { port: 0 }
devices:
  - { id: office_co2, type: mh-z19, port: { path: simulated } }
`

const terminalHere = (environment = {}) => fakeTerminal({ directory: work.directory, environment })

interface Running {
  readonly terminal: FakeTerminal
  readonly url: string
  readonly ended: Promise<number>
}

/** Starts a gateway and waits for the line that says where it serves. */
async function startHere(words: string[], environment = {}): Promise<Running> {
  const terminal = terminalHere(environment)
  const ended = runCommandLine(['start', ...words], terminal)
  const line = await Promise.race([terminal.firstLine, ended.then((code) => `ended with ${code}`)])
  const [, url = ''] = /^baudway listening on (http:\/\/\S+)$/.exec(line) ?? []
  expect(url, `${line}\n${terminal.complained.join('\n')}`).not.toBe('')
  return { terminal, url, ended }
}

async function stop({ terminal, ended }: Running): Promise<number> {
  terminal.signal('SIGTERM')
  return ended
}

const mode = async (...path: string[]) => (await stat(join(work.directory, ...path))).mode & 0o777

describe('start', () => {
  it('serves the file that is named, is found by the other commands, and ends with 0 at SIGTERM', async () => {
    await writeFile(join(work.directory, 'house.yaml'), SIMULATED)
    const running = await startHere(['--config', 'house.yaml'])
    expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9][0-9]*$/)
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200)

    const token = join(work.directory, '.baudway', 'admin.token')
    expect(running.terminal.complained).toEqual([`The admin token is in ${token}`])
    expect(await mode('.baudway', 'admin.token')).toBe(0o600)
    expect(await mode('.baudway', 'gateway.json')).toBe(0o600)
    const found = await readFile(join(work.directory, '.baudway', 'gateway.json'), 'utf8')
    expect(JSON.parse(found)).toEqual({ url: running.url, pid: process.pid })

    const client = terminalHere()
    expect(await runCommandLine(['call', 'office_co2__read_co2'], client)).toBe(0)
    expect(client.printed[0]).toBe('office_co2__read_co2  ok, executed')

    expect(await stop(running)).toBe(0)
    await expect(stat(join(work.directory, '.baudway', 'gateway.json'))).rejects.toThrow('ENOENT')
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow()
  })

  it('takes ./baudway.yaml where nothing is named', async () => {
    await writeFile(join(work.directory, 'baudway.yaml'), SIMULATED)
    const running = await startHere([])
    expect(running.terminal.complained.join('\n')).not.toContain('DEMO')
    await stop(running)
  })

  it('is loudly the demo where there is no configuration, with a state directory of its own', async () => {
    const running = await startHere(['--port', '0'], { STATE_DIRECTORY: join(work.directory, 'real') })
    expect(running.terminal.complained[0]).toContain('*** DEMO ***')
    expect(running.terminal.complained[1]).toBe(
      'There is neither baudway.yaml nor /etc/baudway/baudway.yaml, so this is the demo.',
    )
    expect(running.terminal.complained).toContain(
      'Every device is simulated. Nothing that you see or switch is real.',
    )
    expect(await mode('.baudway-demo', 'admin.token')).toBe(0o600)
    const client = terminalHere()
    expect(await runCommandLine(['devices', '--json'], client)).toBe(0)
    expect(JSON.parse(client.printed.join('\n')).devices.length).toBeGreaterThan(3)
    await stop(running)
  })

  it('keeps its state in $STATE_DIRECTORY, or in what the command line says', async () => {
    await writeFile(join(work.directory, 'baudway.yaml'), SIMULATED)
    const managed = join(work.directory, 'managed')
    await stop(await startHere([], { STATE_DIRECTORY: `${managed}:/other` }))
    expect(await mode('managed', 'admin.token')).toBe(0o600)
    await stop(await startHere(['--state-dir', 'mine'], { STATE_DIRECTORY: managed }))
    expect(await mode('mine', 'admin.token')).toBe(0o600)
  })

  it.each([
    ['--log', 'xml', '--log: "xml" is neither text nor json'],
    ['--log-level', 'loud', '--log-level: "loud" is none of debug, info, warn, error'],
  ])('knows no %s %s', async (option, value, message) => {
    const terminal = terminalHere()
    expect(await runCommandLine(['start', '--demo', option, value], terminal)).toBe(2)
    expect(terminal.complained[0]).toBe(`baudway start: ${message}`)
  })

  it('asks for the log in the form and from the level that was said', async () => {
    const asked: unknown[] = []
    const log = (wanted: unknown) => {
      asked.push(wanted)
      return silentLog
    }
    const terminal = fakeTerminal({ directory: work.directory, createLog: log })
    const ended = runCommandLine(
      ['start', '--demo', '--port', '0', '--log', 'json', '--log-level', 'debug'],
      terminal,
    )
    await terminal.firstLine
    terminal.signal('SIGTERM')
    await ended
    expect(asked).toEqual([{ format: 'json', level: 'debug' }])
  })

  it('says that it cannot listen on an address that this machine does not have', async () => {
    const terminal = terminalHere()
    // TEST-NET-1 of RFC 5737: no machine has it.
    expect(await runCommandLine(['start', '--demo', '--port', '0', '--host', '192.0.2.1'], terminal)).toBe(1)
    expect(terminal.complained.at(-1)).toBe(
      'baudway start: 192.0.2.1 is no address of this machine. Choose another with --host.',
    )
  })

  it('says in one sentence that its port is taken, and leaves no file of a gateway', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const terminal = terminalHere()
    expect(await runCommandLine(['start', '--demo', '--port', String(port)], terminal)).toBe(1)
    expect(terminal.complained.at(-1)).toBe(
      `baudway start: Port ${port} of 127.0.0.1 is in use by another process. Stop that one, or choose another with --port.`,
    )
    await expect(stat(join(work.directory, '.baudway-demo', 'gateway.json'))).rejects.toThrow('ENOENT')
    other.close()
  })

  it('never takes the demo for a file that is named or there, but cannot be used', async () => {
    const missing = terminalHere()
    expect(await runCommandLine(['start', '--config', 'none.yaml'], missing)).toBe(2)
    expect(missing.complained).toEqual([
      'none.yaml:1:1: the file does not exist',
      'baudway start: none.yaml has a fault.',
    ])
    await symlink('nowhere', join(work.directory, 'baudway.yaml'))
    const dangling = terminalHere()
    expect(await runCommandLine(['start'], dangling)).toBe(2)
    expect(dangling.complained[0]).toBe('baudway.yaml:1:1: the file does not exist')
  })

  it('prints every fault of its configuration by line and column, and exits with 2', async () => {
    await writeFile(join(work.directory, 'baudway.yaml'), 'http: { port: 99999 }\nprots: {}\n')
    const terminal = terminalHere()
    expect(await runCommandLine(['start'], terminal)).toBe(2)
    expect(terminal.complained[0]).toMatch(/^baudway\.yaml:1:15: /)
    expect(terminal.complained[1]).toMatch(/^baudway\.yaml:2:1: /)
  })

  it('says that its state directory cannot be used', async () => {
    await writeFile(join(work.directory, 'file'), '')
    const terminal = terminalHere()
    expect(await runCommandLine(['start', '--demo', '--port', '0', '--state-dir', 'file'], terminal)).toBe(1)
    expect(terminal.complained.at(-1)).toContain(
      `baudway start: The state directory ${join(work.directory, 'file')} cannot be used: ENOTDIR`,
    )
  })

  it.each([
    [['--demo', '--config', 'a'], '--demo and --config exclude each other'],
    [['--port', '65536'], '--port: "65536" is not a number from 0 to 65535'],
    [['--port', 'http'], '--port: "http" is not a number from 0 to 65535'],
    [['--port', ''], '--port: "" is not a number from 0 to 65535'],
    [['--host', ''], '--host: the address is missing'],
    [['extra'], 'takes no arguments: extra (a configuration is named with --config extra)'],
  ])('%j is wrong usage', async (words, message) => {
    const terminal = terminalHere()
    expect(await runCommandLine(['start', ...words], terminal)).toBe(2)
    expect(terminal.complained[0]).toBe(`baudway start: ${message}`)
  })
})

describe('check', () => {
  it('says that a configuration is valid, and what is in it', async () => {
    await writeFile(join(work.directory, 'house.yaml'), SIMULATED)
    const terminal = terminalHere()
    expect(await runCommandLine(['check', '--config', 'house.yaml'], terminal)).toBe(0)
    expect(terminal.printed).toEqual(['house.yaml: valid, 1 port and 1 device'])
  })

  it('names every fault as FILE:LINE:COLUMN: message, and exits with 2', async () => {
    await mkdir(join(work.directory, 'etc'))
    await writeFile(
      join(work.directory, 'etc', 'b.yaml'),
      'devices:\n  - { id: Office, type: mh-z19, port: { path: simulated } }\n  - { id: b, type: mh-z91, port: none }\n',
    )
    const terminal = terminalHere()
    expect(await runCommandLine(['check', '--config', 'etc/b.yaml'], terminal)).toBe(2)
    expect(terminal.printed).toEqual([])
    expect(terminal.complained.slice(0, -1).map((line) => line.replace(/: .*/, ''))).toEqual([
      'etc/b.yaml:2:11',
      'etc/b.yaml:3:20',
      'etc/b.yaml:3:34',
    ])
    expect(terminal.complained.at(-1)).toBe('baudway check: etc/b.yaml has 3 faults.')
  })

  it('--json prints the faults with their places, as HTTP answers them', async () => {
    await writeFile(
      join(work.directory, 'b.yaml'),
      'devices: [{ id: b, type: mh-z91, port: { path: simulated } }]\n',
    )
    const terminal = terminalHere()
    expect(await runCommandLine(['check', '--config', 'b.yaml', '--json'], terminal)).toBe(2)
    expect(JSON.parse(terminal.printed.join('\n'))).toMatchObject({
      valid: false,
      faults: [{ line: 1, column: 26, pointer: '/devices/0/type' }],
      warnings: [],
    })
  })

  it('exits with 0 where there are only warnings', async () => {
    await writeFile(join(work.directory, 'baudway.yaml'), `${SIMULATED}history: { keepRaw: 7d }\n`)
    const terminal = terminalHere()
    expect(await runCommandLine(['check'], terminal)).toBe(0)
    expect(terminal.complained).toEqual([
      'baudway.yaml:5:1: warning: "history" has no effect in this version yet',
    ])
  })

  it('is wrong usage where there is nothing to check', async () => {
    const terminal = terminalHere()
    expect(await runCommandLine(['check'], terminal)).toBe(2)
    expect(terminal.complained).toEqual([
      'baudway check: There is neither baudway.yaml nor /etc/baudway/baudway.yaml.',
    ])
  })
})

describe('types', () => {
  it('lists the types of the catalogue with their tools and readings', async () => {
    const terminal = fakeTerminal({ columns: Number.POSITIVE_INFINITY })
    expect(await runCommandLine(['types'], terminal)).toBe(0)
    const start = terminal.printed.findIndex((line) => line.startsWith('mh-z19 '))
    const [row, tools, readings] = terminal.printed.slice(start)
    expect(row).toMatch(/^mh-z19 +platinum +\S/)
    // As the contract names them.
    for (const name of ['read_co2', 'calibrate_zero!', 'set_self_calibration']) expect(tools).toContain(name)
    expect(tools).toMatch(/^ {2}tools: /)
    expect(readings).toBe('  readings: co2')
    expect(terminal.printed.map((line) => line.split(' ', 1)[0])).toEqual(
      expect.arrayContaining(['TYPE', 'line', 'modbus']),
    )
  })

  it('fits a terminal of 80 columns, and leaves no tool and no reading out', async () => {
    const words = async (columns: number) => {
      const terminal = fakeTerminal({ columns })
      await runCommandLine(['types'], terminal)
      for (const line of terminal.printed) expect(line.length).toBeLessThanOrEqual(columns)
      return terminal.printed
        .filter((line) => line.startsWith('  '))
        .flatMap((line) => line.trim().split(' '))
    }
    const whole = await words(Number.POSITIVE_INFINITY)
    expect(whole.length).toBeGreaterThan(50)
    expect(await words(80)).toEqual(whole)
  })

  it('--json has everything that a type declares', async () => {
    const terminal = fakeTerminal()
    expect(await runCommandLine(['types', '--json'], terminal)).toBe(0)
    const { types } = JSON.parse(terminal.printed.join('\n'))
    const sensor = types.find((type: { type: string }) => type.type === 'mh-z19')
    expect(sensor).toMatchObject({
      toolsConfigured: false,
      grade: 'platinum',
      readings: [{ field: 'co2', unit: 'ppm' }],
    })
    expect(sensor.tools).toContainEqual(
      expect.objectContaining({ command: 'calibrate_zero', effect: 'act', dangerous: true }),
    )
  })
})
