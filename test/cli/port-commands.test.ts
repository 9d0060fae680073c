import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEscapedText, readHex } from '../../src/cli/byte-notation.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { hexLines } from '../../src/cli/hex-lines.ts'
import type { Home } from '../../src/tool/home.ts'
import type { PlannedCall } from '../../src/tool/shapes.ts'
import { ADMIN_TOKEN, okResult, PORT, READ_CO2, SENT, STOPPED } from '../transport/fake-home.ts'
import { makeWorkplace, SET_RELAY, type Workplace } from './workplace.ts'

let work: Workplace

beforeEach(async () => {
  work = await makeWorkplace()
})

afterEach(() => work.remove())

const admin = ['--token', ADMIN_TOKEN]
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('bytes as they are typed', () => {
  it.each([
    ['ff 01 86', 'ff0186'],
    ['FF0186', 'ff0186'],
    ['ff:01:86', 'ff0186'],
    ['0xff, 0x01', 'ff01'],
  ])('reads %j as hex', (text, bytes) => {
    const reading = readHex(text)
    expect('bytes' in reading && hexOf(reading.bytes)).toBe(bytes)
  })

  it.each(['', ' ', 'f', 'ff 1', 'gg', 'ff-01'])('refuses %j as hex', (text) => {
    expect(readHex(text)).toHaveProperty('fault')
  })

  it.each([
    ['VOL?\\r\\n', '564f4c3f0d0a'],
    ['\\x02é\\x03', '02c3a903'],
    ['\\\\x41', '5c783431'],
    ['\\0\\t', '0009'],
  ])('reads the escapes of %s', (text, bytes) => {
    const reading = readEscapedText(text)
    expect('bytes' in reading && hexOf(reading.bytes)).toBe(bytes)
  })

  it.each(['', '\\', '\\q', '\\x1', '\\xzz'])('refuses the text %j', (text) => {
    expect(readEscapedText(text)).toHaveProperty('fault')
  })

  it('shows all bytes, no line wider than the terminal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 256 }), fc.integer({ min: 18, max: 200 }), (bytes, columns) => {
        const text = Buffer.from(bytes).toString('latin1')
        const hex = bytes.length === 0 ? '' : (hexOf(bytes).match(/../g) ?? []).join(' ')
        const lines = hexLines({ hex, text }, columns)
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
        // The hex of a line ends where the columns of its text begin: two spaces.
        const shown = lines.map((line) => line.slice(0, line.search(/ {2}/)).replaceAll(' ', '')).join('')
        expect(shown).toBe(hexOf(bytes))
      }),
    )
  })
})

describe('send', () => {
  it('sends the bytes and shows what comes back', async () => {
    const { home, terminal } = await work.serve()
    expect(await runCommandLine(['send', PORT.id, 'T?\\r', '--wait', '50', ...admin], terminal)).toBe(0)
    const request = home.asked[0]?.request as { bytes: Uint8Array; waitMs: number }
    expect([hexOf(request.bytes), request.waitMs]).toEqual(['543f0d', 50])
    expect(terminal.printed[0]).toBe('3 bytes: sent')
    expect(terminal.printed[1]).toMatch(/^ {2}ff 86 +\.\.$/)
  })

  it('--json prints what HTTP answers', async () => {
    const { terminal } = await work.serve()
    await runCommandLine(['send', PORT.id, '--hex', 'ff', '--json', ...admin], terminal)
    expect(JSON.parse(terminal.printed.join('\n'))).toEqual(SENT)
  })

  it('says that nothing came, and exits with 1 where it could not be sent', async () => {
    const silent = { outcome: 'executed', received: { hex: '', text: '' } } as const
    const { terminal } = await work.serve({ send: async () => silent })
    expect(await runCommandLine(['send', PORT.id, 'a', '--wait', '50', ...admin], terminal)).toBe(0)
    expect(terminal.printed.at(-1)).toBe('Nothing came within 50 ms.')
    await work.remove()
    work = await makeWorkplace()
    const send: Home['send'] = async () => ({
      ...silent,
      outcome: 'not_executed',
      error: { code: 'device_unavailable', message: 'port is lost', hint: 'Plug it in.', retryable: true },
    })
    const second = (await work.serve({ send })).terminal
    expect(await runCommandLine(['send', PORT.id, 'a', ...admin], second)).toBe(1)
    expect(second.printed).toEqual([
      '1 byte: not sent',
      '  device_unavailable: port is lost',
      '  Plug it in.',
    ])
  })

  it.each([
    [['send', PORT.id], 'What is to be sent is missing'],
    [['send', PORT.id, 'a', '--hex', 'ff'], 'TEXT and --hex exclude each other'],
    [['send', PORT.id, 'a\\q'], 'TEXT: "\\q" is no escape'],
    [['send', PORT.id, '--hex', 'fff'], '--hex: "fff" has an odd number of hex digits'],
    [['send', PORT.id, 'a', '--wait', '10001'], '--wait: "10001" is not a number of milliseconds'],
  ])('%j is wrong usage, and nothing is sent', async (words, message) => {
    const { home, terminal } = await work.serve()
    expect(await runCommandLine([...words, ...admin], terminal)).toBe(2)
    expect(terminal.complained[0]).toContain(message)
    expect(home.asked).toEqual([])
  })

  it('needs the token of an admin, and says so', async () => {
    const { home, terminal } = await work.serve()
    expect(await runCommandLine(['send', PORT.id, 'a'], terminal)).toBe(1)
    expect(home.asked).toEqual([])
    expect(terminal.complained.join('\n')).toMatch(/admin/)
  })
})

describe('release', () => {
  it('gives the port up for as long as was said', async () => {
    const released: unknown[] = []
    const { terminal } = await work.serve({
      releasePort: async (id, durationMs) => {
        released.push([id, durationMs])
        return { ...PORT, state: 'closed' }
      },
    })
    expect(await runCommandLine(['release', PORT.id, '--for', '10m', ...admin], terminal)).toBe(0)
    expect(released).toEqual([[PORT.id, 600_000]])
    expect(terminal.printed[0]).toBe('office_co2 (/dev/ttyAMA0) is closed for 10m')
  })

  it('says that there is no such port', async () => {
    const { terminal } = await work.serve()
    expect(await runCommandLine(['release', 'nope', '--for', '10m', ...admin], terminal)).toBe(1)
    expect(terminal.complained.join()).toContain('nope')
  })

  it.each([[[]], [['--for', '10']], [['--for', '0s']], [['--for', '25h']], [['--for', 'soon']]])(
    'takes no %j for a time',
    async (words) => {
      const { terminal } = await work.serve()
      expect(await runCommandLine(['release', PORT.id, ...words, ...admin], terminal)).toBe(2)
      expect(terminal.complained[0]).toMatch(/^baudway release: --for/)
    },
  )
})

describe('stop', () => {
  it('stops, says what the stop commands came to and how to go on', async () => {
    const { home, terminal } = await work.serve()
    expect(await runCommandLine(['stop', ...admin], terminal)).toBe(0)
    expect(home.asked[0]?.request).toBe('stop')
    expect(terminal.printed).toEqual([
      'STOPPED since 2026-01-01T00:00:00.000Z by agent',
      '  pump__set_off  ok, executed',
      'Nothing is switched until "baudway stop --clear".',
    ])
  })

  it('exits with 1 if a stop command failed: the device may still move', async () => {
    const failed = {
      ...okResult({ id: 'c', name: 'pump__set_off' }),
      status: 'error',
      outcome: 'unknown',
      error: { code: 'timeout', message: 'no reply', retryable: false },
    } as const
    const { terminal } = await work.serve({ stop: async () => ({ ...STOPPED, commands: [failed] }) })
    expect(await runCommandLine(['stop', ...admin], terminal)).toBe(1)
    expect(terminal.printed[1]).toBe('  pump__set_off  error, unknown: timeout: no reply')
    expect(terminal.complained).toEqual(['Not every stop command was done: look at the devices.'])
  })

  it('--clear releases it', async () => {
    const { home, terminal } = await work.serve()
    expect(await runCommandLine(['stop', '--clear', ...admin], terminal)).toBe(0)
    expect(home.asked[0]?.request).toBe('release the stop')
    expect(terminal.printed).toEqual(['The emergency stop is released: devices may be switched again.'])
  })

  it('--json prints what HTTP answers', async () => {
    const { terminal } = await work.serve()
    await runCommandLine(['stop', '--json', ...admin], terminal)
    expect(JSON.parse(terminal.printed.join('\n'))).toEqual(STOPPED)
  })
})

describe('plan', () => {
  const planned = (id: string, name: string, parts: Partial<PlannedCall>): PlannedCall => ({
    id,
    name,
    partition: 0,
    waitsFor: [],
    overlaps: [],
    claims: [{ resource: 'port:bus1', mode: 'exclusive' }],
    earlyStart: { yes: true, reason: '' },
    confirmation: false,
    available: true,
    ...parts,
  })
  const response = {
    policy: 'resource',
    partitions: [['a'], ['b']],
    calls: [
      planned('a', READ_CO2.name, {}),
      planned('b', SET_RELAY.name, {
        partition: 1,
        waitsFor: [{ id: 'a', reason: 'it holds port:bus1' }],
        overlaps: ['a'],
        earlyStart: { yes: false, reason: 'not parallel-safe' },
        confirmation: true,
        available: false,
      }),
    ],
  } as const

  it('shows what waits for what and why, and what is in the way of a call', async () => {
    const { home, terminal } = await work.serve({ plan: () => response })
    await writeFile(join(work.directory, 'calls'), `- { id: a, name: ${READ_CO2.name} }`)
    expect(await runCommandLine(['plan', 'calls'], terminal)).toBe(0)
    expect(home.asked).toEqual([])
    expect(terminal.printed).toEqual([
      'PART  CALL  TOOL                  HOLDS      STARTS',
      '   1  a     office_co2__read_co2  port:bus1  at once',
      '   2  b     relays__set_relay     port:bus1  later',
      '      after a: it holds port:bus1',
      '      may overlap or pass a',
      '      not before a stream has ended: not parallel-safe',
      '      a person has to confirm it first',
      '      its device is not available now',
      '2 calls in 2 partitions, policy resource',
    ])
  })

  it('--json prints what HTTP answers, asked for with the batch of the file', async () => {
    const { home, terminal } = await work.serve()
    await writeFile(join(work.directory, 'calls'), '{"calls":[{"id":"a","name":"x"}],"policy":"batch"}')
    expect(await runCommandLine(['plan', 'calls', '--json'], terminal)).toBe(0)
    expect(home.asked[0]?.request).toEqual({ calls: [{ id: 'a', name: 'x' }], policy: 'batch' })
    expect(JSON.parse(terminal.printed.join('\n'))).toEqual({
      policy: 'batch',
      partitions: [['a']],
      calls: [],
    })
  })
})
