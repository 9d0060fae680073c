/** Requests that are nearly right: bodies near to the examples of the OpenAPI document, odd headers, queries and ids. */
import fc, { type Arbitrary } from 'fast-check'
import { mutated } from './mutation.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface OddRequest {
  readonly id: string
  readonly query: string
  readonly body: Uint8Array | undefined
  readonly headers: Readonly<Record<string, string>>
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
    { weight: 2, arbitrary: mutated(known.map((text) => Buffer.from(text))) },
    { weight: 1, arbitrary: fc.constantFrom(...known).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

const TYPES = ['application/json', 'application/json; charset=utf-8', 'application/json;', 'text/plain', '']
const MOSTLY_JSON = fc.oneof(
  { weight: 20, arbitrary: fc.constant('application/json') },
  { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
)
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
const HEADERS = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Record<string, string>>(
      ...['respond-async', 'wait=1', ',;='].map((prefer) => ({ prefer })),
      ...['*', '"0"', 'W/"a", "b"', '\t'].map((version) => ({ 'if-match': version })),
      { 'idempotency-key': 'k' },
      { 'content-encoding': 'gzip' },
      { authorization: 'Bearer x' },
      { authorization: 'Basic Og==' },
      { host: 'evil.example' },
      { origin: 'null' },
      { accept: 'text/html;q=0' },
      { expect: '100-continue' },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^[ -~]{0,20}$/), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  },
)

/** With a body near to one of the examples; without any the route takes none. */
export function oddRequest(examples: readonly Json[]): Arbitrary<OddRequest> {
  const bodies =
    examples.length === 0 ? [fc.constant(undefined), bodiesOf(undefined)] : examples.map(bodiesOf)
  const body = fc.oneof(...bodies)
  return fc
    .record({ id: ID, query: QUERY, body, type: MOSTLY_JSON, headers: HEADERS })
    .map(({ type, headers, ...rest }) => ({
      ...rest,
      headers: { ...(rest.body && { 'content-type': type }), ...headers },
    }))
}
