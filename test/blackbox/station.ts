/** A cable with a device at its far end. The cable can be pulled while the device goes on, and the other way round. */
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DEVICE_LATENCY_MAX_MS } from './configuration.ts'
import { type OwnedProcess, startOwned } from './owned-process.ts'

const PYTHON = '/usr/bin/python3'

export interface Fates {
  readonly seed: string
  /** Shares of the requests whose reply comes late, or never. */
  readonly late: number
  readonly mute: number
}

export interface Station {
  readonly name: string
  /** The gateway's end. */
  readonly near: string
  /** The file of the device's log. */
  readonly log: string
  unplug(): Promise<void>
  plug(): Promise<void>
  killDevice(): Promise<void>
  startDevice(): Promise<void>
  remove(): Promise<void>
}

/** Two pseudo-terminals joined by socat, behind links of fixed names. */
class Cable {
  readonly near: string
  readonly far: string
  readonly #directory: string
  /** A pseudo-terminal hangs up when its last opener goes, a UART does not: both ends have one opener that stays. */
  readonly #held: number[] = []
  #socat: OwnedProcess | undefined

  constructor(directory: string) {
    this.#directory = directory
    this.near = join(directory, 'near')
    this.far = join(directory, 'far')
  }

  async plug(): Promise<void> {
    const ends = [this.near, this.far]
    const addresses = ends.map((link) => `pty,raw,echo=0,link=${link}`)
    this.#socat = startOwned('socat', addresses, this.#directory)
    while (!ends.every((end) => existsSync(end))) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (this.#socat.hasEnded()) throw new Error(`socat ended: ${this.#socat.stderr()}`)
    }
    const flags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK
    for (const end of ends) this.#held.push(openSync(end, flags))
  }

  async unplug(): Promise<void> {
    await this.#socat?.end('SIGKILL')
    this.#socat = undefined
    for (const descriptor of this.#held.splice(0)) closeSync(descriptor)
    // A killed socat leaves its links behind, and they lead nowhere.
    await rm(this.near, { force: true })
    await rm(this.far, { force: true })
  }
}

/** `name`: meters (Modbus), board (replies name their request) or amp (they do not). */
export async function buildStation(name: string, directory: string, fates: Fates): Promise<Station> {
  await mkdir(join(directory, name))
  const cable = new Cable(join(directory, name))
  const log = join(directory, `${name}.log`)
  let device: OwnedProcess | undefined
  const startDevice = async () => {
    const given = [`${fates.seed}/${name}`, `${fates.late}`, `${fates.mute}`, `${DEVICE_LATENCY_MAX_MS}`]
    const style = name === 'board' ? 'named' : 'bare'
    const [script, ...args] =
      name === 'meters'
        ? (['modbus-device.py', cable.far, log, ...given] as const)
        : (['line-device.py', cable.far, log, name, ...given, style] as const)
    device = startOwned(PYTHON, [join(import.meta.dirname, script), ...args], directory)
    await device.says(/ready/)
  }
  const killDevice = async () => {
    await device?.end('SIGKILL')
  }
  const remove = async () => {
    await killDevice()
    await cable.unplug()
  }
  try {
    await cable.plug()
    await startDevice()
  } catch (error) {
    await remove()
    throw error
  }
  return {
    name,
    near: cable.near,
    log,
    unplug: () => cable.unplug(),
    plug: () => cable.plug(),
    killDevice,
    startDevice,
    remove,
  }
}
