/** The OpenAPI document is good for making clients from it: a generated one calls every operation of a gateway. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnswerPlace, DescribedAnswers } from '../transport/http/described.ts'
import { type GatewayProcess, startGateway } from './gateway-process.ts'
import { type Answer, type GeneratedClient, generateClient } from './generated-client.ts'

const CONFIG = `ports:
  board: { path: simulated, baudRate: 19200, parity: even }
devices:
  - { id: relays, name: Relay board, area: Cellar, type: modbus-relay, port: board, address: 1, channels: 8 }
  - { id: office_co2, name: Office CO2, area: Office, type: mh-z19, port: { path: simulated }, poll: 1s }
  - { id: spare, type: mh-z19, port: { path: simulated }, timeoutMs: 800 }
`
const IDS = ['relays', 'office_co2', 'spare']
const PORTS = ['board', 'office_co2', 'spare']
/** The commands of the types in the contract. */
const TOOLS = [
  'office_co2__calibrate_zero',
  'office_co2__read_co2',
  'office_co2__set_self_calibration',
  'relays__pulse_relay',
  'relays__read_relays',
  'relays__set_relay',
  'relays__toggle_relay',
  'spare__calibrate_zero',
  'spare__read_co2',
  'spare__set_self_calibration',
]

/** Worked examples of the Waveshare wiki: relay 0 on, and the state of eight relays, of which the first is on. */
const RELAY_0_ON = '01 05 00 00 ff 00 8c 3a'
const READ_8_RELAYS = '01 01 00 00 00 08 3d cc'
const FIRST_IS_ON = '01 01 01 01 90 48'
/** Winsen's manual of the MH-Z19B. */
const READ_CO2 = 'ff 01 86 00 00 00 00 00 79'

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const unchanged = { added: [], changed: [], removed: [] }
const ranFor = (id: string) => expect.objectContaining({ id, status: 'ok', outcome: 'executed' })
/** The ids of the calls in a batch that takes its time. */
const SETTINGS = Array.from({ length: 20 }, (_, index) => `s${index}`)
const cancelled = (id: string) =>
  expect.objectContaining({
    id,
    status: 'error',
    outcome: 'not_executed',
    error: expect.objectContaining({ code: 'cancelled', retryable: false }),
  })

interface Expected {
  readonly status?: number
  readonly data: unknown
  readonly header?: readonly [name: string, value: string]
}

/** What each operation has to answer, from the configuration above and from the contract. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  getHealth: { data: { alive: true } },
  getReadiness: { data: { ready: true } },
  getOpenApiDocument: { data: { openapi: '3.1.0', info: { title: 'Baudway' } } },
  getMetrics: {
    data: expect.stringMatching(/^# HELP baudway_/m),
    header: ['content-type', 'text/plain; version=0.0.4; charset=utf-8'],
  },
  listPorts: { data: { ports: PORTS.map((id) => ({ id })) } },
  getPort: { data: { id: 'board', state: 'open', settings: { baudRate: 19_200, parity: 'even' } } },
  getPortTrace: {
    data: {
      entries: [
        { direction: 'tx', hex: RELAY_0_ON },
        { direction: 'rx', hex: RELAY_0_ON },
        { direction: 'tx', hex: READ_8_RELAYS },
        { direction: 'rx', hex: FIRST_IS_ON },
      ],
    },
  },
  streamPortTrace: { data: expect.stringContaining(`"direction":"tx","hex":"${READ_CO2}"`) },
  sendToPort: { data: { outcome: 'unknown', received: { hex: RELAY_0_ON } } },
  releasePort: { data: { id: 'spare', state: 'closed' } },
  listDevices: { data: { devices: IDS.map((id) => ({ id })) } },
  getDevice: {
    data: {
      id: 'office_co2',
      name: 'Office CO2',
      area: 'Office',
      type: 'mh-z19',
      port: 'office_co2',
      availability: 'online',
      readings: { co2: { value: expect.any(Number), unit: 'ppm', measuredAt: iso } },
    },
  },
  listDeviceTypes: {
    data: { types: expect.arrayContaining([expect.objectContaining({ type: 'mh-z19', addressed: false })]) },
  },
  listTools: {
    data: { tools: expect.arrayContaining(TOOLS.map((name) => expect.objectContaining({ name }))) },
  },
  call: {
    data: {
      id: 'mine',
      name: 'relays__set_relay',
      status: 'ok',
      outcome: 'executed',
      value: { channel: 2, on: true },
      confirmedBy: 'read_back',
      shared: false,
    },
  },
  runBatch: {
    data: {
      policy: 'partition',
      partitions: [['on'], ['look'], ['off'], ['nobody']],
      executed: 3,
      results: [
        ranFor('on'),
        { id: 'look', status: 'ok', outcome: 'executed', value: { relay_3: true } },
        ranFor('off'),
        { id: 'nobody', status: 'error', outcome: 'not_executed', error: { code: 'unknown_tool' } },
      ],
    },
  },
  planBatch: {
    data: {
      policy: 'partition',
      partitions: [['a', 'b'], ['c']],
      calls: [
        { id: 'a', partition: 0, earlyStart: { yes: true } },
        { id: 'b', partition: 0, earlyStart: { yes: true } },
        { id: 'c', partition: 1, earlyStart: { yes: false } },
      ],
    },
  },
  getBatch: {
    data: { state: 'done', executed: 20, results: SETTINGS.map(ranFor) },
  },
  cancelBatch: { data: { results: expect.arrayContaining([cancelled('s18'), cancelled('s19')]) } },
  cancelCall: { data: { executed: 19, results: [...SETTINGS.slice(0, 19).map(ranFor), cancelled('s19')] } },
  getStop: { data: { stopped: false, since: null, by: null, commands: [] } },
  stop: { data: { stopped: true, since: iso, by: expect.any(String) } },
  releaseStop: { data: { stopped: false, since: null } },
  getConfiguration: { data: { text: CONFIG, path: expect.stringMatching(/\/baudway\.yaml$/) } },
  checkConfiguration: { data: { valid: false, faults: [{ line: 2, column: 24 }] } },
  putConfiguration: {
    data: { valid: true, applied: true, devices: { ...unchanged, added: ['added'], untouched: IDS } },
    header: ['etag', expect.stringMatching(/^"[^"]+"$/)],
  },
  reloadConfiguration: { data: { applied: true, devices: { ...unchanged, untouched: IDS } } },
  streamEvents: {
    data: expect.stringMatching(/^event: reading\ndata: \{"device":"office_co2","field":"co2"/m),
  },
}

interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly statuses: readonly string[]
}

/** As it came over the wire. */
interface Exchange {
  readonly place: AnswerPlace
  readonly operationId: string | undefined
  readonly body: unknown
}

type Paths = Readonly<
  Record<
    string,
    Readonly<Record<string, { operationId: string; responses: Readonly<Record<string, unknown>> }>>
  >
>

function operationsOf(paths: Paths): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => {
      return { operationId, method: method.toUpperCase(), path, statuses: Object.keys(responses) }
    }),
  )
}

/** A fixed path goes before one with a parameter. */
function operationAt(operations: readonly Operation[], method: string, pathname: string) {
  return operations.find(
    (each) =>
      each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
}

/** A value of the sensor, or bytes that were sent: the first event of a stream may be any other. */
const AWAITED = /^event: (?:reading\ndata: \{"device":"office_co2"|entry\ndata: .*"direction":"tx").*\n\n/m

/** The whole body, or of a stream what comes up to the end of the event that is awaited. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (AWAITED.test(text)) break
  }
  return text
}

describe('a client generated from the OpenAPI document', () => {
  let gateway: GatewayProcess
  let generated: GeneratedClient
  let operations: readonly Operation[]
  let described: DescribedAnswers
  let exchanges: Exchange[] = []

  const recorded: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const text = await textOf(response)
    const [method, { pathname: path }] = [init?.method ?? 'GET', new URL(String(input))]
    const mediaType = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
    const operation = operationAt(operations, method, path)
    exchanges.push({
      place: { method, path: operation?.path ?? path, status: response.status, mediaType },
      operationId: operation?.operationId,
      body: mediaType.includes('json') ? JSON.parse(text) : text,
    })
    return new Response(text, response)
  }

  /** The answer, after everything that went over the wire for it was held to the document. */
  async function asked(call: (() => Promise<Answer>) | undefined): Promise<Answer> {
    exchanges = []
    const answer = await call?.()
    for (const { place, body } of exchanges) {
      expect(described.faultsOf(place, body), JSON.stringify(place)).toEqual([])
    }
    if (!answer) throw new Error('nothing was called')
    return answer
  }

  beforeAll(async () => {
    gateway = await startGateway(CONFIG)
    const document = await gateway.get<{ paths: Paths }>('/openapi.json')
    operations = operationsOf(document.paths)
    described = new DescribedAnswers(document)
    generated = await generateClient(document)
    Object.assign(generated.client.defaults, {
      baseUrl: gateway.url,
      headers: { authorization: `Bearer ${gateway.token}` },
      fetch: recorded,
    })
  })

  afterAll(async () => {
    await generated?.remove()
    await gateway?.remove()
  })

  it('compiles in strict mode, and its types take what the server takes', () => {
    expect(generated.diagnostics).toBe('')
    expect(generated.source).not.toMatch(/\bdata: (unknown|any)\b/)
  })

  it('has a function for every operation, by its id, and no other', () => {
    const functions = Object.entries(generated.client).filter(([, value]) => typeof value === 'function')
    const ids = operations.map(({ operationId }) => operationId)
    expect(functions.map(([name]) => name).sort()).toEqual([...ids].sort())
  })

  it('is tried on every operation', () => {
    const ids = operations.map(({ operationId }) => operationId).sort()
    expect(Object.keys(EXPECTED).sort()).toEqual(ids)
    expect(Object.keys(generated.caller.calls).sort()).toEqual(ids)
  })

  it.each(Object.keys(EXPECTED))('calls %s', async (operationId) => {
    const { status = 200, data, header } = EXPECTED[operationId] ?? { data: undefined }
    const answer = await asked(generated.caller.calls[operationId])
    expect(exchanges.map((each) => each.operationId)).toContain(operationId)
    expect(answer.status).toBe(status)
    if (typeof answer.data === 'string') expect(answer.data).toEqual(data)
    else expect(answer.data).toMatchObject(data as object)
    if (header) expect(answer.headers.get(header[0])).toEqual(header[1])
  })

  it('starts a batch without waiting for it, by a header', async () => {
    await asked(generated.caller.calls.cancelBatch)
    const accepted = exchanges.find(({ operationId }) => operationId === 'runBatch')
    expect(accepted).toMatchObject({
      place: { status: 202 },
      body: { state: 'running', id: expect.any(String) },
    })
  })

  it.each(['400', '401', '403', '404', '412', '413', '415', '422'])(
    'gets a problem document with status %s',
    async (status) => {
      const answer = await asked(generated.caller.refused[status])
      expect(answer.status).toBe(Number(status))
      expect(exchanges).toMatchObject([{ place: { mediaType: 'application/problem+json' } }])
      expect(answer.data).toMatchObject({
        status: Number(status),
        type: expect.stringMatching(/^urn:baudway:/),
      })
      // The configuration and the port are as they were: nothing that was refused was done.
      expect(await readFile(join(gateway.directory, 'baudway.yaml'), 'utf8')).toBe(CONFIG)
    },
  )

  it('gets a problem document with status 503 when too many are listening', async () => {
    const leaving = new AbortController()
    const listen = () =>
      fetch(`${gateway.url}/v1/events`, {
        headers: { authorization: `Bearer ${gateway.token}` },
        signal: leaving.signal,
      })
    try {
      for (let listeners = 0; listeners < 1_000; listeners += 1) if (!(await listen()).ok) break
      const answer = await asked(generated.caller.calls.streamEvents)
      expect(answer).toMatchObject({ status: 503, data: { type: 'urn:baudway:problem:too-many-streams' } })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    } finally {
      leaving.abort()
    }
  })

  it('is tried on every status of the document but that of a fault of ours', () => {
    const declared = new Set(operations.flatMap(({ statuses }) => statuses))
    const tried = ['200', '202', ...Object.keys(generated.caller.refused), '503', '500']
    expect([...declared].sort()).toEqual(tried.sort())
  })
})
