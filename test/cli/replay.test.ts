import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { fakeTerminal } from './fake-terminal.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'baudway-replay-'))
})

afterEach(() => rm(directory, { recursive: true }))

const line = (ms: number, direction: string, hex: string, port = 'co2') =>
  JSON.stringify({
    port,
    seq: ms,
    at: `2026-01-01T00:00:00.${String(ms).padStart(3, '0')}Z`,
    direction,
    hex,
    text: '',
  })

// Frames of the manual of the MH-Z19B, and capture: PyPMS.
const ASKED = line(0, 'tx', 'ff 01 86 00 00 00 00 00 79')
const ANSWERED = line(14, 'rx', 'ff 86 02 7c 42 00 00 00 ba')
const DAMAGED = line(500, 'rx', 'ff 86 01 f4 00 00 00 00 84')

async function replayed(text: string, ...words: string[]) {
  await writeFile(join(directory, 'trace'), text)
  const terminal = fakeTerminal({ directory })
  const code = await runCommandLine(['replay', 'trace', ...words], terminal)
  return { code, printed: terminal.printed, complained: terminal.complained.join('\n') }
}

describe('replay', () => {
  it('shows each frame and what it says, and counts', async () => {
    const { code, printed } = await replayed([ASKED, ANSWERED, DAMAGED, ''].join('\n'), '--type', 'mh-z19')
    expect(code).toBe(0)
    expect(printed.map((text) => text.replace(/^\d\d:\d\d:\d\d/, 'TIME'))).toEqual([
      'TIME.000 → ff 01 86 00 00 00 00 00 79',
      '               read_co2',
      'TIME.014 ← ff 86 02 7c 42 00 00 00 ba',
      '               read_co2: co2 636 ppm',
      'TIME.500 ← (9 bytes)',
      '               no frame: checksum',
      '1 request, 1 reply, frame errors: 1 checksum',
    ])
  })

  it('takes a trace as HTTP answers it, and a recording that was cut short', async () => {
    const { port: _, ...entry } = JSON.parse(ANSWERED)
    const http = await replayed(JSON.stringify({ entries: [entry] }, null, 2), '--type', 'mh-z19')
    expect(http.printed.at(-1)).toBe('0 requests, 1 reply, no frame errors')
    const cut = await replayed(`${ASKED}\n${ANSWERED}\n{"port":"co2","se`, '--type', 'mh-z19')
    expect(cut.printed.at(-1)).toBe('1 request, 1 reply, no frame errors')
  })

  it('--json has the frames and the counts', async () => {
    const { printed } = await replayed(`${ASKED}\n${ANSWERED}`, '--type', 'mh-z19', '--json')
    expect(JSON.parse(printed.join('\n'))).toMatchObject({
      type: 'mh-z19',
      frames: [
        { kind: 'request', tool: 'read_co2', hex: 'ff 01 86 00 00 00 00 00 79' },
        { kind: 'reply', tool: 'read_co2', isAsked: true, verdict: { kind: 'value', value: { co2: 636 } } },
      ],
      counts: { requests: 1, unnamedRequests: 0, replies: 1, frameErrors: { checksum: 0 } },
    })
  })

  it('plays one port of a recording of several', async () => {
    const two = [ASKED, line(3, 'tx', '01 02', 'bus1'), ANSWERED].join('\n')
    const all = await replayed(two, '--type', 'mh-z19')
    expect([all.code, all.complained]).toEqual([
      2,
      'baudway replay: The recording has several ports: choose one with --port. It has co2, bus1.',
    ])
    const one = await replayed(two, '--type', 'mh-z19', '--port', 'co2')
    expect(one.printed.at(-1)).toBe('1 request, 1 reply, no frame errors')
  })

  it.each([
    [ASKED, [], '--type is missing. See "baudway types".'],
    [ASKED, ['--type', 'mhz19'], 'There is no device type "mhz19". Did you mean mh-z19?'],
    [ASKED, ['--type', 'eastron-sdm', '--options', 'address: 0'], 'its keys: address, model'],
    [ASKED, ['--type', 'mh-z19', '--options', '{'], '--options:1:'],
    ['{"seq":1}\n', ['--type', 'mh-z19'], 'trace:1: is not an entry of a trace'],
    [`${ASKED}\nnonsense\n${ASKED}`, ['--type', 'mh-z19'], 'trace:2: is not JSON'],
    ['', ['--type', 'mh-z19'], 'There is nothing in the recording.'],
  ])('of %j with %j is wrong usage', async (text, words, message) => {
    const { code, printed, complained } = await replayed(text, ...words)
    expect([code, printed]).toEqual([2, []])
    expect(complained).toContain(message)
  })
})
