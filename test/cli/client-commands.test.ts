import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import type { Home } from '../../src/tool/home.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import { DEVICE, okResult, READ_CO2, READ_TOKEN } from '../transport/fake-home.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { makeWorkplace, SET_RELAY, type Workplace } from './workplace.ts'

let work: Workplace

beforeEach(async () => {
  work = await makeWorkplace()
})

afterEach(() => work.remove())

describe('tools and devices', () => {
  it('lists the tools in a table that fits the terminal', async () => {
    const { terminal } = await work.serve()
    expect(await runCommandLine(['tools'], terminal)).toBe(0)
    expect(terminal.printed).toEqual([
      'TOOL                  EFFECT  RUNS      NOW          TITLE',
      'office_co2__read_co2  read    parallel  available    Read CO2',
      'relays__set_relay     set!    serial?   unavailable  Set relay',
    ])
  })

  it('lists the devices with what they last said', async () => {
    const lost = {
      ...DEVICE,
      id: 'meter',
      availability: 'offline' as const,
      reason: 'no reply\u001b[2J',
      readings: { power: { value: 1.5, unit: 'W', measuredAt: '', ageMs: 1, stale: true } },
    }
    const { terminal } = await work.serve({ devices: () => [DEVICE, lost] })
    expect(await runCommandLine(['devices'], terminal)).toBe(0)
    expect(terminal.printed).toEqual([
      'DEVICE      TYPE    PORT        STATE    READINGS',
      'office_co2  mh-z19  office_co2  online   co2 742 ppm',
      'meter       mh-z19  office_co2  offline  no reply, power 1.5 W (stale)',
    ])
  })

  it.each([
    ['tools', { tools: [READ_CO2, SET_RELAY] }],
    ['devices', { devices: [DEVICE] }],
  ])('%s --json prints what HTTP answers', async (name, expected) => {
    const { terminal } = await work.serve()
    expect(await runCommandLine([name, '--json'], terminal)).toBe(0)
    expect(JSON.parse(terminal.printed.join('\n'))).toEqual(expected)
  })

  it('says on stderr that there is nothing to list', async () => {
    const { terminal } = await work.serve({ tools: () => [] })
    expect(await runCommandLine(['tools'], terminal)).toBe(0)
    expect([terminal.printed, terminal.complained]).toEqual([[], ['The gateway has no tools.']])
  })
})

describe('call', () => {
  it('sends the arguments typed by the tool, and shows the value with its unit', async () => {
    const { home, terminal } = await work.serve()
    expect(await runCommandLine(['call', READ_CO2.name], terminal)).toBe(0)
    expect(home.asked[0]?.request).toEqual({ name: READ_CO2.name, arguments: {} })
    expect(terminal.printed).toEqual([
      'office_co2__read_co2  ok, executed',
      '  co2  742 ppm',
      '  measured 2026-01-01T00:00:00.000Z; queued 0.1 ms, ran 12.4 ms, on the wire 11.9 ms',
    ])
  })

  it('merges --args with name=value and passes a confirmation on', async () => {
    const { home, terminal } = await work.serve()
    const words = ['call', SET_RELAY.name, 'on=true', '--args', '{"channel":3}', '--confirmation', 'k_1']
    expect(await runCommandLine(words, terminal)).toBe(0)
    expect(home.asked[0]?.request).toEqual({
      name: SET_RELAY.name,
      arguments: { channel: 3, on: true },
      confirmation: 'k_1',
    })
  })

  it('runs nothing and exits with 2 where an argument is wrong', async () => {
    const { home, terminal } = await work.serve()
    const words = ['call', SET_RELAY.name, 'channel=one', 'onn=true', '--args', '{']
    expect(await runCommandLine(words, terminal)).toBe(2)
    expect(terminal.complained).toEqual([
      'baudway call: --args: "{" is not JSON: line 1, column 2: expected a name in double quotes',
      'channel: "one" is not an integer',
      'onn: the tool has no such parameter; did you mean on? It has channel, on',
    ])
    expect(home.asked).toEqual([])
    const twice = ['call', SET_RELAY.name, 'channel=1', '--args', '{"channel":1}']
    expect(await runCommandLine(twice, terminal)).toBe(2)
  })

  it('exits with 1 where the call failed, and says what that means for the device', async () => {
    const failed: CallResult = {
      ...okResult({ id: 'c1', name: SET_RELAY.name }),
      status: 'error',
      outcome: 'unknown',
      error: {
        code: 'timeout',
        message: 'no reply\u0007 within 1000 ms',
        hint: 'Look at the relay.',
        retryable: false,
      },
    }
    const { terminal } = await work.serve({ call: async () => failed })
    expect(await runCommandLine(['call', SET_RELAY.name, 'channel=1', 'on=true'], terminal)).toBe(1)
    expect(terminal.printed.slice(0, -1)).toEqual([
      'relays__set_relay  error, unknown: it may have been done or not; look at the device before a repeat',
      '  timeout: no reply within 1000 ms',
      '  Look at the relay.',
      '  Do not just send the same call again.',
    ])
  })

  it('shows every fault of arguments that the gateway refused', async () => {
    const refused: CallResult = {
      ...okResult({ id: 'c1', name: SET_RELAY.name }),
      status: 'error',
      outcome: 'not_executed',
      error: {
        code: 'invalid_arguments',
        message: 'relays__set_relay: two faults',
        retryable: false,
        details: [
          { field: '/channel', message: 'must be <= 7' },
          { field: '/on', message: 'is missing' },
        ],
      },
    }
    const { terminal } = await work.serve({ call: async () => refused })
    expect(await runCommandLine(['call', SET_RELAY.name, 'channel=9'], terminal)).toBe(1)
    expect(terminal.printed).toContain('    /channel: must be <= 7')
    expect(terminal.printed).toContain('    /on: is missing')
    expect(terminal.printed[0]).toContain('not executed: nothing was done')
  })

  it.each([
    [{ outcome: 'unknown', sent: true }, 'sent: this device acknowledges nothing'],
    [{ confirmedBy: 'read_back' }, 'executed, confirmed by reading back'],
    [{ shared: true }, 'answered by the reading of another call'],
  ] as const)('says in words what %j means', async (parts, words) => {
    const result = { ...okResult({ id: 'c1', name: READ_CO2.name }), ...parts }
    const { terminal } = await work.serve({ call: async () => result })
    await runCommandLine(['call', READ_CO2.name], terminal)
    expect(terminal.printed[0]).toContain(words)
  })

  it('asks the gateway for a tool that is not listed, its values as text', async () => {
    const { home, terminal } = await work.serve()
    await runCommandLine(['call', 'nope', 'a=1'], terminal)
    expect(home.asked[0]?.request).toEqual({ name: 'nope', arguments: { a: '1' } })
  })

  it('--json prints the result as HTTP answers it, with the exit code of the call', async () => {
    const { terminal } = await work.serve()
    expect(await runCommandLine(['call', READ_CO2.name, '--json'], terminal)).toBe(0)
    expect(JSON.parse(terminal.printed.join('\n'))).toEqual(okResult({ name: READ_CO2.name }))
  })
})

describe('batch', () => {
  const calls = [
    { id: 'a', name: READ_CO2.name },
    { id: 'b', name: SET_RELAY.name, arguments: { channel: 1, on: true } },
  ]

  it.each([
    ['a list of calls in JSON', JSON.stringify(calls), { calls }],
    [
      'an object in JSON with tabs',
      JSON.stringify({ calls, onError: 'abort' }, null, '\t'),
      { calls, onError: 'abort' },
    ],
    [
      'YAML',
      'onError: abort\ncalls:\n  - { id: a, name: x }\n',
      { calls: [{ id: 'a', name: 'x' }], onError: 'abort' },
    ],
  ])('sends %s', async (_name, text, expected) => {
    const { home, terminal } = await work.serve()
    await writeFile(join(work.directory, 'calls'), text)
    expect(await runCommandLine(['batch', 'calls'], terminal)).toBe(0)
    expect(home.asked[0]?.request).toEqual(expected)
  })

  it('shows the results in their order with the counts, from stdin too', async () => {
    const { url } = await work.serve()
    const environment = { BAUDWAY_URL: url, BAUDWAY_TOKEN: READ_TOKEN }
    const terminal = fakeTerminal({ environment, input: JSON.stringify(calls) })
    expect(await runCommandLine(['batch', '-'], terminal)).toBe(0)
    expect(terminal.printed).toEqual([
      '#  CALL  TOOL                  STATUS  OUTCOME   RESULT',
      '1  a     office_co2__read_co2  ok      executed  co2 742',
      '2  b     relays__set_relay     ok      executed  co2 742',
      '2 calls: 2 executed, 0 shared, 0 failed',
    ])
  })

  it('exits with 1 if one of the calls failed, and warns of what is unknown', async () => {
    const lost: CallResult = {
      ...okResult({ id: 'b', name: SET_RELAY.name }),
      status: 'error',
      outcome: 'unknown',
      error: { code: 'port_lost', message: 'the port went away', retryable: false },
    }
    const batch: Home['batch'] = async () => ({
      id: 'b_1',
      policy: 'partition',
      partitions: [['a'], ['b']],
      executed: 1,
      shared: 0,
      results: [okResult({ id: 'a', name: READ_CO2.name }), lost],
      context: {},
      conflicts: [],
    })
    const { terminal } = await work.serve({ batch })
    await writeFile(join(work.directory, 'calls'), JSON.stringify(calls))
    expect(await runCommandLine(['batch', 'calls'], terminal)).toBe(1)
    expect(terminal.printed.slice(-3)).toEqual([
      expect.stringContaining('port_lost: the'),
      '2 calls: 1 executed, 0 shared, 1 failed',
      'Of 1 it is unknown whether they were done: look at the device before a repeat.',
    ])
  })

  it('names what is wrong with a file by line and column', async () => {
    const { home, terminal } = await work.serve()
    await writeFile(join(work.directory, 'calls'), 'calls:\n  - name: a\n    name: b\n')
    expect(await runCommandLine(['batch', 'calls'], terminal)).toBe(2)
    expect(terminal.complained[0]).toMatch(/^baudway batch: calls:3:5: /)
    expect(await runCommandLine(['batch', 'none'], terminal)).toBe(2)
    expect(terminal.complained.at(-1)).toBe('baudway batch: none cannot be read (ENOENT)')
    expect(home.asked).toEqual([])
  })

  it('prints every fault that the gateway finds in a batch', async () => {
    const { terminal } = await work.serve()
    await writeFile(join(work.directory, 'calls'), 'calls: [{ nam: a }]\npolicy: fast\n')
    expect(await runCommandLine(['batch', 'calls'], terminal)).toBe(1)
    expect(terminal.complained.slice(1).sort()).toEqual([
      '  /calls/0/nam: is not known; known here: id, name, arguments, confirmation',
      '  /calls/0/name: is missing',
      '  /policy: must be one of "partition", "batch", "resource"',
    ])
  })
})
