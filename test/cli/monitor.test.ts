import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { eventData } from '../../src/cli/event-stream.ts'
import { readFilter } from '../../src/cli/trace-filter.ts'
import type { TraceEntry } from '../../src/port/status.ts'
import { ADMIN_TOKEN, type FakeHome, PORT } from '../transport/fake-home.ts'
import { makeWorkplace, type Workplace } from './workplace.ts'

let work: Workplace

/** A busy machine takes its time over a connection, and the first test over loading the server. */
vi.setConfig({ testTimeout: 60_000 })
const soon = (check: () => void) => vi.waitFor(check, { timeout: 20_000 })

beforeEach(async () => {
  work = await makeWorkplace()
})

afterEach(() => work.remove())

const entry = (seq: number, atMs: number, direction: 'tx' | 'rx', bytes: string): TraceEntry => ({
  seq,
  at: new Date(Date.UTC(2026, 0, 1) + atMs).toISOString(),
  direction,
  hex: (Buffer.from(bytes, 'latin1').toString('hex').match(/../g) ?? []).join(' '),
  text: bytes.replace(/[^\x20-\x7e]/g, '.'),
})

async function watching(words: string[] = [], parts: Parameters<Workplace['serve']>[0] = {}) {
  const served = await work.serve(parts)
  const ended = runCommandLine(['monitor', '--token', ADMIN_TOKEN, ...words], served.terminal)
  const isWatched = soon(() => expect(served.home.traceWatchers.size).toBe(1))
  await Promise.race([isWatched, ended])
  return { ...served, ended }
}

const tell = (home: FakeHome, ...entries: TraceEntry[]) => {
  for (const one of entries) for (const watcher of home.traceWatchers) watcher(one)
}

describe('monitor', () => {
  it('shows time, gap, direction, hex and text, and ends with 0 at SIGINT', async () => {
    const { home, terminal, ended } = await watching([PORT.id])
    tell(
      home,
      entry(4, 0, 'tx', 'T?\r'),
      entry(5, 12, 'rx', 'T=21.5\r'),
      entry(6, 30_000, 'tx', 'x'.repeat(20)),
    )
    await soon(() => expect(terminal.printed.length).toBeGreaterThan(3))
    terminal.signal('SIGINT')
    expect(await ended).toBe(0)
    expect(terminal.complained).toEqual([])
    expect(terminal.printed.map((line) => line.replace(/^\d\d:\d\d:\d\d/, 'TIME'))).toEqual([
      `TIME.000         → ${'54 3f 0d'.padEnd(41)}  T?.`,
      `TIME.012     +12 ← ${'54 3d 32 31 2e 35 0d'.padEnd(41)}  T=21.5.`,
      `TIME.000    +30s → ${Array(14).fill('78').join(' ')}  ${'x'.repeat(14)}`,
      `${' '.repeat(23)}${Array(6).fill('78').join(' ').padEnd(41)}  xxxxxx`,
    ])
    for (const line of terminal.printed) expect(line.length).toBeLessThanOrEqual(80)
    await soon(() => expect(home.traceWatchers.size).toBe(0))
  })

  it('names the port of each line where it watches several, each with gaps of its own', async () => {
    const watchers = new Map<string, (entry: TraceEntry) => void>()
    const { terminal } = await work.serve({
      ports: () => [PORT, { ...PORT, id: 'bus1' }],
      watchTrace: (id, listener) => {
        watchers.set(id, listener)
        return () => watchers.delete(id)
      },
    })
    const ended = runCommandLine(['monitor', '--token', ADMIN_TOKEN], terminal)
    await soon(() => expect(watchers.size).toBe(2))
    watchers.get('bus1')?.(entry(0, 0, 'tx', 'a'))
    await soon(() => expect(terminal.printed.length).toBe(1))
    watchers.get(PORT.id)?.(entry(0, 5, 'rx', 'b'))
    await soon(() => expect(terminal.printed.length).toBe(2))
    watchers.get('bus1')?.(entry(1, 9, 'rx', 'c'))
    await soon(() => expect(terminal.printed.length).toBe(3))
    terminal.signal('SIGTERM')
    expect(await ended).toBe(0)
    expect(terminal.printed.map((line) => line.slice(8, 38))).toEqual([
      '.000         bus1       → 61  ',
      '.005         office_co2 ← 62  ',
      '.009      +9 bus1       ← 63  ',
    ])
  })

  it('shows only what the filter lets through, and records all of it for a replay', async () => {
    const words = [PORT.id, '--json', '--filter', 'rx', '--record', 'trace.jsonl']
    const { home, terminal, ended } = await watching(words)
    const [asked, answered] = [entry(1, 0, 'tx', 'T?\r'), entry(2, 20, 'rx', 'T=21.5\r')]
    tell(home, asked, answered)
    await soon(() => expect(terminal.printed.length).toBe(1))
    terminal.signal('SIGINT')
    await ended
    expect(JSON.parse(terminal.printed[0] ?? '')).toEqual({ port: PORT.id, ...answered })
    const recorded = (await readFile(join(work.directory, 'trace.jsonl'), 'utf8')).trim().split('\n')
    expect(recorded.map((line) => JSON.parse(line))).toEqual([
      { port: PORT.id, ...asked },
      { port: PORT.id, ...answered },
    ])
  })

  it('connects again where it was, says so, and says what was missed', async () => {
    const trace = [entry(1, 0, 'rx', 'a'), entry(2, 5, 'rx', 'b'), entry(3, 9, 'rx', 'c')]
    const { home, terminal, ended } = await watching([PORT.id, '--json'], { trace: () => trace })
    tell(home, entry(1, 0, 'rx', 'a'))
    await soon(() => expect(terminal.printed.length).toBe(1))
    work.disconnect()
    await soon(() => expect(terminal.complained.length).toBe(2))
    expect(terminal.complained[0]).toMatch(/^office_co2: the connection is gone \(.+\); trying again$/)
    expect(terminal.complained[1]).toBe('office_co2: connected again')
    await soon(() => expect(terminal.printed.length).toBe(3))
    await soon(() => expect(home.traceWatchers.size).toBe(1))
    tell(home, entry(9, 20, 'rx', 'd'))
    await soon(() => expect(terminal.printed.length).toBe(4))
    expect(terminal.printed.map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3, 9])
    expect(terminal.complained.at(-1)).toBe('office_co2: 5 entries were missed')
    terminal.signal('SIGINT')
    expect(await ended).toBe(0)
  })

  it.each([
    [['nope'], 1, 'The gateway has no port "nope". It has office_co2.'],
    [['office_co'], 1, 'Did you mean office_co2?'],
    [['--filter', 'zz'], 2, '--filter: "zz" is not tx, rx, /text/ or bytes in hex'],
    [['--filter', '/(/'], 2, '--filter: Invalid regular expression'],
    [['--record', 'there'], 2, 'there is there already: name another file.'],
  ])('monitor %j ends at once', async (words, code, message) => {
    await writeFile(join(work.directory, 'there'), '')
    const { terminal, ended } = await watching(words)
    expect(await ended).toBe(code)
    expect(terminal.complained[0]).toContain(message)
  })

  it('does not go on asking where the token is not that of an admin', async () => {
    const { terminal } = await work.serve()
    expect(await runCommandLine(['monitor', PORT.id], terminal)).toBe(1)
  })
})

describe('a filter', () => {
  const sent = { direction: 'tx', hex: '01 03 00 10', text: 'VOL?' } as const
  it.each([
    ['tx', true],
    ['rx', false],
    ['03 00', true],
    ['0300', true],
    // Half bytes are not bytes: 30 01 stands in "03 00 10" only across them.
    ['3001', false],
    ['/^VOL/', true],
    ['/MUTE/', false],
  ])('%j lets a frame through: %s', (text, shown) => {
    const filter = readFilter(text)
    expect(typeof filter === 'function' && filter(sent)).toBe(shown)
  })
})

describe('server-sent events', () => {
  async function dataOf(...chunks: string[]): Promise<string[]> {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        controller.close()
      },
    })
    const found: string[] = []
    for await (const data of eventData(body)) found.push(data)
    return found
  }

  // WHATWG HTML, 9.2.6: line ends, comments, several data lines, an event without data, one that is not ended.
  it('are read as the standard says', async () => {
    expect(
      await dataOf(': hello\n\nid: 1\nevent: entry\ndata: a\ndata: b\n\nevent: x\n\ndata:c\r\n\r\ndata: d'),
    ).toEqual(['a\nb', 'c'])
  })

  it('are the same in any pieces', async () => {
    const text = 'data: äb\r\n\r\ndata: c\r\n\n: ping\n\ndata: d\n\n'
    expect(await dataOf(...text)).toEqual(['äb', 'c', 'd'])
  })
})
