/**
 * A pulled cable on real pseudo-terminals: how long after it the call on the line ends, while the device streams bytes
 * and while it is silent. The far end is pyserial behind socat; what it wrote is counted there.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createGateway } from '../src/index.ts'
import type { CallResult } from '../src/tool/shapes.ts'
import { ptyPair } from '../test/pty/pty-pair.ts'
import { median } from './report.ts'

const ROUNDS = 80
const GOAL_MS = 50
const TALKER = join(import.meta.dirname, '..', 'test', 'pty', 'talker.py')

const tools = {
  listen: { command: '!', reply: '^NEVER$', effect: 'read', timeoutMs: 20_000 },
  wait: { command: 'W', reply: '^NEVER$', effect: 'act', timeoutMs: 20_000 },
}

async function round(tool: 'listen' | 'wait'): Promise<{ ms: number; result: CallResult }> {
  const line = await ptyPair()
  const child = spawn('/usr/bin/python3', [TALKER, line.far], { stdio: ['ignore', 'pipe', 'ignore'] })
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
  const port = { path: line.near, baudRate: 115_200 }
  const gateway = await createGateway({ config: { devices: [{ id: 'board', type: 'line', port, tools }] } })
  const call = gateway.call({ name: `board__${tool}` })
  const counted = () => gateway.ports()[0]?.counters
  const isBusy = () =>
    tool === 'listen' ? (counted()?.bytesReceived ?? 0) > 2_000 : (counted()?.bytesSent ?? 0) > 0
  while (!isBusy()) await new Promise((resolve) => setTimeout(resolve, 5))
  const pulledAt = performance.now()
  const unplugged = line.unplug()
  const result = await call
  const ms = performance.now() - pulledAt
  await unplugged
  child.kill('SIGKILL')
  await gateway.close()
  await line.remove()
  return { ms, result }
}

export async function run(): Promise<boolean> {
  console.log(`\nA pulled cable: from the pull to the end of the call, ${ROUNDS} rounds each`)
  let holds = true
  for (const tool of ['listen', 'wait'] as const) {
    const times: number[] = []
    let honest = 0
    for (let count = 0; count < ROUNDS; count += 1) {
      const { ms, result } = await round(tool)
      times.push(ms)
      if (result.error?.code === 'port_lost' && result.outcome === 'unknown') honest += 1
    }
    const inTime = times.filter((ms) => ms < GOAL_MS).length
    holds &&= honest === ROUNDS && inTime === ROUNDS
    console.log(
      `${tool === 'listen' ? 'streaming' : 'silent   '}  median ${median(times).toFixed(1)} ms, longest ${Math.max(...times).toFixed(1)} ms; ` +
        `${inTime} of ${ROUNDS} under ${GOAL_MS} ms; port_lost and unknown ${honest} of ${ROUNDS}`,
    )
  }
  return holds
}
