/** What a call of a device says beside its value: what is proven, what was measured, what was only sent. */
import { describe, expect, it } from 'vitest'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type GatewayBench, gatewayBench } from '../gateway-fixture.ts'
import { settled } from './gate-bench.ts'

const PATH = '/dev/amplifier'
const text = (line: string) => Buffer.from(line).toString('hex')

const CONFIG = {
  devices: [
    {
      id: 'amplifier',
      type: 'line',
      port: { path: PATH, baudRate: 9600 },
      terminator: '\r',
      timeoutMs: 500,
      tools: {
        read_volume: {
          command: 'MV?',
          reply: '^MV(?<volume>[0-9]+)$',
          returns: { volume: 'integer' },
          effect: 'read',
          parallelSafe: true,
        },
        set_volume: {
          command: 'MV{level}',
          parameters: { level: { type: 'integer', minimum: 0, maximum: 98 } },
          reply: '^MV{level}$',
          refuse: '^ERR(?<code>.*)$',
          effect: 'set',
        },
        set_checked: {
          command: 'MV{level}',
          parameters: { level: { type: 'integer', minimum: 0, maximum: 98 } },
          reply: '^MV{level}$',
          readBack: { tool: 'read_volume', expect: { volume: '{level}' } },
          effect: 'set',
        },
        beep: { command: 'BEEP', reply: 'none', effect: 'act' },
      },
    },
  ],
}

async function bench(answers: Record<string, string>): Promise<GatewayBench> {
  const made = await gatewayBench(CONFIG)
  const device = made.device(PATH)
  for (const [request, reply] of Object.entries(answers)) {
    if (reply === '') device.answer(text(`${request}\r`))
    else device.answer(text(`${request}\r`), { hex: text(`${reply}\r`), afterMs: 10 })
  }
  return made
}

async function call({ gateway, clock }: GatewayBench, name: string, args: object = {}): Promise<CallResult> {
  return settled(clock, gateway.call({ name: `amplifier__${name}`, arguments: { ...args } }))
}

describe('the result of a device call', () => {
  it('says when something was measured, of a read and of nothing else', async () => {
    const made = await bench({ 'MV?': 'MV42', MV30: 'MV30' })
    const read = await call(made, 'read_volume')
    expect(read).toMatchObject({ status: 'ok', outcome: 'executed', value: { volume: 42 } })
    expect(read.measuredAt).toMatch(/^2026-01-01T00:00:00\.\d{3}Z$/)
    const set = await call(made, 'set_volume', { level: 30 })
    expect(set).toMatchObject({ status: 'ok', outcome: 'executed' })
    for (const absent of ['measuredAt', 'sent', 'confirmedBy', 'error'])
      expect(set).not.toHaveProperty(absent)
    await made.gateway.close()
  })

  it('says that a command without acknowledgement was sent, and does not count it as executed', async () => {
    const made = await bench({ BEEP: '' })
    const batch = await settled(made.clock, made.gateway.batch([{ name: 'amplifier__beep' }]))
    expect(batch.executed).toBe(0)
    const [result] = batch.results
    expect(result).toMatchObject({ status: 'ok', outcome: 'unknown', sent: true, value: null, attempts: 1 })
    expect(result).not.toHaveProperty('measuredAt')
    expect(made.device(PATH).heard.map(({ hex }) => hex)).toEqual([text('BEEP\r')])
    await made.gateway.close()
  })

  it('says what proves it where a read-back did', async () => {
    const made = await bench({ 'MV?': 'MV30', MV30: 'MV30' })
    const result = await call(made, 'set_checked', { level: 30 })
    expect(result).toMatchObject({ status: 'ok', outcome: 'executed', confirmedBy: 'read_back' })
    expect(result).not.toHaveProperty('measuredAt')
    await made.gateway.close()
  })

  it('is unknown where a read-back contradicts it, and a setting may be repeated then', async () => {
    const made = await bench({ 'MV?': 'MV29', MV30: 'MV30' })
    const result = await call(made, 'set_checked', { level: 30 })
    expect(result).toMatchObject({
      status: 'error',
      outcome: 'unknown',
      error: { code: 'unconfirmed', retryable: true, details: { readBack: { volume: 29 } } },
    })
    await made.gateway.close()
  })

  it('is unknown where the device refuses without a proof', async () => {
    const made = await bench({ MV30: 'ERR7' })
    expect(await call(made, 'set_volume', { level: 30 })).toMatchObject({
      outcome: 'unknown',
      error: { code: 'device_error', details: { deviceCode: '7' }, retryable: false },
    })
    await made.gateway.close()
  })

  it('is unknown after a timeout, which only a read may repeat', async () => {
    const made = await bench({ 'MV?': '', MV30: '' })
    expect(await call(made, 'set_volume', { level: 30 })).toMatchObject({
      outcome: 'unknown',
      error: { code: 'timeout', retryable: false },
    })
    expect(await call(made, 'read_volume')).toMatchObject({
      outcome: 'unknown',
      error: { code: 'timeout', retryable: true },
    })
    await made.gateway.close()
  })

  it('names the call on the wire, so that the trace shows whose bytes they are', async () => {
    const made = await bench({ 'MV?': 'MV42' })
    const result = await call(made, 'read_volume')
    const answer = await made.gateway.inject({
      url: '/v1/ports/amplifier/trace',
      headers: { authorization: `Bearer ${made.gateway.adminToken}` },
    })
    expect(answer.json().entries).toMatchObject([
      { direction: 'tx', text: 'MV?.', callId: result.id },
      { direction: 'rx', text: 'MV42.' },
    ])
    await made.gateway.close()
  })
})
