/**
 * The metrics of one gateway in the text format of Prometheus. What the gateway counts itself is read at each scrape;
 * only calls are counted as they settle. Labels have few values: a port, a device, a state, never a name that a
 * caller makes up.
 */
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../../clock.ts'
import type { PortCounters } from '../../port/status.ts'
import type { Subscription } from '../../tool/event-feed.ts'
import type { Home, PortView } from '../../tool/home.ts'
import type { CallResult } from '../../tool/shapes.ts'
import { AVAILABILITIES, PORT_STATES } from './schemas/status.ts'

type Prometheus = typeof import('prom-client')

const PREFIX = 'baudway_'
/** Calls that settle before the library is there wait for it; so many of them load it. */
const WAITING_MAX = 1_000
/** The effects of the tools may change with the configuration. */
const EFFECTS_AGE_MAX_MS = 10_000
/** From one frame at 115,200 baud to the slowest devices. */
const RUN_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const QUEUE_BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Counters of a port that are one number. */
const PORT_TOTALS = {
  opens: 'Openings of the port',
  losses: 'Losses of the port while it was open',
  frames: 'Whole frames received',
  transactions: 'Transactions: a request and what closed it',
  timeouts: 'Transactions without a reply in time',
  foreign_frames: 'Whole frames that no request was waiting for',
  late_replies: 'Replies that came after their caller was told timeout',
  events: 'Frames that a device sent of its own accord',
} as const satisfies Record<string, string>

const TOTAL_OF: Readonly<Record<keyof typeof PORT_TOTALS, (counters: PortCounters) => number>> = {
  opens: (counters) => counters.opens,
  losses: (counters) => counters.losses,
  frames: (counters) => counters.frames,
  transactions: (counters) => counters.transactions,
  timeouts: (counters) => counters.timeouts,
  foreign_frames: (counters) => counters.foreignFrames,
  late_replies: (counters) => counters.lateReplies,
  events: (counters) => counters.events,
}

interface CallMetrics {
  readonly total: Counter<'outcome' | 'code' | 'effect'>
  readonly runDuration: Histogram<'effect'>
  readonly queueDuration: Histogram<'effect'>
}

export interface MetricsParts {
  readonly home: Home
  readonly clock: Clock
  /** Open event streams. */
  readonly streamCount: () => number
}

export class Metrics {
  readonly #home: Home
  readonly #clock: Clock
  readonly #streamCount: () => number
  readonly #subscription: Subscription | undefined
  #waiting: CallResult[] = []
  #effects: ReadonlyMap<string, string> = new Map()
  #effectsAt = Number.NEGATIVE_INFINITY
  #calls: CallMetrics | undefined
  #loading: Promise<Registry> | undefined

  constructor(parts: MetricsParts) {
    this.#home = parts.home
    this.#clock = parts.clock
    this.#streamCount = parts.streamCount
    this.#subscription = this.#home.events(undefined, ({ type, data }) => {
      if (type === 'call') this.#settled(data as CallResult)
    })
  }

  async text(): Promise<string> {
    const registry = await this.load()
    const processRegistry = await processMetrics()
    // The library writes "Nan" where the format has "NaN": the lag of an event loop that has not been watched yet.
    const processText = (await processRegistry.metrics()).replaceAll(/ Nan$/gm, ' NaN')
    return `${await registry.metrics()}\n${processText}`
  }

  /** Loads the library, which takes longer than the rest of the server: the first scrape need not wait for it. */
  load(): Promise<Registry> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  close(): void {
    this.#subscription?.unsubscribe()
  }

  async #load(): Promise<Registry> {
    const prometheus = await prometheusLibrary()
    const registry = new prometheus.Registry()
    addGatewayMetrics(prometheus, registry, this.#home, this.#streamCount)
    addPortMetrics(prometheus, registry, this.#home)
    addDeviceMetrics(prometheus, registry, this.#home)
    this.#calls = callMetrics(prometheus, registry)
    for (const call of this.#waiting) this.#count(this.#calls, call)
    this.#waiting = []
    return registry
  }

  #settled(call: CallResult): void {
    if (this.#calls) {
      this.#count(this.#calls, call)
      return
    }
    this.#waiting.push(call)
    if (this.#waiting.length === WAITING_MAX) void this.load()
  }

  #count(metrics: CallMetrics, call: CallResult): void {
    const effect = this.#effectOf(call)
    metrics.total.inc({ outcome: call.outcome, code: call.error?.code ?? 'ok', effect })
    metrics.queueDuration.observe({ effect }, call.timing.queuedMs / 1_000)
    if (call.attempts > 0) metrics.runDuration.observe({ effect }, call.timing.runMs / 1_000)
  }

  #effectOf({ name, error }: CallResult): string {
    if (error?.code === 'unknown_tool') return 'none'
    const now = this.#clock.now()
    if (!this.#effects.has(name) || now - this.#effectsAt > EFFECTS_AGE_MAX_MS) {
      this.#effects = new Map(this.#home.tools().map((tool) => [tool.name, tool.effect]))
      this.#effectsAt = now
    }
    return this.#effects.get(name) ?? 'none'
  }
}

/** Gauges that are named like counters; each has a twin by kind under a proper name. */
const MISNAMED = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
]

async function prometheusLibrary(): Promise<Prometheus> {
  return (await import('prom-client')).default
}

/** The process is one, however many gateways it holds. Made at the first scrape: it observes all the time. */
let ofProcess: Promise<Registry> | undefined

function processMetrics(): Promise<Registry> {
  ofProcess ??= prometheusLibrary().then(({ Registry, collectDefaultMetrics }) => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry, prefix: PREFIX })
    for (const name of MISNAMED) registry.removeSingleMetric(`${PREFIX}${name}`)
    return registry
  })
  return ofProcess
}

function callMetrics({ Counter, Histogram }: Prometheus, registry: Registry): CallMetrics {
  const registers = [registry]
  return {
    total: new Counter({
      name: `${PREFIX}calls_total`,
      help: 'Settled calls, the polls of the gateway itself left out; code is "ok" or that of the error',
      labelNames: ['outcome', 'code', 'effect'],
      registers,
    }),
    runDuration: new Histogram({
      name: `${PREFIX}call_run_duration_seconds`,
      help: 'From the start of the run of a call to its end; calls that did not run are left out',
      labelNames: ['effect'],
      buckets: RUN_BUCKETS_S,
      registers,
    }),
    queueDuration: new Histogram({
      name: `${PREFIX}call_queue_duration_seconds`,
      help: 'From the acceptance of a call to the start of its run, or to its end without one',
      labelNames: ['effect'],
      buckets: QUEUE_BUCKETS_S,
      registers,
    }),
  }
}

/** A gauge that is filled anew at each scrape, so that what is gone is not shown any more. */
function gauge<L extends string>(
  { Gauge }: Prometheus,
  registry: Registry,
  about: { name: string; help: string; labelNames: readonly L[] },
  fill: (gauge: Gauge<L>) => void,
): void {
  new Gauge<L>({
    ...about,
    name: `${PREFIX}${about.name}`,
    registers: [registry],
    collect() {
      this.reset()
      fill(this)
    },
  })
}

/** The same for what somebody else counts. */
function counter<L extends string>(
  { Counter }: Prometheus,
  registry: Registry,
  about: { name: string; help: string; labelNames: readonly L[] },
  fill: (counter: Counter<L>) => void,
): void {
  new Counter<L>({
    ...about,
    name: `${PREFIX}${about.name}_total`,
    registers: [registry],
    collect() {
      this.reset()
      fill(this)
    },
  })
}

function addGatewayMetrics(
  prometheus: Prometheus,
  registry: Registry,
  home: Home,
  streamCount: () => number,
): void {
  const build = { name: 'build_info', help: 'What runs', labelNames: ['version', 'node'] as const }
  gauge(prometheus, registry, build, (metric) =>
    metric.set({ version: home.readiness().version, node: process.versions.node }, 1),
  )
  const stop = { name: 'emergency_stop', help: '1 while the emergency stop is latched', labelNames: [] }
  gauge(prometheus, registry, stop, (metric) => metric.set(home.stopStatus().stopped ? 1 : 0))
  const streams = { name: 'event_streams', help: 'Clients that listen to events', labelNames: [] }
  gauge(prometheus, registry, streams, (metric) => metric.set(streamCount()))
}

function addPortMetrics(prometheus: Prometheus, registry: Registry, home: Home): void {
  const labelNames = ['port'] as const
  const states = {
    name: 'port_state',
    help: '1 for the state that the port is in',
    labelNames: ['port', 'state'] as const,
  }
  gauge(prometheus, registry, states, (metric) => {
    for (const { id, state } of home.ports()) {
      for (const each of PORT_STATES) metric.set({ port: id, state: each }, each === state ? 1 : 0)
    }
  })
  for (const name of Object.keys(PORT_TOTALS) as (keyof typeof PORT_TOTALS)[]) {
    counter(prometheus, registry, { name: `port_${name}`, help: PORT_TOTALS[name], labelNames }, (metric) => {
      for (const { id, counters } of home.ports()) metric.inc({ port: id }, TOTAL_OF[name](counters))
    })
  }
  addLabelledPortCounters(prometheus, registry, home)
  const queue = (name: 'waiting' | 'running', help: string) =>
    gauge(prometheus, registry, { name: `port_calls_${name}`, help, labelNames }, (metric) => {
      for (const port of home.ports()) metric.set({ port: port.id }, port.queue[name])
    })
  queue('waiting', 'Calls that wait for the port')
  queue('running', 'Calls that hold the port')
}

function addLabelledPortCounters(prometheus: Prometheus, registry: Registry, home: Home): void {
  const bytes = {
    name: 'port_bytes',
    help: 'Bytes on the line',
    labelNames: ['port', 'direction'] as const,
  }
  counter(prometheus, registry, bytes, (metric) => {
    for (const { id, counters } of home.ports()) {
      metric.inc({ port: id, direction: 'sent' }, counters.bytesSent)
      metric.inc({ port: id, direction: 'received' }, counters.bytesReceived)
    }
  })
  const errors = {
    name: 'port_frame_errors',
    help: 'Received bytes that were no whole frame, by what was wrong',
    labelNames: ['port', 'kind'] as const,
  }
  counter(prometheus, registry, errors, (metric) => {
    for (const port of home.ports()) countFrameErrors(metric, port)
  })
}

function countFrameErrors(metric: Counter<'port' | 'kind'>, { id, counters }: PortView): void {
  for (const [kind, total] of Object.entries(counters.frameErrors)) metric.inc({ port: id, kind }, total)
}

function addDeviceMetrics(prometheus: Prometheus, registry: Registry, home: Home): void {
  const availability = {
    name: 'device_availability',
    help: '1 for the availability that the device has',
    labelNames: ['device', 'availability'] as const,
  }
  gauge(prometheus, registry, availability, (metric) => {
    for (const { id, availability } of home.devices()) {
      for (const each of AVAILABILITIES) {
        metric.set({ device: id, availability: each }, each === availability ? 1 : 0)
      }
    }
  })
  const lastReading = {
    name: 'device_last_reading_timestamp_seconds',
    help: 'When the newest reading of the device was measured',
    labelNames: ['device'] as const,
  }
  gauge(prometheus, registry, lastReading, (metric) => {
    for (const { id, readings } of home.devices()) {
      const times = Object.values(readings).map(({ measuredAt }) => Date.parse(measuredAt))
      if (times.length > 0) metric.set({ device: id }, Math.max(...times) / 1_000)
    }
  })
}
