/** The home of a simulated run: its wires, its devices, and the process of the gateway, which may be killed. */

import type { Configuration } from '../../src/config/configuration.ts'
import { validateConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { Gateway } from '../../src/gateway.ts'
import type { LineSettings } from '../../src/port/request.ts'
import { createSimulatedBinding, type SimulatedBinding } from '../../src/simulator/binding.ts'
import { attachSimulators } from '../../src/simulator/host.ts'
import type { SimulatedWire } from '../../src/simulator/wire.ts'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type FateTable, fatesOf, operationFailureOf, wireFaultsOf } from './fates.ts'
import type { Plan, PortPlan } from './plan.ts'
import { Prng } from './prng.ts'
import { Recorder } from './recorder.ts'
import { SimulatedClock, type View, WORLD } from './simulated-clock.ts'
import { createStation, type Station } from './stations.ts'
import { Tap } from './tapped-binding.ts'
import { simulationTools } from './tools.ts'
import { BUS_TYPE, simulationTypes, TEXT_OPTIONS, TEXT_TYPE } from './types.ts'

export class World {
  readonly plan: Plan
  readonly clock: SimulatedClock
  readonly view: View
  readonly recorder: Recorder
  readonly tap: Tap
  readonly stations = new Map<string, Station>()
  /** Devices that neither hear nor speak. */
  readonly wedged = new Set<string>()
  readonly #binding: SimulatedBinding
  readonly #configuration: Configuration
  #fates: FateTable
  #life: Life | undefined
  #lives = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.clock = new SimulatedClock(new Prng(plan.seed).fork('clock'))
    this.view = this.clock.view(WORLD)
    this.recorder = new Recorder(() => this.clock.now)
    this.#binding = createSimulatedBinding({ clock: this.view })
    this.#fates = fatesOf(plan.faults)
    this.#configuration = configurationOf(plan)
    const ports = new Map(plan.home.ports.map((port) => [port.id, port]))
    this.tap = new Tap({
      binding: this.#binding,
      clock: this.clock,
      recorder: this.recorder,
      kindOf: (id) => ports.get(id)?.kind ?? 'text',
      failureOf: (id, index) => operationFailureOf(plan.faults, id, index),
      deviceAt: (id, unit) => ports.get(id)?.devices.find((d) => unit === 0 || d.address === unit)?.id,
    })
    for (const port of plan.home.ports) this.#addPort(port)
  }

  wire(port: string): SimulatedWire {
    const wire = this.#binding.wire(port)
    if (!wire) throw new Error(`there is no wire ${port}`)
    return wire
  }

  settings(port: string): LineSettings {
    const found = this.#configuration.ports.find(({ id }) => id === port)
    if (!found) throw new Error(`there is no port ${port}`)
    return found.settings
  }

  /** The gateway that runs now; undefined: it is down. */
  get gateway(): Gateway | undefined {
    return this.#life?.gateway
  }

  /** Which life of the process runs, from 0. */
  get life(): number {
    return this.#lives - 1
  }

  /** Timers of the gateway. */
  get timers(): number {
    return this.#life?.view.pending ?? 0
  }

  /** The process starts. */
  async start(): Promise<void> {
    const life = this.#lives
    this.#lives += 1
    const view = this.clock.view(`gateway:${life}`)
    const binding = this.tap.binding(view, life)
    const gateway = await Gateway.start({
      configuration: this.#configuration,
      types: simulationTypes,
      binding,
      host: this.#binding.host,
      clock: view,
      afterUncleanEnd: life > 0,
      tools: simulationTools(view, this.recorder),
    })
    gateway.feed.subscribe(undefined, ({ type, data }) => {
      if (type === 'call') this.recorder.callTold(data as CallResult)
      if (type !== 'reading') return
      const { device, value } = data as { readonly device: string; readonly value: unknown }
      this.recorder.reading(device, value)
    })
    this.#life = { gateway, view, kill: () => binding.kill() }
  }

  /** The process is killed: from now on nothing of it happens. */
  kill(): void {
    this.#life?.view.kill()
    this.#life?.kill()
    this.#life = undefined
    this.recorder.note(`${this.clock.now} killed`)
  }

  jumpWall(byMs: number): void {
    this.#life?.view.jumpWall(byMs)
  }

  /** Nothing goes wrong any more. */
  heal(): void {
    this.#fates = fatesOf([])
    this.wedged.clear()
    this.tap.heal()
    for (const { id } of this.plan.home.ports) {
      const wire = this.wire(id)
      wire.faults = {}
      while (wire.takeOpenFault()) {}
      wire.settings = this.settings(id)
      wire.resume()
      wire.replug()
    }
  }

  #addPort(port: PortPlan): void {
    const { id, kind, latencyMs } = port
    const wire = this.#binding.addWire(id, { settings: this.settings(id), latencyMs })
    wire.faults = wireFaultsOf(this.plan.faults, port)
    const devices = port.devices.map((plan) => {
      const station = createStation({
        plan,
        kind,
        recorder: this.recorder,
        fate: (request) => this.#fates.fate(plan.id, request),
        isWedged: () => this.wedged.has(plan.id),
      })
      this.stations.set(plan.id, station)
      return { id: plan.id, simulator: station.simulator }
    })
    attachSimulators(wire, devices)
  }
}

interface Life {
  readonly gateway: Gateway
  readonly view: View
  readonly kill: () => void
}

function configurationOf({ home }: Plan): Configuration {
  const object = {
    scheduler: { queueLength: home.queueLength },
    ports: Object.fromEntries(
      home.ports.map(({ id, baudRate }) => [id, { path: id, baudRate, parity: 'none', stopBits: 1 }]),
    ),
    devices: home.ports.flatMap(({ id: port, kind, devices }) =>
      devices.map((device) => ({
        id: device.id,
        port,
        timeoutMs: device.timeoutMs,
        replyLatencyMaxMs: device.replyLatencyMaxMs,
        gapMs: device.gapMs,
        poll: device.pollMs === undefined ? 'off' : `${device.pollMs}ms`,
        ...(kind === 'bus'
          ? { type: BUS_TYPE, address: device.address }
          : { type: TEXT_TYPE, ...TEXT_OPTIONS }),
      })),
    ),
  }
  const { configuration, faults } = validateConfiguration(object, configurableTypes(simulationTypes))
  if (!configuration) throw new Error(`the simulated home is not valid: ${JSON.stringify(faults)}`)
  return configuration
}
