/** The routes of the API. Each is the form of a request, the role that it needs, and one question to the gateway. */
import type { FastifyInstance } from 'fastify'
import type { Home } from '../../tool/home.ts'
import { routeGuard } from './access.ts'
import { addDocsPage } from './docs-page.ts'
import type { EventStreams } from './event-stream.ts'
import type { Metrics } from './metrics.ts'
import { addDocumentRoute } from './openapi.ts'
import { addCallRoutes } from './routes/calls.ts'
import { addConfigurationRoutes } from './routes/configuration.ts'
import { addDeviceRoutes } from './routes/devices.ts'
import { addMetricsRoute } from './routes/metrics.ts'
import { addOpenRoutes } from './routes/open.ts'
import { addPortRoutes } from './routes/ports.ts'
import { addStopRoutes } from './routes/stop.ts'
import { addStreamRoutes } from './routes/streams.ts'

export interface RouteParts {
  readonly home: Home
  readonly streams: EventStreams
  readonly metrics: Metrics
}

export function addRoutes(app: FastifyInstance, { home, streams, metrics }: RouteParts): void {
  const guarded = routeGuard(home)
  app.decorateRequest('principal', null)
  addOpenRoutes(app, home)
  addDocumentRoute(app)
  addDocsPage(app)
  addPortRoutes(app, home, guarded)
  addDeviceRoutes(app, home, guarded)
  addCallRoutes(app, home, guarded)
  addStopRoutes(app, home, guarded)
  addConfigurationRoutes(app, home, guarded)
  addStreamRoutes(app, home, guarded, streams)
  addMetricsRoute(app, guarded, metrics)
}
