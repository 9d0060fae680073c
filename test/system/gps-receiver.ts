/** A recorded receiver on two pseudo-terminals: the gateway reads one of them, and gpsd the other. */
import { type FileHandle, open } from 'node:fs/promises'
import type { DeviceStatus } from '../../src/driver/device-status.ts'
import type { PortStatus } from '../../src/port/status.ts'
import { type PtyPair, ptyPair } from '../pty/pty-pair.ts'
import { type GatewayProcess, until } from './gateway-process.ts'
import { type Gpsd, startGpsd } from './gpsd.ts'
import { type Epoch, readEpochs } from './nmea-log.ts'

export type Readings = DeviceStatus['readings']

/** What the gateway showed when all of an epoch had arrived. */
export interface Shown {
  readonly epoch: Epoch
  readonly readings: Readings
}

export class Receiver {
  readonly id: string
  readonly epochs: readonly Epoch[]
  readonly shown: Shown[] = []
  readonly pair: PtyPair
  readonly pairOfGpsd: PtyPair
  readonly gpsd: Gpsd
  #far: FileHandle | undefined

  private constructor(id: string, epochs: readonly Epoch[], pair: PtyPair, pairOfGpsd: PtyPair, gpsd: Gpsd) {
    this.id = id
    this.epochs = epochs
    this.pair = pair
    this.pairOfGpsd = pairOfGpsd
    this.gpsd = gpsd
  }

  static async create({ id, file }: { id: string; file: string }): Promise<Receiver> {
    const [pair, pairOfGpsd] = await Promise.all([ptyPair(), ptyPair()])
    try {
      return new Receiver(id, readEpochs(file), pair, pairOfGpsd, await startGpsd(pairOfGpsd.near))
    } catch (error) {
      await Promise.all([pair.remove(), pairOfGpsd.remove()])
      throw error
    }
  }

  get config(): string {
    return `  - { id: ${this.id}, type: nmea-gps, port: { path: ${this.pair.near} } }\n`
  }

  /** Says it to the gateway, and waits until it has arrived there. */
  async say(gateway: GatewayProcess, lines: readonly Buffer[]): Promise<void> {
    const before = (await this.port(gateway)).counters.bytesReceived
    this.#far ??= await open(this.pair.far, 'w')
    for (const line of lines) await this.#far.write(line)
    const length = lines.reduce((all, line) => all + line.length, 0)
    await until(
      async () => (await this.port(gateway)).counters.bytesReceived - before,
      (received) => received === length,
    )
  }

  /** Plays the recording to both, and keeps what the gateway shows after each epoch. */
  async play(gateway: GatewayProcess): Promise<void> {
    const other = await open(this.pairOfGpsd.far, 'w')
    for (const epoch of this.epochs) {
      for (const line of epoch.lines) await other.write(line)
      await this.say(gateway, epoch.lines)
      this.shown.push({ epoch, readings: (await this.status(gateway)).readings })
    }
    await other.close()
  }

  port(gateway: GatewayProcess): Promise<PortStatus> {
    return gateway.get(`/v1/ports/${this.id}`)
  }

  status(gateway: GatewayProcess): Promise<DeviceStatus> {
    return gateway.get(`/v1/devices/${this.id}`)
  }

  async unplug(): Promise<void> {
    await this.#far?.close()
    this.#far = undefined
    await this.pair.unplug()
  }

  async remove(): Promise<void> {
    await this.unplug()
    await this.pair.remove()
    await this.gpsd.remove()
    await this.pairOfGpsd.remove()
  }
}
