/** Calls, batches and plans. What happens to a call is its result, never a status of HTTP. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Home } from '../../../tool/home.ts'
import type { BatchStatus as BatchStatusView } from '../../../tool/shapes.ts'
import { type Check, type Guard, nothing, principalOf } from '../access.ts'
import { prefersAsync } from '../preference.ts'
import { Problem } from '../problem.ts'
import { tooManyCalls } from '../schema-faults.ts'
import { json } from '../schemas/answers.ts'
import { BatchBody, BatchResponse, BatchStatus, CallBody, CallResult, PlanResponse } from '../schemas/call.ts'
import { idPath, NoQuery, optionalHeader } from '../schemas/parts.ts'

const tags = ['calls']

/** Every role may call: what a token may not do is the `forbidden` result of that one call. */
export function addCallRoutes(app: FastifyInstance, home: Home, guarded: Guard): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const call = {
    operationId: 'call',
    tags,
    summary: 'One call',
    querystring: NoQuery,
    body: CallBody,
    response: { 200: json(CallResult, 'The result, whatever happened to the call') },
  } as const
  typed.post('/v1/calls', guarded('read', call, noIdempotencyKey), async (request) =>
    home.call(request.body, principalOf(request)),
  )
  const batch = {
    operationId: 'runBatch',
    tags,
    summary: 'Calls in order, run together where that is safe',
    description: 'With the header "Prefer: respond-async" it does not wait for the results.',
    querystring: NoQuery,
    documented: {
      headers: optionalHeader(
        'Prefer',
        'respond-async: do not wait for the results (RFC 7240)',
        'respond-async',
      ),
    },
    body: BatchBody,
    response: {
      200: json(BatchResponse, 'The results, whatever happened to the calls'),
      202: json(BatchStatus, 'The batch goes on by itself', {
        Location: Type.String({ description: 'Where its results may be asked for' }),
        'Preference-Applied': Type.Literal('respond-async'),
      }),
    },
  } as const
  typed.post(
    '/v1/batches',
    { ...guarded('read', batch, noIdempotencyKey), preValidation: limitCalls },
    async (request, reply) => {
      const principal = principalOf(request)
      if (!prefersAsync(request.headers.prefer)) return home.batch(request.body, principal)
      return sendAccepted(reply, home.startBatch(request.body, principal))
    },
  )
  const plan = {
    operationId: 'planBatch',
    tags,
    summary: 'What a batch would do, without touching a port',
    querystring: NoQuery,
    body: BatchBody,
    response: { 200: json(PlanResponse, 'The plan') },
  } as const
  typed.post('/v1/plan', { ...guarded('read', plan), preValidation: limitCalls }, async (request) =>
    home.plan(request.body, principalOf(request)),
  )
  addUnderwayRoutes(app, home, guarded)
}

/** What is on its way: a token sees and cancels its own, an admin all. */
function addUnderwayRoutes(app: FastifyInstance, home: Home, guarded: Guard): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const batch = { tags, params: idPath('Id of the batch'), querystring: NoQuery }
  typed.get(
    '/v1/batches/:id',
    guarded('read', {
      operationId: 'getBatch',
      summary: 'A batch that was not waited for, until ten minutes after its end',
      response: { 200: json(BatchStatus, 'Its results so far') },
      ...batch,
    }),
    async (request) => {
      const { id } = request.params
      return home.batchStatus(id, principalOf(request)) ?? nothing('batch', id)
    },
  )
  typed.delete(
    '/v1/batches/:id',
    guarded('read', {
      operationId: 'cancelBatch',
      summary: 'Cancels the calls of a batch that have not started',
      response: { 200: json(BatchStatus, 'Its results so far') },
      ...batch,
    }),
    async (request) => {
      const { id } = request.params
      return home.cancelBatch(id, principalOf(request)) ?? nothing('batch', id)
    },
  )
  typed.delete(
    '/v1/calls/:id',
    guarded('read', {
      operationId: 'cancelCall',
      tags,
      summary: 'Cancels a call that has not started',
      params: idPath('Id of the call'),
      querystring: NoQuery,
      response: { 200: json(BatchStatus, 'The results so far of its batch') },
    }),
    async (request) => {
      const { id } = request.params
      return home.cancelCall(id, principalOf(request)) ?? nothing('call under way', id)
    },
  )
}

function sendAccepted(reply: FastifyReply, status: BatchStatusView): FastifyReply {
  return reply
    .code(202)
    .header('location', `/v1/batches/${encodeURIComponent(status.id)}`)
    .header('preference-applied', 'respond-async')
    .send(status)
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
