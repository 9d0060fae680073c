/**
 * The emergency stop. It is never refused for the form of its request: whatever stands in its query or its body, a
 * token that may stop stops.
 */
import type { FastifyInstance } from 'fastify'
import type { Home } from '../../../tool/home.ts'
import { type Guard, needs, principalOf } from '../access.ts'
import { json } from '../schemas/answers.ts'
import { StopStatus } from '../schemas/call.ts'
import { NoQuery } from '../schemas/parts.ts'

const tags = ['stop']
const response = { 200: json(StopStatus, 'The state of the stop') }

export function addStopRoutes(app: FastifyInstance, home: Home, guarded: Guard): void {
  const stop = guarded('control', {
    operationId: 'stop',
    tags,
    summary: 'Emergency stop: ends what runs, answers what waits, and latches',
    response,
  })
  // A scope of its own, for the parser of its bodies.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined)
    scope.post('/v1/stop', { ...stop, onRequest: needs(home, 'control') }, async (request) =>
      home.stop(principalOf(request)),
    )
  })
  app.get(
    '/v1/stop',
    guarded('read', {
      operationId: 'getStop',
      tags,
      summary: 'Whether everything is stopped',
      querystring: NoQuery,
      response,
    }),
    async () => home.stopStatus(),
  )
  app.delete(
    '/v1/stop',
    guarded('admin', {
      operationId: 'releaseStop',
      tags,
      summary: 'Releases the emergency stop',
      querystring: NoQuery,
      response,
    }),
    async (request) => home.releaseStop(principalOf(request)),
  )
}
