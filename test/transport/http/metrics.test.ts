import { afterEach, describe, expect, it } from 'vitest'
import type { CallResult } from '../../../src/tool/shapes.ts'
import {
  DEVICE,
  type FakeHome,
  fakeHome,
  okResult,
  PORT,
  READ_CO2,
  READ_TOKEN,
  STOPPED,
} from '../fake-home.ts'
import { type Family, parseMetrics } from './metrics-reader.ts'
import { bearer, closeServers, serve } from './serve.ts'

afterEach(closeServers)

async function scrape(home: FakeHome, app = serve({ home })): Promise<ReadonlyMap<string, Family>> {
  const reply = await app.inject({ url: '/metrics', headers: bearer(READ_TOKEN) })
  expect(reply.statusCode).toBe(200)
  expect(reply.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parseMetrics(reply.body)
}

const samples = (families: ReadonlyMap<string, Family>, name: string) => families.get(name)?.samples ?? []

const failed = (parts: Partial<CallResult>): CallResult => ({
  ...okResult({ id: 'c2', name: READ_CO2.name }),
  status: 'error',
  ...parts,
})

describe('the metrics', () => {
  it('are text that a strict reader takes, named by the rules of Prometheus', async () => {
    const families = await scrape(fakeHome())
    expect(families.size).toBeGreaterThan(30)
    for (const [name, { type, help, samples }] of families) {
      expect(name).toMatch(/^baudway_[a-z][a-z0-9_]*[a-z0-9]$/)
      expect(help.length, name).toBeGreaterThan(5)
      if (type === 'counter') expect(name).toMatch(/_total$/)
      else expect(name).not.toMatch(/_total$/)
      expect(name).not.toMatch(/_(ms|milliseconds|kilobytes|percent)$/)
      if (type === 'counter') for (const { value } of samples) expect(value).toBeGreaterThanOrEqual(0)
    }
  })

  it('say what runs, and how the process does', async () => {
    const families = await scrape(fakeHome())
    expect(samples(families, 'baudway_build_info')).toEqual([
      { name: 'baudway_build_info', labels: { version: '0.0.0', node: process.versions.node }, value: 1 },
    ])
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
    ]) {
      expect(families.has(`baudway_${name}`), name).toBe(true)
    }
  })

  it('say of each port its state, what it counted, and its queue', async () => {
    const counters = {
      opens: 1,
      losses: 2,
      bytesSent: 3,
      bytesReceived: 4,
      frames: 5,
      transactions: 6,
      timeouts: 7,
      foreignFrames: 8,
      lateReplies: 9,
      events: 10,
      frameErrors: { checksum: 11, form: 12, overflow: 13, junk: 14 },
    }
    const port = { ...PORT, state: 'lost' as const, counters, queue: { waiting: 15, running: 1 } }
    const families = await scrape(fakeHome({ ports: () => [port] }))
    const counted = (name: string, labels: Record<string, string> = {}) =>
      samples(families, `baudway_port_${name}`).find(
        (sample) => JSON.stringify(sample.labels) === JSON.stringify({ port: PORT.id, ...labels }),
      )?.value
    const totals = [
      'opens',
      'losses',
      'frames',
      'transactions',
      'timeouts',
      'foreign_frames',
      'late_replies',
      'events',
    ]
    expect(totals.map((name) => counted(`${name}_total`))).toEqual([1, 2, 5, 6, 7, 8, 9, 10])
    expect(['sent', 'received'].map((direction) => counted('bytes_total', { direction }))).toEqual([3, 4])
    const kinds = ['checksum', 'form', 'overflow', 'junk']
    expect(kinds.map((kind) => counted('frame_errors_total', { kind }))).toEqual([11, 12, 13, 14])
    expect([counted('calls_waiting'), counted('calls_running')]).toEqual([15, 1])
    const states = samples(families, 'baudway_port_state')
    expect(states).toHaveLength(9)
    expect(states.filter(({ value }) => value === 1).map(({ labels }) => labels.state)).toEqual(['lost'])
  })

  it('say of each device its availability and the time of its newest reading', async () => {
    const co2 = { value: 1, unit: 'ppm', ageMs: 0, stale: false }
    const readings = {
      old: { ...co2, measuredAt: '2026-01-01T00:00:00.000Z' },
      fresh: { ...co2, measuredAt: '2026-01-01T00:00:01.500Z' },
    }
    const devices = [
      { ...DEVICE, availability: 'wrong_device' as const, readings },
      { ...DEVICE, id: 'silent', readings: {} },
    ]
    const families = await scrape(fakeHome({ devices: () => devices }))
    const up = samples(families, 'baudway_device_availability').filter(({ value }) => value === 1)
    expect(up.map(({ labels }) => [labels.device, labels.availability])).toEqual([
      ['office_co2', 'wrong_device'],
      ['silent', 'online'],
    ])
    expect(samples(families, 'baudway_device_last_reading_timestamp_seconds')).toEqual([
      expect.objectContaining({ labels: { device: 'office_co2' }, value: 1_767_225_601.5 }),
    ])
  })

  it('count calls by outcome, code and effect, those before the first scrape too', async () => {
    const home = fakeHome({ tools: () => [READ_CO2, { ...READ_CO2, name: 'pump__toggle', effect: 'act' }] })
    const app = serve({ home })
    const error = { code: 'timeout' as const, message: '', retryable: true }
    home.feed.publish('call', okResult({ name: READ_CO2.name }))
    home.feed.publish('call', okResult({ name: READ_CO2.name }))
    home.feed.publish('call', failed({ name: 'pump__toggle', outcome: 'unknown', error }))
    home.feed.publish('reading', reading)
    await scrape(home, app)
    home.feed.publish('call', failed({ error, outcome: 'unknown' }))
    for (const name of ['a', 'b', 'c']) {
      const unknown = { code: 'unknown_tool' as const, message: '', retryable: false }
      home.feed.publish('call', failed({ name, outcome: 'not_executed', attempts: 0, error: unknown }))
    }
    const families = await scrape(home, app)
    const calls = samples(families, 'baudway_calls_total').map(({ labels, value }) => [labels, value])
    expect(calls).toEqual([
      [{ outcome: 'executed', code: 'ok', effect: 'read' }, 2],
      [{ outcome: 'unknown', code: 'timeout', effect: 'act' }, 1],
      [{ outcome: 'unknown', code: 'timeout', effect: 'read' }, 1],
      [{ outcome: 'not_executed', code: 'unknown_tool', effect: 'none' }, 3],
    ])
  })

  it('put the durations of calls into buckets, in seconds, and leave out the run of what did not run', async () => {
    const home = fakeHome()
    const app = serve({ home })
    for (const runMs of [4, 12.4, 2_000, 60_000]) {
      home.feed.publish('call', {
        ...okResult({ name: READ_CO2.name }),
        timing: { queuedMs: 20, runMs, wireMs: 1 },
      })
    }
    home.feed.publish('call', failed({ attempts: 0, timing: { queuedMs: 500, runMs: 0, wireMs: 0 } }))
    const families = await scrape(home, app)
    const run = samples(families, 'baudway_call_run_duration_seconds')
    const bucket = (le: string) => run.find(({ labels }) => labels.le === le)?.value
    expect(['0.005', '0.01', '0.025', '2.5', '10', '+Inf'].map(bucket)).toEqual([1, 1, 2, 3, 3, 4])
    expect(run.find(({ name }) => name.endsWith('_sum'))?.value).toBeCloseTo(62.0164)
    const queued = samples(families, 'baudway_call_queue_duration_seconds')
    expect(queued.find(({ name }) => name.endsWith('_count'))?.value).toBe(5)
    expect(queued.find(({ name }) => name.endsWith('_sum'))?.value).toBeCloseTo(0.58)
  })

  it('say whether the emergency stop is latched', async () => {
    const families = await scrape(fakeHome({ stopStatus: () => STOPPED }))
    expect(samples(families, 'baudway_emergency_stop')[0]?.value).toBe(1)
  })

  it('forget a port that is gone', async () => {
    let ports = [PORT]
    const home = fakeHome({ ports: () => ports })
    const app = serve({ home })
    expect(samples(await scrape(home, app), 'baudway_port_opens_total')).toHaveLength(1)
    ports = []
    expect(samples(await scrape(home, app), 'baudway_port_opens_total')).toHaveLength(0)
  })

  it('are those of one gateway, also when a process has several', async () => {
    const [one, other] = [fakeHome(), fakeHome({ ports: () => [] })]
    const apps = [serve({ home: one }), serve({ home: other })] as const
    one.feed.publish('call', okResult({ name: READ_CO2.name }))
    expect(samples(await scrape(one, apps[0]), 'baudway_calls_total')).toHaveLength(1)
    const families = await scrape(other, apps[1])
    expect(samples(families, 'baudway_calls_total')).toHaveLength(0)
    expect(samples(families, 'baudway_port_state')).toHaveLength(0)
  })
})

const reading = { device: 'office_co2', field: 'co2', value: 742 }
