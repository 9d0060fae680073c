/**
 * Whatever is posted or put to any route of the OpenAPI document: an answer that the document declares, in its form,
 * never a fault of the gateway, and the gateway still answers a read afterwards.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import { type GatewayBench, gatewayBench } from '../gateway-fixture.ts'
import { DescribedAnswers } from '../transport/http/described.ts'
import type { FuzzProperties, FuzzProperty } from './fuzz-property.ts'
import { type Json, oddRequest } from './http-request.ts'

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const CONFIGURATION = {
  devices: [
    { id: 'office_co2', type: 'mh-z19', port: { path: '/dev/co2' }, poll: 'off' },
    {
      id: 'relays',
      type: 'modbus-relay',
      port: { path: '/dev/relays' },
      address: 1,
      channels: 2,
      poll: 'off',
    },
  ],
}
/** JSON is YAML. */
const FILE = `${JSON.stringify(CONFIGURATION)}\n`
const OTHER_FILE = `${JSON.stringify({ devices: CONFIGURATION.devices.slice(1), never: [{ tool: '*__set_relay' }] })}\n`
const READ = { name: 'office_co2__read_co2' }
/** A stack, or the place of a source. */
const INSIDE = /node_modules|\.[jt]s:\d+|\n\s+at |\\n\s+at /
const STEP_MS = 250
/** An hour of the gateway's time: no answer takes longer. */
const STEPS_MAX = 14_400
/** What files are written in takes the machine's time, not the gateway's. */
const FILE_ROUTES = /^\/v1\/(config|reload)/

async function answerOf({ gateway, clock }: GatewayBench, request: InjectOptions) {
  const headers = { authorization: `Bearer ${gateway.adminToken}`, ...request.headers }
  const settled = { done: false }
  const answer = gateway.inject({ ...request, headers }).finally(() => {
    settled.done = true
  })
  const isOfFile = FILE_ROUTES.test(String(request.url))
  for (let step = 0; step < STEPS_MAX && !settled.done; step += 1) {
    await (isOfFile ? setTimeout(1) : setImmediate())
    if (!settled.done) await clock.advance(STEP_MS)
  }
  assert.ok(settled.done, `no answer: ${JSON.stringify(request)}`)
  return answer
}

const BACK_MS = 1_000
const JSON_BODY = { 'content-type': 'application/json' }

/** Takes back what a request may rightly have done, and reads. */
async function checkAlive(bench: GatewayBench, path: string): Promise<void> {
  await answerOf(bench, { method: 'DELETE', url: '/v1/stop' })
  if (path.endsWith('/release')) {
    // A day of looking at ports would take long; a second release takes the place of the first.
    const payload = JSON.stringify({ forMs: BACK_MS })
    for (const { id } of CONFIGURATION.devices) {
      const url = `/v1/ports/${id}/release`
      const again = await answerOf(bench, { method: 'POST', url, headers: JSON_BODY, payload })
      assert.equal(again.statusCode, 200, again.body)
    }
    await bench.clock.advance(2 * BACK_MS)
  }
  if (FILE_ROUTES.test(path)) {
    const payload = JSON.stringify({ text: FILE })
    const put = await answerOf(bench, { method: 'PUT', url: '/v1/config', headers: JSON_BODY, payload })
    assert.equal(put.statusCode, 200, put.body)
    await bench.clock.advance(1_000)
  }
  const payload = JSON.stringify(READ)
  const read = await answerOf(bench, { method: 'POST', url: '/v1/calls', headers: JSON_BODY, payload })
  assert.equal(read.statusCode, 200, read.body)
  assert.deepEqual(read.json().value, { co2: 400 }, read.body)
}

function answers(bench: GatewayBench, described: DescribedAnswers, route: Route): FuzzProperty {
  const { method, path, examples } = route
  const property = fc.asyncProperty(oddRequest(examples), async ({ id, query, body, headers }) => {
    const url = path.replace('{id}', id) + query
    const reply = await answerOf(bench, { method, url, headers, ...(body && { payload: Buffer.from(body) }) })
    const { statusCode: status, body: text } = reply
    assert.notEqual(status, 500, text)
    assert.doesNotMatch(text, INSIDE)
    const [mediaType = ''] = String(reply.headers['content-type'] ?? '').split(';')
    const faults = described.faultsOf(
      { method, path, status, mediaType },
      text === '' ? undefined : reply.json(),
    )
    // Beside the document: an id that is no segment of a path, and a body where the route takes none.
    const isUnrouted = id.includes('%') || id === '..'
    const isUnasked = examples.length === 0 && [413, 415].includes(status)
    if (faults === undefined && (isUnrouted || isUnasked))
      assert.equal(mediaType, 'application/problem+json', text)
    else assert.deepEqual(faults, [], `${status} ${mediaType} ${text}`)
    if (mediaType === 'application/problem+json') assert.equal(reply.json().status, status)
    if (status < 300) await checkAlive(bench, path)
    else await checkAlive(bench, '')
  })
  return { name: `HTTP: ${method} ${path}`, runs: 70, check: (runs) => fc.assert(property, runs) }
}

interface Route {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  /** Of its body; none: it takes none. */
  readonly examples: readonly Json[]
}

/** For every route of the document that takes a body or does something. */
export async function httpBodies(): Promise<FuzzProperties> {
  const directory = mkdtempSync(join(tmpdir(), 'baudway-fuzz-'))
  const file = join(directory, 'baudway.yaml')
  writeFileSync(file, FILE)
  const bench = await gatewayBench(CONFIGURATION, { file })
  // 400 ppm; capture: the sensor's data sheet has FF 86 HIGH LOW … and the checksum.
  bench
    .device('/dev/co2')
    .answer('ff 01 86 00 00 00 00 00 79', { hex: 'ff 86 01 90 40 00 00 00 a9', afterMs: 20 })
  const document = (await answerOf(bench, { url: '/openapi.json' })).json<Document>()
  const described = new DescribedAnswers(document)
  const properties = Object.entries(document.paths).flatMap(([path, operations]) =>
    (['POST', 'PUT'] as const).flatMap((method) => {
      const operation = operations[method.toLowerCase()]
      if (!operation) return []
      const example = operation.requestBody?.content['application/json'].example as Json | undefined
      const files = FILE_ROUTES.test(path) ? [{ text: FILE }, { text: OTHER_FILE }] : []
      const examples = example === undefined ? [] : [example, ...files]
      return [answers(bench, described, { method, path, examples })]
    }),
  )
  const close = async () => {
    await bench.gateway.close()
    rmSync(directory, { recursive: true })
  }
  return { properties, close }
}
