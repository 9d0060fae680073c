/**
 * A gateway that stood still: the process is stopped by the system while a reply comes in time. Its bytes wait in the
 * kernel, and the next request must not take them.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { CallResult } from '../../src/tool/shapes.ts'
import { startGateway, until } from '../system/gateway-process.ts'
import { ptyPair } from './pty-pair.ts'

const clean: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const remove of clean.splice(0).reverse()) await remove()
})

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a gateway that stood still', () => {
  it('gives no reply that came meanwhile to the next request', async () => {
    for (let round = 0; round < 3; round += 1) {
      const pair = await ptyPair()
      clean.push(() => pair.remove())
      const echo = spawn('/usr/bin/python3', [join(import.meta.dirname, 'slow-echo.py'), pair.far], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      clean.push(() => echo.kill('SIGKILL'))
      await new Promise<void>((resolve) => echo.stdout.once('data', () => resolve()))
      const gateway = await startGateway(`
devices:
  - id: board
    type: line
    poll: off
    port: { path: ${pair.near}, baudRate: 115200 }
    terminator: "\\r"
    timeoutMs: 300
    replyLatencyMaxMs: 600
    tools:
      read_one: { command: "1", reply: "^V(?<v>[0-9]+)$", returns: { v: integer }, effect: read, parallelSafe: true }
      read_two: { command: "2", reply: "^V(?<v>[0-9]+)$", returns: { v: integer }, effect: read, parallelSafe: true }
`)
      clean.push(() => gateway.remove())
      await until(
        () => gateway.post<CallResult>('/v1/calls', { name: 'board__read_two' }),
        ({ status }) => status === 'ok',
      )
      // The device answers "1" after 200 ms, in time, and "2" after 20 ms.
      const one = gateway.post<CallResult>('/v1/calls', { name: 'board__read_one' })
      await sleep(40)
      const two = gateway.post<CallResult>('/v1/calls', { name: 'board__read_two' })
      await sleep(60)
      process.kill(gateway.pid, 'SIGSTOP')
      await sleep(2_000)
      process.kill(gateway.pid, 'SIGCONT')
      expect(await one).toMatchObject({ status: 'ok', value: { v: 1 } })
      expect(await two).toMatchObject({ status: 'ok', value: { v: 2 } })
    }
  })
})
