/** The routes of the API. Each is the form of a request, the role that it needs, and one question to the gateway. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Home, Principal, Role } from '../../tool/home.ts'
import { bearerToken, hasRole } from '../principal.ts'
import { LANDING_PAGE, LANDING_PAGE_CSP } from './landing-page.ts'
import { Problem } from './problem.ts'
import { tooManyCalls } from './schema-faults.ts'
import { BatchBody, CallBody, IdPath, NoQuery, ToolsQuery, TraceQuery } from './schemas.ts'

const TRACE_LAST_MAX = 100_000

type Check = (request: FastifyRequest) => Promise<void>

export function addRoutes(app: FastifyInstance, home: Home): void {
  app.decorateRequest('principal', null)
  addOpenRoutes(app, home)
  addPortRoutes(app, home)
  addDeviceRoutes(app, home)
  addCallRoutes(app, home)
}

/** What anybody may see: nothing that is behind a token. */
function addOpenRoutes(app: FastifyInstance, home: Home): void {
  const schema = { querystring: NoQuery }
  app.get('/', async (_request, reply) =>
    reply
      .header('content-security-policy', LANDING_PAGE_CSP)
      .type('text/html; charset=utf-8')
      .send(LANDING_PAGE),
  )
  app.get('/healthz', { schema }, async () => {
    const { version, ports, devices } = home.readiness()
    return { alive: true, version, ports, devices }
  })
  app.get('/readyz', { schema }, async (_request, reply) => {
    const readiness = home.readiness()
    return reply.code(readiness.ready ? 200 : 503).send(readiness)
  })
}

function addPortRoutes(app: FastifyInstance, home: Home): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const needs = tokenGuard(home)
  typed.get('/v1/ports', { onRequest: needs('read'), schema: { querystring: NoQuery } }, async () => ({
    ports: home.ports(),
  }))
  typed.get(
    '/v1/ports/:id',
    { onRequest: needs('read'), schema: { params: IdPath, querystring: NoQuery } },
    async ({ params }) => home.port(params.id) ?? nothing('port', params.id),
  )
  typed.get(
    '/v1/ports/:id/trace',
    { onRequest: needs('admin'), schema: { params: IdPath, querystring: TraceQuery } },
    async ({ params, query }) => {
      const entries = home.trace(params.id, traceLength(query.last))
      return entries ? { entries } : nothing('port', params.id)
    },
  )
}

function addDeviceRoutes(app: FastifyInstance, home: Home): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const needs = tokenGuard(home)
  typed.get('/v1/devices', { onRequest: needs('read'), schema: { querystring: NoQuery } }, async () => ({
    devices: home.devices(),
  }))
  typed.get(
    '/v1/devices/:id',
    { onRequest: needs('read'), schema: { params: IdPath, querystring: NoQuery } },
    async ({ params }) => home.device(params.id) ?? nothing('device', params.id),
  )
  typed.get(
    '/v1/tools',
    { onRequest: needs('read'), schema: { querystring: ToolsQuery } },
    async ({ query }) => {
      if (query.format !== undefined) {
        const message = `${JSON.stringify(query.format)} is not available; leave it out for this API's own shape`
        throw new Problem('not-available', 'This format of the tool list is not available.', {
          errors: [{ in: 'query', field: '/format', message }],
        })
      }
      return { tools: home.tools() }
    },
  )
}

function addCallRoutes(app: FastifyInstance, home: Home): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const needs = tokenGuard(home)
  const query = { querystring: NoQuery }
  // Every role may call: what a token may not do is the `forbidden` result of that one call.
  const running = [needs('read'), jsonOnly, noIdempotencyKey]
  typed.post('/v1/calls', { onRequest: running, schema: { ...query, body: CallBody } }, async (request) =>
    home.call(request.body, principalOf(request)),
  )
  typed.post(
    '/v1/batches',
    { onRequest: running, preValidation: limitCalls, schema: { ...query, body: BatchBody } },
    async (request) => home.batch(request.body, principalOf(request)),
  )
  typed.post(
    '/v1/plan',
    {
      onRequest: [needs('read'), jsonOnly],
      preValidation: limitCalls,
      schema: { ...query, body: BatchBody },
    },
    async (request) => home.plan(request.body, principalOf(request)),
  )
}

/** Makes the checks that let a request in by its token, before its body is read. */
function tokenGuard(home: Home): (role: Role) => Check {
  return (role) => async (request) => {
    const principal = authenticate(home, request.headers.authorization)
    if (!hasRole(principal, role)) {
      throw new Problem('role-not-allowed', `This needs the role ${role}; the token has ${principal.role}.`, {
        headers: {
          'www-authenticate': `Bearer realm="baudway", error="insufficient_scope", scope="${role}"`,
        },
      })
    }
    request.setDecorator('principal', principal)
  }
}

function authenticate(home: Home, authorization: string | undefined): Principal {
  if (authorization === undefined) {
    throw new Problem('unauthorized', 'Send the header "Authorization: Bearer <token>".', {
      headers: { 'www-authenticate': 'Bearer realm="baudway"' },
    })
  }
  const token = bearerToken(authorization)
  const principal = token === undefined ? undefined : home.authenticate(token)
  if (principal) return principal
  throw new Problem('unauthorized', 'The token is not valid.', {
    headers: { 'www-authenticate': 'Bearer realm="baudway", error="invalid_token"' },
  })
}

function principalOf(request: FastifyRequest): Principal {
  return request.getDecorator<Principal>('principal')
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i

const jsonOnly: Check = async ({ headers }) => {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Problem('media-type', 'A body is taken as it is, without Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new Problem('media-type', 'Send the body as "Content-Type: application/json", in UTF-8.', {
      headers: { accept: 'application/json' },
    })
  }
}

/** A key that was taken and not kept would let a client repeat a call in good faith. */
const noIdempotencyKey: Check = async ({ headers }) => {
  if (headers['idempotency-key'] === undefined) return
  const message = 'keys are not kept, so a repeat would run again; leave it out, and do not repeat blindly'
  throw new Problem('not-available', 'Idempotency keys are not available; nothing was run.', {
    errors: [{ in: 'header', field: '/Idempotency-Key', message }],
  })
}

const limitCalls: Check = async (request) => {
  const fault = tooManyCalls(request.body)
  if (fault)
    throw new Problem('invalid-request', 'The batch is too large; nothing was run.', { errors: [fault] })
}

function traceLength(last: string | undefined): number {
  if (last === undefined) return TRACE_LAST_MAX
  const length = /^[0-9]{1,6}$/.test(last) ? Number(last) : 0
  if (length >= 1 && length <= TRACE_LAST_MAX) return length
  throw new Problem('invalid-request', 'The request has 1 fault.', {
    errors: [{ in: 'query', field: '/last', message: `must be a whole number from 1 to ${TRACE_LAST_MAX}` }],
  })
}

function nothing(kind: 'port' | 'device', id: string): never {
  throw new Problem('not-found', `There is no ${kind} "${id}".`)
}
