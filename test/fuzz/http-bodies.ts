/**
 * Whatever is posted or put to any route of the OpenAPI document: an answer that the document declares, in its form,
 * never a fault of the gateway, and the gateway still answers a read afterwards.
 */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import fc, { type Arbitrary } from 'fast-check'
import type { InjectOptions } from 'fastify'
import { RELEASE_MAX_MS } from '../../src/limits.ts'
import { type GatewayBench, gatewayBench } from '../gateway-fixture.ts'
import { DescribedAnswers } from '../transport/http/described.ts'
import type { FuzzProperty } from './fuzz-property.ts'
import { mutated } from './mutation.ts'

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const CONFIGURATION = {
  devices: [
    { id: 'office_co2', type: 'mh-z19', port: { path: '/dev/co2' } },
    { id: 'relays', type: 'modbus-relay', port: { path: '/dev/relays' }, address: 1, channels: 2 },
  ],
}
const READ = { name: 'office_co2__read_co2' }
/** A stack, or the place of a source. */
const INSIDE = /node_modules|\.[jt]s:\d+|\n\s+at |\\n\s+at /
const STEP_MS = 250
/** An hour of the gateway's time: no answer takes longer. */
const STEPS_MAX = 14_400

async function answerOf({ gateway, clock }: GatewayBench, request: InjectOptions) {
  const headers = { authorization: `Bearer ${gateway.adminToken}`, ...request.headers }
  const settled = { done: false }
  const answer = gateway.inject({ ...request, headers }).finally(() => {
    settled.done = true
  })
  for (let step = 0; step < STEPS_MAX && !settled.done; step += 1) {
    await setImmediate()
    if (!settled.done) await clock.advance(STEP_MS)
  }
  assert.ok(settled.done, `no answer: ${JSON.stringify(request)}`)
  return answer
}

/** Takes back what a request may rightly have done, and reads. */
async function checkAlive(bench: GatewayBench, hasReleased: boolean): Promise<void> {
  await answerOf(bench, { method: 'DELETE', url: '/v1/stop' })
  if (hasReleased) await bench.clock.advance(RELEASE_MAX_MS)
  const read = await answerOf(bench, {
    method: 'POST',
    url: '/v1/calls',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(READ),
  })
  assert.equal(read.statusCode, 200, read.body)
  assert.deepEqual(read.json().value, { co2: 400 }, read.body)
}

/** Where something stands in a value; the value itself is first. */
function placesIn(value: Json, place: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (Array.isArray(value)) {
    return [place, ...value.flatMap((one, index) => placesIn(one, [...place, index]))]
  }
  if (typeof value !== 'object' || value === null) return [place]
  return [place, ...Object.entries(value).flatMap(([key, one]) => placesIn(one, [...place, key]))]
}

function withValueAt(
  value: Json,
  [key, ...rest]: readonly (string | number)[],
  other: Json | undefined,
): Json {
  if (key === undefined) return other ?? null
  if (Array.isArray(value)) {
    const changed = value.map((one, index) => (index === key ? withValueAt(one, rest, other) : one))
    return rest.length === 0 && other === undefined ? changed.filter((_, index) => index !== key) : changed
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([name]) => rest.length > 0 || other !== undefined || name !== key)
    .map(([name, one]) => [name, name === key ? withValueAt(one, rest, other) : one] as const)
  return Object.fromEntries(entries)
}

const NAMES = [
  'office_co2__read_co2',
  'office_co2__set_self_calibration',
  'relays__set_relay',
  'relays__read_relays',
]
const ODD: Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(...NAMES, '', '\0', '__proto__', 'x'.repeat(5_000), '\ud800', 'batch', 'abort'),
  fc.constantFrom<Json>(-1, -0, 0, 0.5, 1e308, 2 ** 53, 5e-324, true, false, null, [], {}, [[]]),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value))),
)

/** Keys of the bodies of all routes, and one of none. */
const KEYS = ['policy', 'deadlineMs', 'maxAgeMs', 'onError', 'context', 'text', 'arguments', 'waitMs', 'x']

/** The example with up to three values replaced or left out, and a key that may be known or not put to it. */
function nearlyJson(example: Json): Arbitrary<Json> {
  const change = fc.tuple(fc.nat(1_000), fc.option(ODD, { nil: undefined, freq: 2 }))
  const key = fc.constantFrom(...KEYS)
  const some = fc.dictionary(key, ODD, { maxKeys: 2, noNullPrototype: true })
  const more = fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: some })
  return fc.tuple(fc.array(change, { maxLength: 3 }), more).map(([changes, added]) => {
    const changed = changes.reduce((value, [draw, other]) => {
      const [whole = [], ...inner] = placesIn(value)
      const place = draw % 20 === 0 ? whole : inner[draw % inner.length]
      return withValueAt(value, place ?? whole, other)
    }, example)
    const isMapping = typeof changed === 'object' && changed !== null && !Array.isArray(changed)
    return isMapping ? { ...changed, ...added } : changed
  })
}

function bodiesOf(example: Json | undefined): Arbitrary<Uint8Array | undefined> {
  const texts = ['', 'null', '{"__proto__":{"a":1}}', '{"a":1,"a":2}', '['.repeat(50_000), '{"calls":1e999}']
  const known = [...texts, ...(example === undefined ? [] : [JSON.stringify(example)])]
  const json = nearlyJson(example ?? {}).map((value) => Buffer.from(JSON.stringify(value)))
  return fc.oneof(
    { weight: 5, arbitrary: json },
    { weight: 3, arbitrary: mutated(known.map((text) => Buffer.from(text))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

const TYPES = ['application/json', 'application/json; charset=utf-8', 'application/json;', 'text/plain', '']
const MOSTLY_JSON = fc.oneof(
  { weight: 20, arbitrary: fc.constant('application/json') },
  { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
)
const PREFER = fc.constantFrom(undefined, undefined, 'respond-async', 'wait=1', ',;=')
const QUERY = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.webQueryParameters().map((query) => `?${query}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('?__proto__=1', '?a&a=2', '?%', '?%00=%ff', '?last=1e9', '?a[b]=c'),
  },
)
const ID = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('office_co2', 'relays') },
  { weight: 1, arbitrary: fc.string().map((id) => encodeURIComponent(id)) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', '%', '%00', '..', '%2e%2e%2f') },
)

function answers(bench: GatewayBench, described: DescribedAnswers, route: Route): FuzzProperty {
  const { method, path, example } = route
  const request = fc.record({
    id: ID,
    query: QUERY,
    body: bodiesOf(example),
    type: MOSTLY_JSON,
    prefer: PREFER,
  })
  const property = fc.asyncProperty(request, async ({ id, query, body, type, prefer }) => {
    const reply = await answerOf(bench, {
      method,
      url: path.replace('{id}', id) + query,
      headers: { ...(body && { 'content-type': type }), ...(prefer !== undefined && { prefer }) },
      ...(body && { payload: Buffer.from(body) }),
    })
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
    const isUnasked = example === undefined && [413, 415].includes(status)
    if (faults === undefined && (isUnrouted || isUnasked))
      assert.equal(mediaType, 'application/problem+json', text)
    else assert.deepEqual(faults, [], `${status} ${mediaType} ${text}`)
    if (mediaType === 'application/problem+json') assert.equal(reply.json().status, status)
    await checkAlive(bench, path.endsWith('/release') && status === 200)
  })
  return { name: `HTTP: ${method} ${path}`, runs: 40, check: (runs) => fc.assert(property, runs) }
}

interface Route {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly example: Json | undefined
}

/** For every route of the document that takes a body or does something. The gateway is closed by the caller. */
export async function httpBodies(): Promise<{ bench: GatewayBench; properties: readonly FuzzProperty[] }> {
  const bench = await gatewayBench(CONFIGURATION)
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
      return [answers(bench, described, { method, path, example })]
    }),
  )
  return { bench, properties }
}
