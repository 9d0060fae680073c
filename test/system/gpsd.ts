/** gpsd on a pseudo-terminal: what another program makes of the sentences that the gateway reads too. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { until } from './gateway-process.ts'

/** Debian has it where the path of a user does not lead. */
const GPSD = '/usr/sbin/gpsd'

/** The report "time, position, velocity", gpsd_json(5). Degrees, metres, metres a second; mode 0 and 1: no fix. */
export interface Report {
  readonly class: 'TPV'
  readonly mode: number
  /** Its date is gpsd's guess at which 1,024 weeks of GPS are meant; the time of day is the receiver's. */
  readonly time?: string
  readonly lat?: number
  readonly lon?: number
  readonly altMSL?: number
  readonly speed?: number
  readonly track?: number
}

export interface Gpsd {
  /** What it said of the receiver until now. */
  readonly reports: readonly Report[]
  remove(): Promise<void>
}

interface Devices {
  readonly class: 'DEVICES'
  readonly devices: readonly { readonly activated?: string }[]
}

/** It has the pseudo-terminal open when this resolves. */
export async function startGpsd(path: string): Promise<Gpsd> {
  const device = await realpath(path)
  const port = await freePort()
  // In the foreground, at once, never writing to a receiver.
  const child = spawn(GPSD, ['-N', '-n', '-b', '-S', String(port), device], { stdio: 'ignore' })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`gpsd ended with ${code}`)))
  })
  failed.catch(() => undefined)
  const socket = await Promise.race([failed, connection(port)])
  const reports: Report[] = []
  let isReading = false
  createInterface({ input: socket }).on('line', (line) => {
    const message = JSON.parse(line) as Report | Devices | { class: 'VERSION' | 'WATCH' | 'SKY' }
    if (message.class === 'TPV') reports.push(message)
    if (message.class === 'DEVICES')
      isReading = message.devices.some(({ activated }) => activated !== undefined)
  })
  socket.write('?WATCH={"enable":true,"json":true};\n')
  await Promise.race([failed, until(() => isReading, Boolean)])
  return {
    reports,
    remove: async () => {
      socket.destroy()
      await ended(child)
    },
  }
}

/** Tries until it listens. */
async function connection(port: number): Promise<Socket> {
  let socket: Socket | undefined
  await until(async () => {
    socket = await connected(port)
    return socket !== undefined
  }, Boolean)
  assert(socket)
  return socket
}

function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    // Before it is connected there is no gpsd yet; later its end is seen by whoever reads.
    socket.on('error', () => resolve(undefined))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exit
}
