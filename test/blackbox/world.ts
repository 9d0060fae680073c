/** The gateway process, three ptys and what is behind them: everything that is broken during a run. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyBuild, type Patch } from './build-copy.ts'
import { configuration } from './configuration.ts'
import { type DeviceEntry, nowMs, parseDeviceLog } from './history.ts'
import { type OwnedProcess, startOwned } from './owned-process.ts'
import { buildStation, type Fates, type Station } from './station.ts'

export interface WorldOptions extends Fates {
  readonly patches?: readonly Patch[]
}

export interface World {
  /** Of the running gateway; a new one after each start. */
  url(): string
  readonly token: string
  readonly stations: readonly Station[]
  /** SIGKILL, and a new process `afterMs` later, on the same state directory and port. */
  killGateway(afterMs: number): Promise<void>
  stopGateway(): Promise<number | null>
  gatewayErrors(): string
  logs(): Promise<DeviceEntry[][]>
  remove(): Promise<void>
}

export async function buildWorld(options: WorldOptions): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'baudway-blackbox-'))
  const clean: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })]
  const remove = async () => {
    for (const each of clean.splice(0).reverse()) await each()
  }
  try {
    const main = await copyBuild(join(directory, 'build'), options.patches)
    const stations: Station[] = []
    for (const name of ['meters', 'board', 'amp']) {
      const station = await buildStation(name, directory, options)
      clean.push(() => station.remove())
      stations.push(station)
    }
    const [meters = '', board = '', amp = ''] = stations.map(({ near }) => near)
    await writeFile(join(directory, 'baudway.yaml'), configuration(meters, board, amp))
    const gateway = await startGateway(main, directory)
    clean.push(() => gateway.end('SIGKILL'))
    return {
      ...gateway,
      stations,
      killGateway: async (afterMs) => {
        const killedAt = nowMs()
        await gateway.end('SIGKILL')
        await sleep(Math.max(0, killedAt + afterMs - nowMs()))
        await gateway.start()
      },
      stopGateway: () => gateway.end('SIGTERM'),
      logs: () => Promise.all(stations.map(async ({ log }) => parseDeviceLog(await readFile(log, 'ascii')))),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function startGateway(main: string, directory: string) {
  let port = '0'
  let url = ''
  let errors = ''
  let running: OwnedProcess | undefined
  const start = async () => {
    const args = [main, 'start', '--config', 'baudway.yaml', '--port', port, '--state-dir', 'state']
    const started = startOwned(process.execPath, args, directory)
    running = started
    url = (await started.says(/baudway listening on (\S+)/))[1] ?? ''
    port = new URL(url).port
  }
  await start()
  return {
    token: (await readFile(join(directory, 'state', 'admin.token'), 'utf8')).trim(),
    url: () => url,
    start,
    end: async (signal: NodeJS.Signals) => {
      const code = (await running?.end(signal)) ?? null
      errors += running?.stderr() ?? ''
      running = undefined
      return code
    },
    gatewayErrors: () => errors + (running?.stderr() ?? ''),
  }
}

export function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs))
}
