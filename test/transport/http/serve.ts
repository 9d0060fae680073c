/** The HTTP transport in front of a gateway that only remembers, and what the tests of it send and expect. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import { expect } from 'vitest'
import { silentLog } from '../../../src/log.ts'
import { createHttpServer, type HttpServerParts } from '../../../src/transport/http/server.ts'
import { VirtualClock } from '../../virtual-clock.ts'
import { CONTROL_TOKEN, type FakeHome, fakeHome, READ_CO2 } from '../fake-home.ts'

const open: FastifyInstance[] = []

export async function closeServers(): Promise<void> {
  await Promise.all(open.splice(0).map((app) => app.close()))
}

export function serve(parts: Partial<HttpServerParts> & { home?: FakeHome } = {}): FastifyInstance {
  const app = createHttpServer({
    home: fakeHome(),
    clock: new VirtualClock(),
    log: silentLog,
    allowedHosts: [],
    allowedOrigins: [],
    bound: () => '127.0.0.1',
    ...parts,
  })
  open.push(app)
  return app
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export const post = (url: string, body: unknown, headers: Record<string, string> = {}): InjectOptions => ({
  method: 'POST',
  url,
  headers: { ...bearer(CONTROL_TOKEN), 'content-type': 'application/json', ...headers },
  payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
})

export const problem = (kind: string, title: string, status: number) => ({
  type: `urn:baudway:problem:${kind}`,
  title,
  status,
  detail: expect.any(String),
})

export const bodyOf = (url: string) =>
  url === '/v1/calls' ? { name: READ_CO2.name } : { calls: [{ id: 'c1', name: READ_CO2.name }] }
