/**
 * The HTTP transport. Fastify and Ajv are set so that nothing in a request is dropped, coerced or defaulted: what is
 * no proper request is answered with a problem document that names every fault. A request that got in is answered
 * with status 200 whatever happens to its calls, and its calls go on when the client goes away.
 */
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Clock } from '../../clock.ts'
import { BODY_BYTES_MAX, JSON_DEPTH_MAX, SHUTDOWN_TOTAL_MS } from '../../limits.ts'
import type { Log } from '../../log.ts'
import type { Home } from '../../tool/home.ts'
import { Connections } from './connections.ts'
import { EventStreams } from './event-stream.ts'
import { HostGuard, type HostGuardParts } from './host-guard.ts'
import { readJson } from './json-reader.ts'
import { Metrics } from './metrics.ts'
import { describeRoutes } from './openapi.ts'
import { Problem, sendProblem } from './problem.ts'
import { addRoutes } from './routes.ts'
import { schemaFaults } from './schema-faults.ts'
import { compileWhenUsed } from './validation.ts'

export interface HttpServerParts extends HostGuardParts {
  readonly home: Home
  readonly clock: Clock
  readonly log: Log
  /** The gateway is stopping: what runs may finish, nothing new begins. Closing the server has the same effect. */
  readonly stopping?: () => boolean
}

/** A client has this long to send a whole request, and this long for its headers. */
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 15_000
/** Longer than the idle time of the usual reverse proxies, so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000
const CONNECTIONS_MAX = 4_096
/** The id of a call: 256 characters of up to four bytes, each byte percent-encoded. */
const PATH_PARAMETER_LENGTH_MAX = 3_072

const JSON_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

export function createHttpServer(parts: HttpServerParts): FastifyInstance {
  const { home, clock, log } = parts
  const connections = new Connections()
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    // The hook below says it in a problem document.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PATH_PARAMETER_LENGTH_MAX },
    frameworkErrors: answerPathError,
    clientErrorHandler: (error, socket) => connections.answerUnreadable(error, socket),
  })
  app.server.maxConnections = CONNECTIONS_MAX
  readBodiesStrictly(app)
  watchRequests(app, parts, connections)
  guardRequests(app, parts, connections)
  app.setErrorHandler((error: FastifyError | Problem, request, reply) => {
    const problem = problemOf(error, request, log)
    if (problem.kind === 'body-too-large') discardBody(request, reply)
    return sendProblem(reply, problem)
  })
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, new Problem('not-found', `There is no ${request.method} ${pathOf(request)}.`)),
  )
  app.setValidatorCompiler(compileWhenUsed)
  // A serialiser made from a schema would drop what the schema does not know.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  const streams = new EventStreams(clock)
  app.addHook('preClose', async () => streams.end())
  const metrics = new Metrics({ home, clock, streamCount: () => streams.count })
  describeRoutes(app, home.readiness().version)
  app.after(() => addRoutes(app, { home, streams, metrics }))
  return app
}

/**
 * Reads the rest of a body and forgets it. Fastify would close the connection; a client that is still sending then
 * sees a broken pipe and not the answer. REQUEST_TIMEOUT_MS bounds it.
 */
function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection')
  request.raw.resume()
}

function readBodiesStrictly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // A client may name the type of a body that it does not have.
    if (body.length === 0 && !request.routeOptions.schema?.body) return done(null, undefined)
    const reading = readJson(body, JSON_DEPTH_MAX)
    if ('value' in reading) return done(null, reading.value)
    const errors = reading.faults.map((fault) => ({ in: 'body', ...fault }) as const)
    done(
      new Problem('malformed-body', 'The body is not JSON as this API takes it (I-JSON, RFC 7493).', {
        errors,
      }),
    )
  })
}

function guardRequests(app: FastifyInstance, parts: HttpServerParts, connections: Connections): void {
  const guard = new HostGuard(parts)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(JSON_HEADERS)
    guard.check(request.headers.host, request.headers.origin, request.socket.localAddress)
    if ((connections.closing || parts.stopping?.()) && request.routeOptions.url !== '/healthz') {
      throw new Problem(
        'unavailable',
        'The gateway is stopping; nothing was begun. Try again after its restart.',
        {
          headers: { 'retry-after': String(Math.ceil(SHUTDOWN_TOTAL_MS / 1_000)) },
        },
      )
    }
  })
}

/** Counts the requests that each connection still waits for, and says how each one was answered. */
function watchRequests(app: FastifyInstance, parts: HttpServerParts, connections: Connections): void {
  const { clock, log, stopping } = parts
  connections.watch(app.server)
  app.decorateRequest('startedAt', 0)
  app.addHook('preClose', async () => connections.close(clock))
  app.addHook('onRequest', async (request) => {
    request.setDecorator('startedAt', clock.now())
    connections.count(request.raw.socket, 1)
  })
  app.addHook('onSend', async (_request, reply) => {
    if (connections.closing || stopping?.()) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    connections.count(request.raw.socket, -1)
    const tookMs = clock.now() - request.getDecorator<number>('startedAt')
    log.debug({ ...shown(request), status: reply.statusCode, tookMs }, 'answered a request')
  })
}

/** What may be logged of a request: the pattern of its route, not its URL, which may hold what does not belong there. */
function shown(request: FastifyRequest): { method: string; route: string | undefined } {
  return { method: request.method, route: request.routeOptions.url }
}

/** Errors of Fastify that a client causes, by their code. Everything else that is thrown is a fault of ours. */
const FASTIFY_PROBLEMS: Readonly<Record<string, (request: FastifyRequest) => Problem>> = {
  FST_ERR_VALIDATION: (request) => {
    const { count, listed } = schemaFaults(request)
    const faults = count === 1 ? '1 fault' : `${count} faults`
    const more = count > listed.length ? ` The first ${listed.length} are listed.` : ''
    return new Problem('invalid-request', `The request has ${faults}; nothing was run.${more}`, {
      errors: listed,
    })
  },
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new Problem('body-too-large', `A body may have ${BODY_BYTES_MAX} bytes; nothing was run.`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Problem('media-type', 'Send the body as "Content-Type: application/json", in UTF-8.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Problem('malformed-request', 'The body is not as long as Content-Length says.'),
}

function problemOf(error: FastifyError | Problem, request: FastifyRequest, log: Log): Problem {
  if (error instanceof Problem) return error
  const known = FASTIFY_PROBLEMS[error.code]
  if (known) return known(request)
  if (error.statusCode === 400) return new Problem('malformed-request', 'The request did not arrive whole.')
  log.error({ err: error, ...shown(request) }, 'a request failed')
  return new Problem(
    'internal',
    'The gateway failed to answer; its log says why. What the calls did is unknown.',
  )
}

/** A path that cannot be routed; no hook has seen the request. */
function answerPathError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const problem =
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? new Problem('not-found', `There is no ${request.method} ${pathOf(request)}.`)
      : new Problem('malformed-request', 'The path is not a valid URL path.')
  sendProblem(reply.headers(JSON_HEADERS), problem)
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url
}
