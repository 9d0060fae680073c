/** Wires the layers: the one place where a gateway is put together, for the command, the tests and the library alike. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Clock, pause, systemClock } from './clock.ts'
import type { Configuration, DeviceConfiguration } from './config/configuration.ts'
import { ConfigurationStore } from './config/configuration-store.ts'
import { type ConfigurationDifference, configurationDifference } from './config/difference.ts'
import { loadCatalogue } from './driver/catalogue.ts'
import type { DeviceStatus } from './driver/device-status.ts'
import type { DeviceType } from './driver/device-type.ts'
import { Poller } from './driver/poller.ts'
import { homeOf } from './home-of.ts'
import { SHUTDOWN_RUNS_MS, SHUTDOWN_TOTAL_MS } from './limits.ts'
import { Lines } from './lines.ts'
import { type Log, silentLog } from './log.ts'
import type { BindingInterface } from './port/binding-interface.ts'
import type { Host } from './port/host.ts'
import type { Port } from './port/port.ts'
import { Scheduler } from './scheduler/scheduler.ts'
import { adminToken, newToken } from './store/admin-token.ts'
import { beginRun, endRun } from './store/run-marker.ts'
import { CallIntake } from './tool/call-intake.ts'
import { type DefinedTool, toolOf } from './tool/define-tool.ts'
import { deviceTools } from './tool/device-tool.ts'
import { EmergencyStop } from './tool/emergency-stop.ts'
import { EventFeed } from './tool/event-feed.ts'
import { Gate, type OpenLane } from './tool/gate.ts'
import type { Home, PortView, Principal } from './tool/home.ts'
import { Interlock } from './tool/interlock.ts'
import { sendRaw } from './tool/raw-send.ts'
import type {
  BatchOptions,
  BatchResponse,
  CallRequest,
  CallResult,
  PlanResponse,
  SendRequest,
  SendResult,
  ToolView,
} from './tool/shapes.ts'
import { ToolRegistry } from './tool/tool-registry.ts'
import { createHttpServer } from './transport/http/server.ts'

export interface GatewayParts {
  readonly configuration: Configuration
  /** Where the configuration was read from, and as what: that is reloaded and written. */
  readonly file?: { readonly path: string; readonly configuration: Configuration } | undefined
  /** Default: the types of the catalogue. */
  readonly types?: ReadonlyMap<string, DeviceType>
  /** For every port that is not simulated; default: the host's own serial ports. */
  readonly binding?: BindingInterface | undefined
  /** What is known of the paths of that binding; default: nothing, they are names. */
  readonly host?: Host | undefined
  readonly clock?: Clock | undefined
  readonly log?: Log | undefined
  readonly tools?: readonly DefinedTool[] | undefined
  /**
   * The process before this one was killed: what its devices may still answer is waited out. Default: what the state
   * directory says, else false.
   */
  readonly afterUncleanEnd?: boolean | undefined
}

/** Whoever has the gateway in its own process may do everything. */
const OWNER: Principal = { id: 'library', name: 'library', role: 'admin' }
/** How long a port that is going may take to finish what waits for it. */
const DRAIN_MS = 5_000
const DRAIN_LOOK_MS = 20

export class Gateway {
  #configuration: Configuration
  /** As it was written: what a command line put in its place does not count as a change. */
  #written: Configuration
  readonly types: ReadonlyMap<string, DeviceType>
  readonly #clock: Clock
  readonly #lines: Lines
  readonly #scheduler: Scheduler
  readonly #registry = new ToolRegistry()
  readonly #interlock: Interlock
  readonly gate: Gate
  readonly emergencyStop: EmergencyStop
  readonly feed: EventFeed
  readonly store: ConfigurationStore | undefined
  readonly #pollers = new Map<string, Poller>()
  /** The gateway as its transports see it. */
  readonly home: Home
  readonly #createServer: () => FastifyInstance
  #server: FastifyInstance | undefined
  /** The token of the first admin. */
  readonly adminToken: string
  #bound: string | undefined
  readonly #afterUncleanEnd: boolean
  #isOpen = false
  #closing: Promise<void> | undefined

  private constructor(parts: GatewayParts, types: ReadonlyMap<string, DeviceType>, token: string) {
    const { configuration } = parts
    const clock = parts.clock ?? systemClock
    const log = parts.log ?? silentLog
    this.#configuration = configuration
    this.#written = parts.file?.configuration ?? configuration
    this.types = types
    this.#clock = clock
    this.adminToken = token
    this.#afterUncleanEnd = parts.afterUncleanEnd ?? false
    this.store = parts.file && new ConfigurationStore(parts.file.path)
    this.feed = new EventFeed(clock)
    const { policy, queueLength } = configuration.scheduler
    this.#scheduler = new Scheduler({ clock, queueLength, log })
    this.#lines = this.#createLines(parts, clock, log)
    this.#interlock = new Interlock(clock, configuration.never)
    const intake = new CallIntake({
      clock,
      registry: this.#registry,
      interlock: this.#interlock,
      isStopped: () => this.emergencyStop.isLatched,
    })
    this.gate = new Gate({
      clock,
      scheduler: this.#scheduler,
      intake,
      policy,
      onSettled: (call) => this.feed.publish('call', call),
    })
    this.emergencyStop = new EmergencyStop({
      clock,
      log,
      scheduler: this.#scheduler,
      commands: () => this.#stopCommands(),
      send: (command, principal) => this.gate.stopCommand(command, principal),
    })
    for (const { id } of configuration.ports) this.#lines.addPort(configuration, id)
    for (const device of configuration.devices) this.#addDevice(device)
    for (const definition of parts.tools ?? []) this.#registry.add(toolOf(definition, clock))
    this.home = homeOf(this)
    const { allowedHosts, allowedOrigins } = configuration.http
    const http = { clock, log, allowedHosts, allowedOrigins, bound: () => this.#bound }
    this.#createServer = () => createHttpServer({ ...http, home: this.home, stopping: () => this.isClosing })
  }

  /** Puts a gateway together. It touches no port before `open`, and serves nothing before `listen`. */
  static async create(parts: GatewayParts): Promise<Gateway> {
    const { configuration } = parts
    const clock = parts.clock ?? systemClock
    const types = parts.types ?? (await loadCatalogue())
    const { stateDir } = configuration
    if (stateDir === undefined) return new Gateway(parts, types, newToken(clock))
    const token = await adminToken(clock, stateDir)
    const isMarked = await beginRun(stateDir)
    return new Gateway({ ...parts, afterUncleanEnd: parts.afterUncleanEnd ?? isMarked }, types, token)
  }

  /** Creates a gateway and opens it. */
  static async start(parts: GatewayParts): Promise<Gateway> {
    const gateway = await Gateway.create(parts)
    gateway.open()
    return gateway
  }

  /** Opens the ports, now or when their devices appear, and starts to poll. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    if (this.#afterUncleanEnd) this.#lines.expectAnything()
    for (const port of this.#lines.ports) port.start()
    for (const poller of this.#pollers.values()) poller.start()
  }

  call(call: CallRequest & BatchOptions, options?: BatchOptions): Promise<CallResult> {
    return this.gate.call({ ...options, ...call }, OWNER)
  }

  batch(calls: readonly CallRequest[], options?: BatchOptions): Promise<BatchResponse> {
    return this.gate.batch({ ...options, calls }, OWNER)
  }

  plan(calls: readonly CallRequest[], options?: BatchOptions): PlanResponse {
    return this.gate.plan({ ...options, calls }, OWNER)
  }

  /** An ordered stream of calls, added one by one. */
  lane(options: BatchOptions = {}): OpenLane {
    return this.gate.openLane(options, OWNER)
  }

  tools(): readonly ToolView[] {
    return this.#registry.views()
  }

  devices(): readonly DeviceStatus[] {
    return Array.from(this.#lines.devices.values(), ({ driver }) => driver.status())
  }

  device(id: string): DeviceStatus | undefined {
    return this.#lines.devices.get(id)?.driver.status()
  }

  ports(): readonly PortView[] {
    return this.#lines.ports.map((port) => this.portView(port))
  }

  port(id: string): Port | undefined {
    return this.#lines.port(id)
  }

  /** Raw bytes, through the queue of the port. */
  send(port: Port, request: SendRequest): Promise<SendResult> {
    const isStopped = () => this.emergencyStop.isLatched
    return sendRaw({ clock: this.#clock, scheduler: this.#scheduler, isStopped }, port, request)
  }

  portView(port: Port): PortView {
    return { ...port.status(), queue: this.#scheduler.waiting(port.id) }
  }

  get configuration(): Configuration {
    return this.#configuration
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** Fastify's own: a request without a socket. */
  inject(request: InjectOptions | string): Promise<LightMyRequestResponse> {
    return this.#http().inject(request)
  }

  /** Serves, and resolves with the URL. Rejects with the error of the socket. */
  async listen(): Promise<string> {
    const { host, port } = this.#configuration.http
    await this.#http().listen({ host, port })
    this.#bound = host
    // The library would name one address of many: whoever listens on all of them should see that.
    const address = this.#http().server.address()
    const shown = host.includes(':') ? `[${host}]` : host
    return `http://${shown}:${typeof address === 'object' && address ? address.port : port}`
  }

  /**
   * Applies another configuration: ports and devices that it does not change stay as they are, open and with their
   * values; what runs or waits on a line that goes is finished first, for a bounded time.
   */
  async apply(next: Configuration): Promise<ConfigurationDifference> {
    const before = this.#configuration
    const difference = configurationDifference(this.#written, next, (of, id) => this.#lines.framingOf(of, id))
    this.#written = next
    const { ports, devices } = difference
    this.#configuration = { ...next, http: before.http, scheduler: before.scheduler }
    this.#interlock.replace(next.never)
    for (const id of [...devices.removed, ...devices.changed]) this.#removeDevice(id)
    const goes = [...ports.removed, ...ports.changed]
    const gone = goes.flatMap((id) => this.port(id) ?? [])
    const leaving = goes.map((id) => this.#leave(id))
    for (const id of ports.removed) this.#lines.removePort(id)
    for (const id of [...ports.changed, ...ports.added]) this.#lines.addPort(next, id)
    this.#lines.replug(next, ports)
    const all = new Set([...devices.added, ...devices.changed])
    for (const device of next.devices) if (all.has(device.id)) this.#addDevice(device)
    const come = [...ports.changed, ...ports.added].flatMap((id) => this.port(id) ?? [])
    // A reply that is late does not care by what name or with what settings its port is opened next.
    const left = Promise.all(leaving).then(() => {
      for (const port of come) {
        for (const before of gone) if (before.path === port.path) port.inherit(before)
      }
    })
    for (const port of come) if (this.#isOpen) port.start(left)
    await left
    return difference
  }

  /**
   * Stops: nothing new is taken, what waits is answered `stopped`, what is on the wire may finish for a while and
   * is stopped then, and every port is closed. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const poller of this.#pollers.values()) poller.stop()
    const finished = this.#scheduler.shutdown()
    await this.#atMost(SHUTDOWN_RUNS_MS, finished)
    this.#scheduler.abortRunning()
    // A stopped run still waits a moment for its reply; only then may its line go.
    await this.#atMost(SHUTDOWN_TOTAL_MS - SHUTDOWN_RUNS_MS, finished)
    const mayBeAnswered = this.#lines.ports.some((port) => port.mayBeAnswered)
    await Promise.all(this.#lines.ports.map((port) => port.stop()))
    this.#lines.unplugSimulation()
    await this.#server?.close()
    const { stateDir } = this.#configuration
    // What a device has still to say concerns the next process, however this one ended.
    // One that never opened a port leaves the mark that it found.
    const isClean = this.#isOpen ? !mayBeAnswered : !this.#afterUncleanEnd
    if (stateDir !== undefined && isClean) await endRun(stateDir)
  }

  /** Made when it is first needed: a gateway inside a program often serves nothing. */
  #http(): FastifyInstance {
    this.#server ??= this.#createServer()
    return this.#server
  }

  async #atMost(durationMs: number, work: Promise<void>): Promise<void> {
    const patience = new AbortController()
    await Promise.race([work, pause(this.#clock, durationMs, patience.signal)])
    patience.abort()
  }

  #createLines({ binding, host }: GatewayParts, clock: Clock, log: Log): Lines {
    return new Lines({
      types: () => this.types,
      clock,
      log,
      binding,
      host,
      onPortChange: (id) => {
        this.#scheduler.recheck(`port:${id}`)
        const port = this.port(id)
        if (port && this.feed.isHeard) this.feed.publish('port', this.portView(port))
      },
      listener: (device) => ({
        onReading: (reading) => this.feed.publish('reading', { device, ...reading }),
        onEvent: (name, fields, at) => this.feed.publish('event', { device, name, fields, at }),
        onAvailability: () => this.feed.publish('device', this.device(device)),
      }),
    })
  }

  #addDevice(device: DeviceConfiguration): void {
    if (!device.enabled) return
    const { driver, type } = this.#lines.addDevice(device)
    for (const tool of deviceTools(driver, type.serial)) this.#registry.add(tool)
    const { poll } = driver.description
    if (device.pollMs === undefined || poll === undefined) return
    const poller = new Poller({
      clock: this.#clock,
      everyMs: device.pollMs,
      poll: async () => {
        await this.gate.poll(`${device.id}__${poll.tool}`)
      },
      misses: () => driver.misses,
    })
    this.#pollers.set(device.id, poller)
    if (this.#isOpen) poller.start()
  }

  #removeDevice(id: string): void {
    this.#pollers.get(id)?.stop()
    this.#pollers.delete(id)
    this.#registry.removeDevice(id)
    this.#lines.removeDevice(id)
  }

  /** Lets a port finish what waits for it, and closes it. */
  async #leave(id: string): Promise<void> {
    const port = this.port(id)
    const endAt = this.#clock.now() + DRAIN_MS
    const isBusy = () => {
      const { waiting, running } = this.#scheduler.waiting(id)
      return waiting + running > 0
    }
    while (isBusy() && this.#clock.now() < endAt) await pause(this.#clock, DRAIN_LOOK_MS)
    await port?.stop()
  }

  #stopCommands(): CallRequest[] {
    return this.#configuration.devices.flatMap(({ id, enabled, stop }) =>
      enabled ? stop.map((entry) => ({ name: `${id}__${entry.command}`, arguments: entry.arguments })) : [],
    )
  }
}
