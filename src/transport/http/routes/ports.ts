/** Ports: what they are, what went over them, raw bytes, and giving one up for a while. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import type { Home } from '../../../tool/home.ts'
import { type Guard, nothing, principalOf } from '../access.ts'
import { Problem } from '../problem.ts'
import {
  ReleaseBody,
  SEND_BYTES_MAX,
  SEND_WAIT_DEFAULT_MS,
  SendBody,
  SendResult,
} from '../schemas/administration.ts'
import { json } from '../schemas/answers.ts'
import { idPath, NoQuery } from '../schemas/parts.ts'
import { Port, PortList, TRACE_LAST_MAX, Trace, TraceQuery, TraceQueryDocumented } from '../schemas/status.ts'

const tags = ['ports']
const params = idPath('Id of the port')

export function addPortRoutes(app: FastifyInstance, home: Home, guarded: Guard): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  typed.get(
    '/v1/ports',
    guarded('read', {
      operationId: 'listPorts',
      tags,
      summary: 'All ports',
      querystring: NoQuery,
      response: { 200: json(PortList, 'The ports') },
    }),
    async () => ({ ports: home.ports() }),
  )
  typed.get(
    '/v1/ports/:id',
    guarded('read', {
      operationId: 'getPort',
      tags,
      summary: 'One port',
      params,
      querystring: NoQuery,
      response: { 200: json(Port, 'The port') },
    }),
    async ({ params: { id } }) => home.port(id) ?? nothing('port', id),
  )
  typed.get(
    '/v1/ports/:id/trace',
    guarded('admin', {
      operationId: 'getPortTrace',
      tags,
      summary: 'The last bytes on a port',
      params,
      querystring: TraceQuery,
      documented: { querystring: TraceQueryDocumented },
      response: { 200: json(Trace, 'Oldest first') },
    }),
    async ({ params: { id }, query }) => {
      const entries = home.trace(id, traceLength(query.last))
      return entries ? { entries } : nothing('port', id)
    },
  )
  addPortUses(app, home, guarded)
}

function addPortUses(app: FastifyInstance, home: Home, guarded: Guard): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  typed.post(
    '/v1/ports/:id/send',
    guarded('admin', {
      operationId: 'sendToPort',
      tags,
      summary: 'Sends raw bytes through the queue of a port',
      description: 'Like a call, it answers with status 200 whatever happens to the bytes.',
      params,
      querystring: NoQuery,
      body: SendBody,
      response: { 200: json(SendResult, 'What came back while it listened') },
    }),
    async (request) => {
      const { params, body } = request
      const sending = { bytes: bytesOf(body), waitMs: body.waitMs ?? SEND_WAIT_DEFAULT_MS }
      return (await home.send(params.id, sending, principalOf(request))) ?? nothing('port', params.id)
    },
  )
  typed.post(
    '/v1/ports/:id/release',
    guarded('admin', {
      operationId: 'releasePort',
      tags,
      summary: 'Closes a port for a while, so that another program can use it',
      description: 'The port opens again by itself. Calls are answered device_unavailable until then.',
      params,
      querystring: NoQuery,
      body: ReleaseBody,
      response: { 200: json(Port, 'The port, closed') },
    }),
    async ({ params: { id }, body }) => (await home.releasePort(id, body.forMs)) ?? nothing('port', id),
  )
}

function bytesOf({ hex, text }: Static<typeof SendBody>): Uint8Array {
  if ((hex === undefined) === (text === undefined)) {
    throw invalidBody('', hex === undefined ? 'needs hex or text' : 'has both hex and text; give one of them')
  }
  const bytes = hex === undefined ? Buffer.from(text ?? '') : Buffer.from(hex.replaceAll(' ', ''), 'hex')
  if (bytes.length <= SEND_BYTES_MAX) return bytes
  throw invalidBody(
    hex === undefined ? '/text' : '/hex',
    `is ${bytes.length} bytes; at most ${SEND_BYTES_MAX}`,
  )
}

function invalidBody(field: string, message: string): Problem {
  return new Problem('invalid-request', 'The request has 1 fault; nothing was sent.', {
    errors: [{ in: 'body', field, message }],
  })
}

function traceLength(last: string | undefined): number {
  if (last === undefined) return TRACE_LAST_MAX
  const length = /^[0-9]{1,6}$/.test(last) ? Number(last) : 0
  if (length >= 1 && length <= TRACE_LAST_MAX) return length
  throw new Problem('invalid-request', 'The request has 1 fault.', {
    errors: [{ in: 'query', field: '/last', message: `must be a whole number from 1 to ${TRACE_LAST_MAX}` }],
  })
}
