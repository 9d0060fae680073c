/** The main job, against a server that was written elsewhere: pymodbus, through a pair of pseudo-terminals. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TraceEntry } from '../../src/port/status.ts'
import type { BatchResponse, CallResult } from '../../src/tool/shapes.ts'
import { type GatewayProcess, startGateway, until } from './gateway-process.ts'
import { type ModbusPeer, modbusPeer } from './modbus-peer.ts'

/** Register n of unit u holds 1000 u + n in the server. */
const registers = Array.from(
  { length: 10 },
  (_, n) => `      - { name: r${n}, register: ${n}, kind: holding, format: uint16 }`,
).join('\n')

const config = (path: string) => `
ports:
  bus1: { path: ${path}, baudRate: 115200 }
devices:
  - id: one
    type: modbus
    poll: off
    port: bus1
    address: 1
    gapMs: 1
    registers:
${registers}
    coils:
      - { name: pump, coil: 3, writable: true, toggle: true }
  - id: ghost
    type: modbus
    poll: off
    port: bus1
    address: 9
    timeoutMs: 8000
    registers:
${registers}
  - id: two
    type: modbus
    poll: off
    port: bus1
    address: 2
    gapMs: 1
    registers:
${registers}
`

describe('a pymodbus server behind a pseudo-terminal', () => {
  let peer: ModbusPeer
  let gateway: GatewayProcess

  beforeAll(async () => {
    peer = await modbusPeer()
    gateway = await startGateway(config(peer.pair.near))
    await until(
      () => gateway.post<CallResult>('/v1/calls', { name: 'one__read_r0' }),
      ({ status }) => status === 'ok',
    )
  })

  afterAll(async () => {
    await gateway?.remove()
    await peer?.remove()
  })

  it('gives its values through `baudway call`', async () => {
    const { code, stdout } = await gateway.command('call', 'two__read_r7', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', outcome: 'executed', value: { r7: 2007 } })
  })

  it('gives its values through `baudway batch` and POST /v1/batches, in the order asked', async () => {
    const calls = ['one__read_r3', 'two__read_r3', 'one__read_all'].map((name) => ({ name }))
    const file = join(gateway.directory, 'batch.json')
    await writeFile(file, JSON.stringify({ calls }))
    const { code, stdout } = await gateway.command('batch', file, '--json')
    expect(code).toBe(0)
    const values = (response: BatchResponse) => response.results.map(({ value }) => value)
    const posted = await gateway.post<BatchResponse>('/v1/batches', { calls })
    for (const response of [JSON.parse(stdout) as BatchResponse, posted]) {
      expect(values(response).slice(0, 2)).toEqual([{ r3: 1003 }, { r3: 2003 }])
      expect(values(response)[2]).toMatchObject({ r0: 1000, r9: 1009, pump: false })
      expect(response.executed).toBe(3)
    }
  })

  it('takes a coil, and shows it when it is read back', async () => {
    const { results } = await gateway.post<BatchResponse>('/v1/batches', {
      calls: [
        { name: 'one__set_pump', arguments: { value: true } },
        { name: 'one__read_pump' },
        { name: 'one__set_pump', arguments: { value: false } },
        { name: 'one__read_pump' },
      ],
    })
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(4).fill('executed'))
    expect(results[1]?.value).toEqual({ pump: true })
    expect(results[3]?.value).toEqual({ pump: false })
  })

  it('answers 1,000 calls of 20 clients to two units rightly, one request at a time on the line', async () => {
    const before = (await trace(gateway)).at(-1)?.seq ?? -1
    let right = 0
    const client = async (number: number) => {
      for (let call = 0; call < 50; call += 1) {
        const unit = (number + call) % 2 === 0 ? 'one' : 'two'
        const register = (number * 7 + call) % 10
        const { value } = await gateway.post<CallResult>('/v1/calls', { name: `${unit}__read_r${register}` })
        const expected = (unit === 'one' ? 1000 : 2000) + register
        if ((value as Record<string, number> | undefined)?.[`r${register}`] === expected) right += 1
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, number) => client(number)))
    expect(right).toBe(1_000)
    const entries = (await trace(gateway)).filter(({ seq }) => seq > before)
    expect(entries.filter(({ direction }) => direction === 'tx')).toHaveLength(1_000)
    expect(overlaps(entries)).toEqual([])
  })

  it('refuses some of 1,000 calls at once with queue_full, and answers all others rightly', async () => {
    const results = await Promise.all(
      Array.from({ length: 1_000 }, () => gateway.post<CallResult>('/v1/calls', { name: 'two__read_r5' })),
    )
    const right = results.filter(({ value }) => (value as { r5?: number } | undefined)?.r5 === 2005)
    const full = results.filter(({ error }) => error?.code === 'queue_full')
    expect(right.length + full.length).toBe(1_000)
    // One on the line and 256 that wait fit at any one time; what was answered meanwhile made room for others.
    expect(right.length).toBeGreaterThanOrEqual(257)
    for (const { outcome, error } of full) {
      expect(outcome).toBe('not_executed')
      expect(error?.retryable).toBe(true)
    }
  })

  it('refuses exactly the excess of 1,000 calls at once while the line is held: one runs, 256 wait', async () => {
    const results = await Promise.all(
      Array.from({ length: 1_000 }, () =>
        gateway.post<CallResult>('/v1/calls', { name: 'ghost__read_r0', deadlineMs: 4_000 }),
      ),
    )
    const counts = new Map<string, number>()
    for (const { error } of results) {
      const code = error?.code ?? 'ok'
      counts.set(code, (counts.get(code) ?? 0) + 1)
    }
    expect(Object.fromEntries(counts)).toEqual({ timeout: 1, deadline_exceeded: 256, queue_full: 743 })
  })

  it('refuses exactly the excess of a batch of 1,000: one runs, 256 wait', async () => {
    const { results } = await gateway.post<BatchResponse>('/v1/batches', {
      calls: Array.from({ length: 1_000 }, () => ({ name: 'one__read_r1' })),
    })
    expect(results.filter(({ status }) => status === 'ok')).toHaveLength(257)
    expect(results.filter(({ error }) => error?.code === 'queue_full')).toHaveLength(743)
    expect(results.slice(0, 257).every(({ status }) => status === 'ok')).toBe(true)
  })

  it('says no in its own protocol for a register that it does not have', async () => {
    const bad = await startGateway(
      config((await modbusPeerAgain()).pair.near).replace('register: 9,', 'register: 900,'),
    )
    try {
      const result = await until(
        () => bad.post<CallResult>('/v1/calls', { name: 'one__read_r9' }),
        ({ error }) => error?.code !== 'timeout',
      )
      expect(result).toMatchObject({
        outcome: 'not_executed',
        error: { code: 'device_error', details: { deviceCode: 2 }, retryable: false },
      })
    } finally {
      await bad.remove()
      await others.pop()?.remove()
    }
  })
})

const others: ModbusPeer[] = []
async function modbusPeerAgain(): Promise<ModbusPeer> {
  const peer = await modbusPeer()
  others.push(peer)
  return peer
}

async function trace(gateway: GatewayProcess): Promise<readonly TraceEntry[]> {
  return (await gateway.get<{ entries: TraceEntry[] }>('/v1/ports/bus1/trace?last=10000')).entries
}

/** Requests that went out before the reply to the one before was complete: every reply here has 7 bytes. */
function overlaps(entries: readonly TraceEntry[]): string[] {
  const found: string[] = []
  let expected = 0
  for (const { direction, hex, seq } of entries) {
    const length = hex.split(' ').length
    if (direction === 'rx') expected -= length
    else if (expected > 0) found.push(`entry ${seq} while ${expected} bytes were to come`)
    else expected = 7
  }
  return found
}
