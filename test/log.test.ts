import { describe, expect, it } from 'vitest'
import { createLog, type LogOptions, logFormatFor } from '../src/log.ts'

/** What a log in that form writes for some lines. */
function written(options: LogOptions, say: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = []
  say(createLog('debug', { ...options, write: (line) => void lines.push(line) }))
  return lines
}

const portLost = {
  port: 'bus1',
  path: '/dev/ttyUSB0',
  from: 'open',
  state: 'lost',
  reason: 'the device hung up',
}

describe('the log', () => {
  it('is JSON by default, a line each', () => {
    const [line = ''] = written({}, (log) => log.child({ device: 'a' }).warn(portLost, 'port state'))
    expect(line.endsWith('\n')).toBe(true)
    expect(JSON.parse(line)).toMatchObject({ level: 40, device: 'a', msg: 'port state', ...portLost })
  })

  it('is a sentence with its time for people', () => {
    const [line] = written({ format: 'text' }, (log) => log.warn(portLost, 'port state'))
    expect(line).toMatch(/^[0-2][0-9]:[0-5][0-9]:[0-6][0-9] WARN port bus1 lost: the device hung up\n$/)
  })

  it.each([
    ['debug', '<7>'],
    ['info', '<6>'],
    ['warn', '<4>'],
    ['error', '<3>'],
  ] as const)('says %s to the journal as %s, without a time (sd-daemon(3))', (level, priority) => {
    const lines = written({ format: 'journal' }, (log) => log[level](portLost, 'port state'))
    expect(lines).toEqual([`${priority}port bus1 lost: the device hung up\n`])
  })

  it('shows the fields that are not in the sentence', () => {
    const lines = written({ format: 'journal' }, (log) =>
      log.error({ call: 'c_1', count: 2, name: 'a b', error: 'no reply' }, 'a call met a fault'),
    )
    expect(lines).toEqual(['<3>a call met a fault: no reply (call=c_1, count=2, name="a b")\n'])
  })

  it('lets no device move the cursor, end the line or forge a priority', () => {
    const reason = 'bad\u001b[2J\n<0>all is lost\u009b1m\u202e'
    const lines = written({ format: 'journal' }, (log) => log.warn({ reason }, 'odd'))
    expect(lines).toEqual(['<4>odd: bad[2J <0>all is lost1m\n'])
  })

  it('never shows a token or a password', () => {
    for (const format of ['json', 'text', 'journal'] as const) {
      const lines = written({ format }, (log) => log.info({ token: 'hush', mqtt: { password: 'hush' } }, 'x'))
      expect(lines.join()).not.toContain('hush')
    }
  })

  it('leaves out what is below its level', () => {
    const lines: string[] = []
    createLog('warn', { format: 'text', write: (line) => void lines.push(line) }).info({}, 'x')
    expect(lines).toEqual([])
  })
})

describe('the form of the log', () => {
  it('is text for a terminal, JSON for a file, and what was asked for before both', () => {
    const terminal = { isTerminal: true, journalStream: undefined }
    const file = { isTerminal: false, journalStream: undefined }
    expect(logFormatFor(undefined, terminal)).toBe('text')
    expect(logFormatFor(undefined, file)).toBe('json')
    expect(logFormatFor('json', terminal)).toBe('json')
    expect(logFormatFor('text', file)).toBe('text')
  })

  it('is that of the journal only where the journal is what stderr leads to (systemd.exec(5))', async () => {
    const { fstatSync } = await import('node:fs')
    const { dev, ino } = fstatSync(2)
    const journalStream = `${dev}:${ino}`
    expect(logFormatFor(undefined, { isTerminal: false, journalStream })).toBe('journal')
    expect(logFormatFor('text', { isTerminal: false, journalStream })).toBe('journal')
    expect(logFormatFor('json', { isTerminal: false, journalStream })).toBe('json')
    expect(logFormatFor(undefined, { isTerminal: false, journalStream: '1:1' })).toBe('json')
  })
})
