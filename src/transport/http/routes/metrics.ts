/** The metrics of the gateway for Prometheus. */
import type { FastifyInstance } from 'fastify'
import type { Guard } from '../access.ts'
import type { Metrics } from '../metrics.ts'
import { text } from '../schemas/answers.ts'
import { NoQuery } from '../schemas/parts.ts'

const MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function addMetricsRoute(app: FastifyInstance, guarded: Guard, metrics: Metrics): void {
  app.get(
    '/metrics',
    guarded('read', {
      operationId: 'getMetrics',
      tags: ['gateway'],
      summary: 'The metrics of the gateway in the text format of Prometheus',
      querystring: NoQuery,
      response: { 200: text('text/plain', 'The metrics') },
    }),
    async (_request, reply) => reply.type(MEDIA_TYPE).send(await metrics.text()),
  )
  // In the background: whoever asks first does not wait, and whoever never asks is not kept waiting at the start.
  app.addHook('onListen', async () => void metrics.load())
  app.addHook('onClose', async () => metrics.close())
}
