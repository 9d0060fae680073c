/** Ten megabytes of random bytes from a device, for each framing: no harm, and the next proper reply is understood. */
import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import type { PortStatus } from '../../src/port/status.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type PtyPair, ptyPair } from '../pty/pty-pair.ts'
import { type GatewayProcess, startGateway, until } from './gateway-process.ts'
import { type ModbusPeer, modbusPeer } from './modbus-peer.ts'

const FLOOD_BYTES = 10 * 1024 * 1024
const clean: (() => Promise<unknown> | unknown)[] = []

afterEach(async () => {
  for (const remove of clean.splice(0).reverse()) await remove()
})

/** Resident memory of a process, in MiB. */
async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

async function flood(path: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', `head -c ${FLOOD_BYTES} /dev/urandom > '${path}'`])
}

async function floodAndWatch(gateway: GatewayProcess, pair: PtyPair, port: string): Promise<PortStatus> {
  await until(
    () => gateway.get<PortStatus>(`/v1/ports/${port}`),
    ({ state }) => state === 'open',
  )
  // The first megabytes fill what is bounded: the trace and the heap's young generation.
  await flood(pair.far)
  const beforeMiB = await residentMiB(gateway.pid)
  await flood(pair.far)
  const status = await until(
    () => gateway.get<PortStatus>(`/v1/ports/${port}`),
    ({ counters }) => counters.bytesReceived >= 2 * FLOOD_BYTES,
    60_000,
  )
  expect((await residentMiB(gateway.pid)) - beforeMiB).toBeLessThan(48)
  return status
}

describe('ten megabytes of random bytes', () => {
  it('leave a Modbus line understanding its next reply', async () => {
    const peer: ModbusPeer = await modbusPeer()
    clean.push(() => peer.remove())
    const gateway = await startGateway(`
devices:
  - id: meter
    type: modbus
    poll: off
    address: 1
    port: { path: ${peer.pair.near}, baudRate: 115200 }
    registers:
      - { name: value, register: 7, kind: holding, format: uint16 }
`)
    clean.push(() => gateway.remove())
    const status = await floodAndWatch(gateway, peer.pair, 'meter')
    expect(status).toMatchObject({ state: 'open' })
    await peer.serve()
    const result = await until(
      () => gateway.post<CallResult>('/v1/calls', { name: 'meter__read_value' }),
      ({ status: how }) => how === 'ok',
    )
    expect(result.value).toEqual({ value: 1007 })
  })

  it('leave a line of text understanding its next reply', async () => {
    const pair = await ptyPair()
    clean.push(() => pair.remove())
    const gateway = await startGateway(`
devices:
  - id: board
    type: line
    poll: off
    port: { path: ${pair.near}, baudRate: 115200 }
    terminator: "\\r"
    tools:
      read_value: { command: "?", reply: "^V=(?<value>[0-9]+)$", returns: { value: integer }, effect: read, parallelSafe: true }
`)
    clean.push(() => gateway.remove())
    const status = await floodAndWatch(gateway, pair, 'board')
    expect(status.counters.frames + status.counters.frameErrors.overflow).toBeGreaterThan(0)
    const child = spawn('/usr/bin/python3', [join(import.meta.dirname, '..', 'pty', 'talker.py'), pair.far], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    clean.push(() => child.kill('SIGKILL'))
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
    const result = await until(
      () => gateway.post<CallResult>('/v1/calls', { name: 'board__read_value' }),
      ({ status: how }) => how === 'ok',
    )
    expect(result.value).toEqual({ value: 42 })
  })
})
