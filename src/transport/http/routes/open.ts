/** What anybody may see: nothing that is behind a token. */
import type { FastifyInstance } from 'fastify'
import type { Home } from '../../../tool/home.ts'
import { open } from '../access.ts'
import { LANDING_PAGE, LANDING_PAGE_CSP } from '../landing-page.ts'
import { json, orProblem } from '../schemas/answers.ts'
import { NoQuery } from '../schemas/parts.ts'
import { Health, Readiness } from '../schemas/status.ts'

export function addOpenRoutes(app: FastifyInstance, home: Home): void {
  app.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('content-security-policy', LANDING_PAGE_CSP)
      .type('text/html; charset=utf-8')
      .send(LANDING_PAGE),
  )
  app.get(
    '/healthz',
    open({
      operationId: 'getHealth',
      tags: ['gateway'],
      summary: 'Whether the gateway lives',
      querystring: NoQuery,
      response: { 200: json(Health, 'It lives') },
    }),
    async () => {
      const { version, ports, devices } = home.readiness()
      return { alive: true, version, ports, devices }
    },
  )
  app.get(
    '/readyz',
    open({
      operationId: 'getReadiness',
      tags: ['gateway'],
      summary: 'Whether the gateway takes calls, whatever its devices do',
      querystring: NoQuery,
      response: {
        200: json(Readiness, 'It is ready'),
        503: orProblem(json(Readiness, 'It is not ready, or it is stopping')),
      },
    }),
    async (_request, reply) => {
      const readiness = home.readiness()
      return reply.code(readiness.ready ? 200 : 503).send(readiness)
    },
  )
}
