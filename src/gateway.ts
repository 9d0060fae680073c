/** Wires the layers: the one place where a gateway is put together, for the command, the tests and the library alike. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Clock, pause, systemClock } from './clock.ts'
import type { Configuration } from './config/configuration.ts'
import { loadCatalogue } from './driver/catalogue.ts'
import type { DeviceType } from './driver/device-type.ts'
import { Poller } from './driver/poller.ts'
import { SHUTDOWN_RUNS_MS, SHUTDOWN_TOTAL_MS } from './limits.ts'
import { createLines, type Lines } from './line-plan.ts'
import { type Log, silentLog } from './log.ts'
import type { BindingInterface } from './port/binding-interface.ts'
import type { Host } from './port/host.ts'
import type { Port } from './port/port.ts'
import { Scheduler } from './scheduler/scheduler.ts'
import { adminToken, newToken } from './store/admin-token.ts'
import { type DefinedTool, toolOf } from './tool/define-tool.ts'
import { deviceTools } from './tool/device-tool.ts'
import { Gate, type OpenLane } from './tool/gate.ts'
import type { Home, PortView, Principal } from './tool/home.ts'
import { Interlock } from './tool/interlock.ts'
import type {
  BatchOptions,
  BatchResponse,
  CallRequest,
  CallResult,
  PlanResponse,
  ToolView,
} from './tool/shapes.ts'
import { ToolRegistry } from './tool/tool-registry.ts'
import { createHttpServer } from './transport/http/server.ts'
import { VERSION } from './version.ts'

export interface GatewayParts {
  readonly configuration: Configuration
  /** Default: the types of the catalogue. */
  readonly types?: ReadonlyMap<string, DeviceType>
  /** For every port that is not simulated; default: the host's own serial ports. */
  readonly binding?: BindingInterface | undefined
  /** What is known of the paths of that binding; default: nothing, they are names. */
  readonly host?: Host | undefined
  readonly clock?: Clock | undefined
  readonly log?: Log | undefined
  readonly tools?: readonly DefinedTool[] | undefined
}

/** Whoever has the gateway in its own process may do everything. */
const OWNER: Principal = { id: 'library', name: 'library', role: 'admin' }
const ADMIN: Principal = { id: 'admin', name: 'admin', role: 'admin' }

export class Gateway {
  readonly #configuration: Configuration
  readonly #clock: Clock
  readonly #lines: Lines
  readonly #scheduler: Scheduler
  readonly #registry = new ToolRegistry()
  readonly #gate: Gate
  readonly #pollers: Poller[] = []
  readonly #http: FastifyInstance
  readonly #tokenDigest: Buffer
  /** The token of the first admin. */
  readonly adminToken: string
  #bound: string | undefined
  #closing: Promise<void> | undefined

  private constructor(parts: GatewayParts, types: ReadonlyMap<string, DeviceType>, token: string) {
    const { configuration } = parts
    const clock = parts.clock ?? systemClock
    const log = parts.log ?? silentLog
    this.#configuration = configuration
    this.#clock = clock
    this.adminToken = token
    this.#tokenDigest = digest(token)
    const { policy, queueLength } = configuration.scheduler
    this.#scheduler = new Scheduler({ clock, queueLength, log })
    this.#lines = createLines({
      configuration,
      types,
      clock,
      log,
      binding: parts.binding,
      host: parts.host,
      onChange: (portId) => this.#scheduler.recheck(`port:${portId}`),
    })
    const interlock = new Interlock(clock, configuration.never)
    this.#gate = new Gate({ clock, scheduler: this.#scheduler, registry: this.#registry, interlock, policy })
    for (const { driver, type } of this.#lines.devices.values()) {
      for (const tool of deviceTools(driver, type.serial)) this.#registry.add(tool)
    }
    for (const definition of parts.tools ?? []) this.#registry.add(toolOf(definition, clock))
    this.#http = createHttpServer({
      home: this.#home(),
      clock,
      log,
      allowedHosts: configuration.http.allowedHosts,
      allowedOrigins: configuration.http.allowedOrigins,
      bound: () => this.#bound,
      stopping: () => this.#closing !== undefined,
    })
  }

  /** Opens the ports and starts to poll. Nothing is served before `listen`. */
  static async start(parts: GatewayParts): Promise<Gateway> {
    const { configuration } = parts
    const clock = parts.clock ?? systemClock
    const types = parts.types ?? (await loadCatalogue())
    const { stateDir } = configuration
    const token = stateDir === undefined ? newToken(clock) : await adminToken(clock, stateDir)
    const gateway = new Gateway(parts, types, token)
    for (const port of gateway.#lines.ports.values()) port.start()
    gateway.#startPolling()
    return gateway
  }

  call(call: CallRequest & BatchOptions, options?: BatchOptions): Promise<CallResult> {
    return this.#gate.call({ ...options, ...call }, OWNER)
  }

  batch(calls: readonly CallRequest[], options?: BatchOptions): Promise<BatchResponse> {
    return this.#gate.batch({ ...options, calls }, OWNER)
  }

  plan(calls: readonly CallRequest[], options?: BatchOptions): PlanResponse {
    return this.#gate.plan({ ...options, calls }, OWNER)
  }

  /** An ordered stream of calls, added one by one. */
  lane(options: BatchOptions = {}): OpenLane {
    return this.#gate.openLane(options, OWNER)
  }

  tools(): readonly ToolView[] {
    return this.#registry.views()
  }

  devices() {
    return this.#home().devices()
  }

  /** Fastify's own: a request without a socket. */
  inject(request: InjectOptions | string): Promise<LightMyRequestResponse> {
    return this.#http.inject(request)
  }

  /** Serves, and resolves with the URL. Rejects with the error of the socket. */
  async listen(): Promise<string> {
    const { host, port } = this.#configuration.http
    const url = await this.#http.listen({ host, port })
    this.#bound = host
    return url
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
    for (const poller of this.#pollers) poller.stop()
    const finished = this.#scheduler.shutdown()
    await this.#atMost(SHUTDOWN_RUNS_MS, finished)
    this.#scheduler.abortRunning()
    // A stopped run still waits a moment for its reply; only then may its line go.
    await this.#atMost(SHUTDOWN_TOTAL_MS - SHUTDOWN_RUNS_MS, finished)
    await Promise.all(Array.from(this.#lines.ports.values(), (port) => port.stop()))
    this.#lines.unplugSimulation()
    await this.#http.close()
  }

  async #atMost(durationMs: number, work: Promise<void>): Promise<void> {
    const patience = new AbortController()
    await Promise.race([work, pause(this.#clock, durationMs, patience.signal)])
    patience.abort()
  }

  #startPolling(): void {
    const clock = this.#clock
    for (const { settings, driver } of this.#lines.devices.values()) {
      const { poll } = driver.description
      if (settings.pollMs === undefined || poll === undefined) continue
      const poller = new Poller({
        clock,
        everyMs: settings.pollMs,
        poll: async () => {
          await this.#gate.poll(`${settings.id}__${poll.tool}`)
        },
        misses: () => driver.misses,
      })
      this.#pollers.push(poller)
      poller.start()
    }
  }

  #home(): Home {
    const { ports, devices } = this.#lines
    return {
      readiness: () => ({
        ready: this.#closing === undefined,
        version: VERSION,
        ports: counted(Array.from(ports.values(), (port) => port.state)),
        devices: counted(Array.from(devices.values(), ({ driver }) => driver.status().availability)),
      }),
      ports: () => Array.from(ports.values(), (port) => this.#portView(port)),
      port: (id) => {
        const port = ports.get(id)
        return port && this.#portView(port)
      },
      trace: (id, last) => ports.get(id)?.trace(last),
      devices: () => Array.from(devices.values(), ({ driver }) => driver.status()),
      device: (id) => devices.get(id)?.driver.status(),
      tools: () => this.#registry.views(),
      call: (request, principal) => this.#gate.call(request, principal),
      batch: (request, principal) => this.#gate.batch(request, principal),
      plan: (request, principal) => this.#gate.plan(request, principal),
      authenticate: (token) => (timingSafeEqual(digest(token), this.#tokenDigest) ? ADMIN : undefined),
    }
  }

  #portView(port: Port): PortView {
    return { ...port.status(), queue: this.#scheduler.waiting(port.id) }
  }
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
