/** A pulled cable on real pseudo-terminals, with the host's own serial binding. Times are in bench/unplug.ts. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createGateway, type Gateway } from '../../src/index.ts'
import { until } from '../system/gateway-process.ts'
import { type PtyPair, ptyPair } from './pty-pair.ts'

const ROUNDS = 80
const clean: (() => Promise<unknown> | unknown)[] = []

afterEach(async () => {
  for (const remove of clean.splice(0).reverse()) await remove()
})

async function pair(options: { plugged?: boolean } = {}): Promise<PtyPair> {
  const made = await ptyPair(options)
  clean.push(() => made.remove())
  return made
}

/** pyserial at the far end: "?" is answered, "!" makes it talk without end. */
async function talker(path: string): Promise<void> {
  const script = join(import.meta.dirname, 'talker.py')
  const child = spawn('/usr/bin/python3', [script, path], { stdio: ['ignore', 'pipe', 'ignore'] })
  clean.push(() => child.kill('SIGKILL'))
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
}

const tools = {
  read_value: {
    command: '?',
    reply: '^V=(?<value>[0-9]+)$',
    returns: { value: 'integer' },
    effect: 'read',
    parallelSafe: true,
  },
  listen: { command: '!', reply: '^NEVER$', effect: 'read', timeoutMs: 20_000 },
  wait: { command: 'W', reply: '^NEVER$', effect: 'act', timeoutMs: 20_000 },
}
const device = (id: string, path: string) => ({
  id,
  type: 'line',
  poll: 'off',
  port: { path, baudRate: 115_200 },
  terminator: '\r',
  tools,
})

async function gatewayOn(...devices: object[]): Promise<Gateway> {
  const gateway = await createGateway({ config: { devices } })
  clean.push(() => gateway.close())
  return gateway
}

const sent = async (gateway: Gateway, port: string) => {
  const headers = { authorization: `Bearer ${gateway.adminToken}` }
  const answer = await gateway.inject({ url: `/v1/ports/${port}`, headers })
  return answer.json() as { state: string; counters: { bytesSent: number; bytesReceived: number } }
}

describe('a cable that is pulled', () => {
  it('ends the call on the line as port_lost and unknown, the queued ones as device_unavailable, and no other port is touched', async () => {
    const [lost, kept] = [await pair(), await pair()]
    await talker(lost.far)
    await talker(kept.far)
    const gateway = await gatewayOn(device('lost', lost.near), device('kept', kept.near))
    await until(
      () => gateway.call({ name: 'lost__read_value' }),
      ({ status }) => status === 'ok',
    )
    const before = (await sent(gateway, 'lost')).counters.bytesSent
    const running = gateway.call({ name: 'lost__wait' })
    const queued = Array.from({ length: 5 }, () => gateway.call({ name: 'lost__read_value' }))
    await until(
      () => sent(gateway, 'lost'),
      ({ counters }) => counters.bytesSent > before,
    )
    await lost.unplug()
    expect(await running).toMatchObject({
      outcome: 'unknown',
      error: { code: 'port_lost', retryable: false },
    })
    for (const result of await Promise.all(queued)) {
      expect(result).toMatchObject({
        outcome: 'not_executed',
        error: { code: 'device_unavailable', details: { state: 'lost' } },
      })
    }
    expect(await gateway.call({ name: 'kept__read_value' })).toMatchObject({ value: { value: 42 } })
    expect(gateway.tools().find(({ name }) => name === 'lost__read_value')?.available).toBe(false)
    expect(gateway.tools().find(({ name }) => name === 'kept__read_value')?.available).toBe(true)

    await lost.plug()
    await talker(lost.far)
    const again = await until(
      () => gateway.call({ name: 'lost__read_value' }),
      ({ status }) => status === 'ok',
      3_000,
    )
    expect(again).toMatchObject({ value: { value: 42 } })
  })

  it(`is noticed ${ROUNDS} of ${ROUNDS} times while the device talks without end`, async () => {
    let noticed = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const line = await ptyPair()
      const child = spawn('/usr/bin/python3', [join(import.meta.dirname, 'talker.py'), line.far], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
      const gateway = await createGateway({ config: { devices: [device('talker', line.near)] } })
      const listening = gateway.call({ name: 'talker__listen' })
      await until(
        () => sent(gateway, 'talker'),
        ({ counters }) => counters.bytesReceived > 2_000,
      )
      await line.unplug()
      const { error, outcome } = await listening
      if (error?.code === 'port_lost' && outcome === 'unknown') noticed += 1
      child.kill('SIGKILL')
      await gateway.close()
      await line.remove()
    }
    expect(noticed).toBe(ROUNDS)
  })
})

describe('a device that is absent at the start', () => {
  it('leaves the gateway serving, and its tools become available when it appears', async () => {
    const [late, there] = [await pair({ plugged: false }), await pair()]
    await talker(there.far)
    const gateway = await gatewayOn(device('late', late.near), device('there', there.near))
    await until(
      () => gateway.call({ name: 'there__read_value' }),
      ({ status }) => status === 'ok',
    )
    expect(await gateway.call({ name: 'late__read_value' })).toMatchObject({
      outcome: 'not_executed',
      error: { code: 'device_unavailable', details: { state: 'absent' }, retryable: true },
    })
    expect(gateway.tools().find(({ name }) => name === 'late__read_value')?.available).toBe(false)
    await late.plug()
    await talker(late.far)
    await until(
      () => gateway.call({ name: 'late__read_value' }),
      ({ status }) => status === 'ok',
      3_000,
    )
    expect(gateway.tools().find(({ name }) => name === 'late__read_value')?.available).toBe(true)
  })
})
