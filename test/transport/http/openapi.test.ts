import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { ERRORS } from '../../../src/errors.ts'
import type { Home } from '../../../src/tool/home.ts'
import type { BatchResponse, CallResult, PlanResponse } from '../../../src/tool/shapes.ts'
import { ADMIN_TOKEN, fakeHome, PORT, READ_CO2, RELOADED, TRACE } from '../fake-home.ts'
import { DescribedAnswers } from './described.ts'
import { GUARDED, OPEN, requestOf } from './route-table.ts'
import { bearer, bodyOf, closeServers, post, serve } from './serve.ts'

afterEach(closeServers)

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly { readonly token: readonly string[] }[]
  readonly parameters?: readonly {
    readonly in: string
    readonly name: string
    readonly description?: string
    readonly schema: Readonly<Record<string, unknown>>
  }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>
  }
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, unknown>>; readonly headers?: object }>
  >
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

async function documentOf(app: FastifyInstance): Promise<Document> {
  return (await app.inject('/openapi.json')).json()
}

const operations = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      ...operation,
    })),
  )

interface Part {
  /** Where it stands. */
  readonly pointer: string
  readonly part: Readonly<Record<string, unknown>>
}

/** Every object in a document, the document itself among them. */
function* partsOf(part: unknown, pointer = ''): Generator<Part> {
  if (typeof part !== 'object' || part === null) return
  if (!Array.isArray(part)) yield { pointer, part: { ...part } }
  for (const [key, value] of Object.entries(part)) {
    yield* partsOf(value, `${pointer}/${key.replaceAll('/', '~1')}`)
  }
}

const isSaid = (text: unknown) => typeof text === 'string' && text.length > 1

/** Pages for people, which the document leaves out. */
const PAGES = ['GET /', 'GET /docs', 'GET /docs/start.js', 'GET /docs/{file}']

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const document = await documentOf(serve())
    const validator = new Validator()
    const { valid, errors } = await validator.validate({ ...document })
    expect([errors, valid, validator.version]).toEqual([undefined, true, '3.1'])
  })

  it('has every route of the server, and no other', async () => {
    const app = serve()
    const routes: string[] = []
    app.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) {
        if (each !== 'HEAD') routes.push(`${each} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
      }
    })
    const described = operations(await documentOf(app)).map(({ method, path }) => `${method} ${path}`)
    expect([...described, ...PAGES].sort()).toEqual(routes.sort())
  })

  it('asks for the role of the contract on every route, and for none where no token is needed', async () => {
    const described = operations(await documentOf(serve()))
    const roles = described.map(({ method, path, security }) => [
      `${method} ${path}`,
      security.flatMap(({ token }) => token),
    ])
    const expected = [
      ...GUARDED.map(({ method, path, role }) => [`${method} ${path}`, [role]]),
      ...OPEN.map((path) => [`GET ${path}`, []]),
    ]
    expect(roles.sort()).toEqual(expected.sort())
  })

  it('names every operation for a generated client, once, and says what it does', async () => {
    const described = operations(await documentOf(serve()))
    const ids = described.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operationId, summary } of described) {
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(summary.length).toBeGreaterThan(5)
    }
  })

  it('has every parameter of a path, every body, and every problem that may come', async () => {
    for (const operation of operations(await documentOf(serve()))) {
      const { method, path, parameters = [], responses, requestBody } = operation
      const row = GUARDED.find((each) => each.method === method && each.path === path)
      const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name)
      expect(inPath, path).toEqual(Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name))
      expect(Object.keys(requestBody?.content ?? {}), path).toEqual(
        row?.body === undefined ? [] : ['application/json'],
      )
      const wanted = ['400', '403', '422', '500', '503']
      if (row) wanted.push('401')
      if (inPath.length > 0) wanted.push('404')
      if (requestBody) wanted.push('413', '415')
      for (const status of wanted) {
        const types = ['application/problem+json']
        // Not ready by itself, or not to be asked any more.
        if (path === '/readyz' && status === '503') types.unshift('application/json')
        expect(Object.keys(responses[status]?.content ?? {}), `${path} ${status}`).toEqual(types)
      }
    }
  })

  it('names the shapes that a client needs, and refers to them', async () => {
    const { components, paths } = await documentOf(serve())
    for (const name of [
      'CallRequest',
      'BatchRequest',
      'CallResult',
      'BatchStatus',
      'Port',
      'Tool',
      'Problem',
    ]) {
      expect(components.schemas).toHaveProperty(name)
    }
    const text = JSON.stringify({ components, paths })
    const referred = new Set(
      Array.from(text.matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name]) => name),
    )
    expect([...referred].sort()).toEqual(Object.keys(components.schemas).sort())
  })

  it('knows every error code', async () => {
    const { components } = await documentOf(serve())
    expect(components.schemas.ErrorCode).toMatchObject({ type: 'string', enum: Object.keys(ERRORS) })
  })

  it('gives every choice a type, without which generators take it for anything', async () => {
    const choices = [...partsOf(await documentOf(serve()))].filter(({ part }) => Array.isArray(part.enum))
    expect(choices.length).toBeGreaterThan(10)
    const untyped = choices.filter(({ part }) => typeof part.type !== 'string')
    expect(untyped.map(({ pointer }) => pointer)).toEqual([])
  })

  it('names every object that has fields, so that a generated type has a name', async () => {
    const objects = [...partsOf(await documentOf(serve()))].filter(
      ({ part }) => part.type === 'object' && typeof part.properties === 'object',
    )
    const unnamed = objects.filter(({ pointer }) => !/^\/components\/schemas\/\w+$/.test(pointer))
    expect(unnamed.map(({ pointer }) => pointer)).toEqual([])
  })

  it('says of every shape, field and parameter what it is', async () => {
    const document = await documentOf(serve())
    const silent = [...partsOf(document.components)].filter(({ pointer, part }) => {
      const isShown = /^\/schemas\/\w+(\/properties\/\w+)?$/.test(pointer)
      return isShown && part.$ref === undefined && !isSaid(part.description)
    })
    expect(silent.map(({ pointer }) => pointer)).toEqual([])
    for (const { path, parameters = [] } of operations(document)) {
      for (const { name, description } of parameters)
        expect(isSaid(description), `${path} ${name}`).toBe(true)
    }
  })

  it('gives every body an example, which is one', async () => {
    const document = await documentOf(serve())
    const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'baudway:api', ...document })
    for (const { path, requestBody } of operations(document)) {
      if (!requestBody) continue
      const { schema, example } = requestBody.content['application/json'] ?? {}
      expect(example, path).toBeDefined()
      const { $ref } = (schema ?? {}) as { $ref?: string }
      const validate = ajv.getSchema(`baudway:api${$ref}`)
      expect([validate?.(example), validate?.errors], path).toEqual([true, null])
    }
  })

  it('has the headers that a request may bring, and numbers where a query has numbers', async () => {
    const described = operations(await documentOf(serve()))
    const parameter = (id: string, name: string) =>
      described.find(({ operationId }) => operationId === id)?.parameters?.find((each) => each.name === name)
    expect(parameter('runBatch', 'Prefer')).toMatchObject({ in: 'header', required: false })
    expect(parameter('putConfiguration', 'If-Match')).toMatchObject({ in: 'header', required: false })
    expect(parameter('getPortTrace', 'last')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100_000 },
    })
  })

  it('has no two parameters of one operation that become one name in a language without their case', async () => {
    for (const { path, parameters = [] } of operations(await documentOf(serve()))) {
      const names = parameters.map(({ name }) => name.toLowerCase().replaceAll(/[^a-z]/g, ''))
      expect(new Set(names).size, path).toBe(names.length)
    }
  })

  it('says which headers come with a refusal', async () => {
    for (const { path, responses } of operations(await documentOf(serve()))) {
      if (responses['401']) expect(responses['401'].headers, path).toHaveProperty('WWW-Authenticate')
      if (path !== '/readyz') expect(responses['503']?.headers, path).toHaveProperty('Retry-After')
    }
  })
})

/** The document is the same for every server. */
let described: Promise<DescribedAnswers> | undefined

async function expectDescribed(
  app: FastifyInstance,
  operation: string,
  reply: LightMyRequestResponse,
): Promise<void> {
  const [method = '', path = ''] = operation.split(' ')
  described ??= documentOf(app).then((document) => new DescribedAnswers(document))
  const mediaType = String(reply.headers['content-type']).split(';', 1)[0] ?? ''
  const place = { method, path, status: reply.statusCode, mediaType }
  const faults = (await described).faultsOf(place, reply.json())
  expect(faults, `${operation} ${reply.statusCode} ${mediaType}`).toEqual([])
}

const FAILED: Required<CallResult> = {
  id: 'c2',
  requestedId: 'c1',
  name: READ_CO2.name,
  status: 'error',
  outcome: 'unknown',
  value: { co2: 1 },
  error: {
    code: 'invalid_arguments',
    message: 'no',
    field: '/a',
    hint: 'yes',
    retryable: false,
    details: [{ message: 'no', field: '/a', hint: 'yes' }],
  },
  measuredAt: '2026-01-01T00:00:00.000Z',
  shared: false,
  attempts: 1,
  sent: true,
  confirmedBy: 'read_back',
  timing: { queuedMs: 0.5, runMs: 1, wireMs: 1 },
}
const FULL_BATCH: Required<BatchResponse> = {
  id: 'b_1',
  policy: 'resource',
  partitions: [['c1']],
  executed: 1,
  shared: 0,
  results: [FAILED, { ...FAILED, error: { ...FAILED.error, details: { deviceCode: 2 } } }],
  context: { a: 1 },
  conflicts: [{ key: 'a', kept: 1, wanted: [{ call: 'c1', value: { b: 2 } }] }],
}
const FULL_PLAN: PlanResponse = {
  policy: 'partition',
  partitions: [['c1'], ['c2']],
  calls: [
    {
      id: 'c2',
      name: 'a',
      partition: 1,
      waitsFor: [{ id: 'c1', reason: 'earlier partition' }],
      overlaps: ['c1'],
      claims: [{ resource: 'port:a', mode: 'shared' }],
      earlyStart: { yes: false, reason: 'it is not a read' },
      confirmation: true,
      available: false,
    },
  ],
}
const FULL_PORT = {
  ...PORT,
  holder: { pid: 7, name: 'minicom', hint: 'end it' },
  lastError: 'busy',
  resolvedPath: null,
}
/** Every answer with every field that it may have. */
const FULL: Partial<Home> = {
  call: async () => FAILED,
  batch: async () => FULL_BATCH,
  batchStatus: () => ({ ...FULL_BATCH, state: 'done' }),
  plan: () => FULL_PLAN,
  ports: () => [FULL_PORT],
  port: (id) => (id === PORT.id ? FULL_PORT : undefined),
  tools: () => [{ ...READ_CO2, because: 'it moves', timeoutMs: null, device: null, command: null }],
  stopStatus: () => ({ stopped: true, since: FAILED.measuredAt, by: 'agent', commands: [FAILED] }),
  send: async () => ({ outcome: 'unknown', error: FAILED.error, received: { hex: 'ff', text: '.' } }),
  checkConfiguration: async () => ({
    valid: false,
    faults: RELOADED.warnings,
    warnings: [{ message: 'a', pointer: '' }],
  }),
}

describe('an answer', () => {
  const rows = GUARDED.filter(({ isStream, path }) => !isStream && path !== '/metrics')

  it.each(rows)('of $method $path is as it is described, and nothing is left out of it', async (row) => {
    for (const home of [fakeHome(), fakeHome(FULL)]) {
      const app = serve({ home })
      const reply = await app.inject(requestOf(row, ADMIN_TOKEN))
      await expectDescribed(app, `${row.method} ${row.path}`, reply)
      expect(reply.statusCode).toBe(200)
    }
  })

  it.each(OPEN)('of GET %s is as it is described', async (url) => {
    const app = serve()
    await expectDescribed(app, `GET ${url}`, await app.inject(url))
  })

  it('is whole: what the gateway says arrives, also what no schema knows', async () => {
    const beyond = { ...FAILED, later: { version: 2 } }
    const app = serve({ home: fakeHome({ ...FULL, call: async () => beyond }) })
    expect((await app.inject(post('/v1/calls', { name: 'a' }))).json()).toEqual(beyond)
    expect((await app.inject(post('/v1/batches', bodyOf('/v1/batches')))).json()).toEqual(FULL_BATCH)
    expect((await app.inject(post('/v1/plan', bodyOf('/v1/plan')))).json()).toEqual(FULL_PLAN)
    expect(
      (await app.inject({ url: '/v1/ports/office_co2/trace', headers: bearer(ADMIN_TOKEN) })).json(),
    ).toEqual({ entries: TRACE })
  })

  it('of a gateway that is not ready, or that is stopping, is as it is described', async () => {
    const readiness = () => ({ ready: false, version: '1.0.0', ports: {}, devices: {} })
    const notReady = serve({ home: fakeHome({ readiness }) })
    const stopping = serve({ stopping: () => true })
    for (const app of [notReady, stopping]) {
      const reply = await app.inject('/readyz')
      expect(reply.statusCode).toBe(503)
      await expectDescribed(app, 'GET /readyz', reply)
    }
  })

  it('202 to a batch that is not waited for is as it is described', async () => {
    const app = serve()
    const accepted = await app.inject(post('/v1/batches', bodyOf('/v1/batches'), { prefer: 'respond-async' }))
    expect(accepted.statusCode).toBe(202)
    await expectDescribed(app, 'POST /v1/batches', accepted)
  })

  it.each<[string, InjectOptions, number]>([
    ['GET /v1/tools', { url: '/v1/tools' }, 401],
    ['GET /v1/tools', { url: '/v1/tools', headers: { host: 'evil.example' } }, 403],
    ['GET /v1/tools', { url: '/v1/tools?a=1', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }, 422],
    ['GET /v1/ports/{id}', { url: '/v1/ports/a', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }, 404],
    ['POST /v1/calls', post('/v1/calls', '{'), 400],
    ['POST /v1/calls', post('/v1/calls', {}, { 'content-type': 'text/plain' }), 415],
    ['POST /v1/calls', post('/v1/calls', `"${'x'.repeat(1_100_000)}"`), 413],
  ])('with a problem of %s is as it is described', async (operation, request, status) => {
    const app = serve()
    const reply = await app.inject(request)
    expect(reply.statusCode).toBe(status)
    await expectDescribed(app, operation, reply)
  })
})

describe('the page of the document', () => {
  it('loads only what this server serves, and has no script in it', async () => {
    const app = serve()
    const page = await app.inject('/docs')
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(page.body).not.toMatch(/<script>|<style|style=|\bon\w+=|https?:/)
    const loaded = Array.from(page.body.matchAll(/(?:src|href)="([^"]+)"/g), ([, url]) => url)
    expect(loaded.length).toBeGreaterThan(3)
    for (const url of loaded) {
      const file = await app.inject(`/${url}`)
      expect([url, file.statusCode]).toEqual([url, 200])
      expect(file.headers['content-type']).toMatch(/^(text\/css|text\/javascript|image\/png)/)
      expect(file.rawPayload.length).toBeGreaterThan(50)
    }
  })

  it('starts with the document of this server', async () => {
    const start = await serve().inject('/docs/start.js')
    expect(start.body).toContain("url: 'openapi.json'")
    expect(start.body).not.toMatch(/https?:/)
  })

  it.each(['index.html', 'constructor', '..%2Fpackage.json', '%2e%2e%2fpackage.json', 'swagger-ui.js'])(
    'serves no file "%s"',
    async (file) => {
      expect((await serve().inject(`/docs/${file}`)).statusCode).toBe(404)
    },
  )
})
