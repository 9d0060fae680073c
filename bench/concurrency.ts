/**
 * Concurrency, end to end over HTTP: calls of 250 ms on lines of their own, and the two controls without which the
 * figure would mean nothing: the same calls on one line, and the same batch with one undeclared call under `batch`.
 */
import { Pool } from 'undici'
import { pause, systemClock } from '../src/clock.ts'
import { validateConfiguration } from '../src/config/load.ts'
import { configurableTypes } from '../src/configurable-types.ts'
import {
  command,
  defineDevice,
  exchangeOf,
  fixedLength,
  startsWith,
  Type,
  value,
} from '../src/driver/device.ts'
import { Gateway } from '../src/gateway.ts'
import { silentLog } from '../src/log.ts'
import { createSimulation } from '../src/simulator/simulated.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import type { BatchResponse } from '../src/tool/shapes.ts'
import { median, printTable, type Row } from './report.ts'

const CALL_MS = 250
const ROUNDS = 9
const LINES = 8
const FRAME = 8

/** Answers a frame of 8 bytes with one of 8 bytes, so that the whole takes a quarter of a second at 115,200 baud. */
const FRAMES_MS = (2 * FRAME * 10 * 1000) / 115_200
const framing = () => fixedLength({ start: [0xa5], length: FRAME })
const REQUEST = [0xa5, 1, 0, 0, 0, 0, 0, 0]
const REPLY = [0xa5, 2, 0, 0, 0, 0, 0, 42]

const slowSensor = defineDevice({
  type: 'slow-sensor',
  title: 'A sensor that thinks for a quarter of a second',
  uart: { baudRate: 115_200 },
  serial: true,
  framing: framing(),
  line: { timeoutMs: 2_000, gapMs: 0 },
  readings: {},
  tools: {
    read_value: command({
      description: 'The value.',
      returns: Type.Object({ value: Type.Integer() }),
      exchange: () =>
        exchangeOf(REQUEST, [
          { shape: startsWith([0xa5, 2], FRAME), verdict: (frame) => value({ value: frame[7] ?? 0 }) },
        ]),
      effect: 'read',
      parallelSafe: true,
    }),
  },
  simulator: (world) => ({
    framing: framing(),
    receive: () => {
      world.executed('read_value')
      return { bytes: Uint8Array.from(REPLY), afterMs: CALL_MS - FRAMES_MS }
    },
  }),
})

/** Not declared parallel-safe: it makes its whole batch serial, and takes as long as the others. */
const undeclared = defineTool({
  name: 'undeclared',
  effect: 'read',
  run: async () => {
    await pause(systemClock, CALL_MS)
    return { value: 42 }
  },
})

interface Bench {
  /** Request frames that the devices have counted. */
  frames(): number
  close(): Promise<void>
  batch(names: readonly string[], policy?: string): Promise<{ ms: number; response: BatchResponse }>
}

async function openBench(): Promise<Bench> {
  const types = new Map([[slowSensor.type, slowSensor]])
  const ids = Array.from({ length: LINES }, (_, index) => `sensor${index}`)
  const config = {
    http: { port: 0 },
    devices: ids.map((id) => ({ id, type: slowSensor.type, port: { path: id } })),
  }
  const { configuration, faults } = validateConfiguration(config, configurableTypes(types))
  if (!configuration) throw new Error(JSON.stringify(faults))
  const simulation = createSimulation({ clock: systemClock, log: silentLog })
  const farEnds = configuration.ports.flatMap(({ path, settings }) => {
    const { simulator } = slowSensor.describe({})
    return simulator ? [simulation.plug(path, settings, [{ id: path, simulator }])] : []
  })
  const { binding } = simulation
  const gateway = await Gateway.start({
    configuration: { ...configuration, http: { ...configuration.http, port: 0 } },
    types,
    binding,
    host: binding.host,
    tools: [undeclared],
  })
  const url = await gateway.listen()
  const pool = new Pool(url, { connections: 4 })
  const batch = async (names: readonly string[], policy = 'partition') => {
    const body = JSON.stringify({ policy, calls: names.map((name) => ({ name })) })
    const startMs = performance.now()
    const answer = await pool.request({
      path: '/v1/batches',
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.adminToken}`, 'content-type': 'application/json' },
      body,
    })
    const response = (await answer.body.json()) as BatchResponse
    return { ms: performance.now() - startMs, response }
  }
  return {
    frames: () =>
      farEnds.flatMap((end) => Object.values(end.counters().frames)).reduce((sum, n) => sum + n, 0),
    close: async () => {
      await pool.close()
      await gateway.close()
    },
    batch,
  }
}

const own = (count: number) => Array.from({ length: count }, (_, index) => `sensor${index}__read_value`)
const same = (count: number) => Array.from({ length: count }, () => 'sensor0__read_value')

/** Each case with what one call of the same round is to be multiplied by. */
const CASES = [
  { figure: 'one call', names: own(1), policy: 'partition', goalMax: 1, goalMin: 1 },
  { figure: '8 calls on 8 ports', names: own(LINES), policy: 'partition', goalMax: 1.019, goalMin: 0 },
  { figure: '8 calls on one port', names: same(LINES), policy: 'partition', goalMax: 8.2, goalMin: 7.8 },
  {
    figure: '8 calls on 8 ports and one undeclared, `batch`',
    names: [...own(LINES), 'undeclared'],
    policy: 'batch',
    goalMax: 9.2,
    goalMin: 8.8,
  },
] as const

export async function concurrency(): Promise<readonly Row[]> {
  const bench = await openBench()
  const times = CASES.map(() => [] as number[])
  const executed = CASES.map(() => 0)
  const asked = CASES.map(() => 0)
  const frames = CASES.map(() => 0)
  await bench.batch(own(LINES))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { names, policy }] of CASES.entries()) {
      const before = bench.frames()
      const { ms, response } = await bench.batch(names, policy)
      const right = response.results.filter(
        ({ status, value: got }) => status === 'ok' && (got as { value?: number } | null)?.value === 42,
      )
      times[index]?.push(ms)
      executed[index] = (executed[index] ?? 0) + Math.min(response.executed, right.length)
      asked[index] = (asked[index] ?? 0) + names.length
      frames[index] = (frames[index] ?? 0) + bench.frames() - before
    }
  }
  await bench.close()
  const oneMs = median(times[0] ?? [])
  return CASES.map(({ figure, goalMax, goalMin }, index) => {
    const medianMs = median(times[index] ?? [])
    const ratio = medianMs / oneMs
    const complete = executed[index] === asked[index]
    return {
      figure,
      medianMs,
      ratio,
      goal:
        goalMin === 0
          ? `≤ ${goalMax}×`
          : goalMin === goalMax
            ? 'the measure'
            : `about ${Math.round(goalMax)}×`,
      holds: complete && ratio <= goalMax && ratio >= goalMin,
      executed: `${executed[index]} of ${asked[index]}`,
      farEndFrames: frames[index] ?? 0,
    }
  })
}

export async function run(): Promise<boolean> {
  const rows = await concurrency()
  printTable(`Concurrency: calls of ${CALL_MS} ms over HTTP, medians of ${ROUNDS} rounds`, rows)
  return rows.every(({ holds }) => holds)
}
