/** Every route that needs a token, with the least role that may use it, and a request that succeeds. */
import type { InjectOptions } from 'fastify'
import { bearer, bodyOf } from './serve.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface RouteRow {
  readonly method: Method
  /** In the notation of OpenAPI. */
  readonly path: string
  readonly role: 'read' | 'control' | 'admin'
  readonly url: string
  readonly body?: unknown
  /** Its answer has no end. */
  readonly isStream: boolean
}

interface Rest {
  readonly id?: string
  readonly body?: unknown
  readonly isStream?: boolean
}

const row = (method: Method, path: string, role: RouteRow['role'], rest: Rest = {}): RouteRow => {
  const { id = '', body, isStream = false } = rest
  return { method, path, role, url: path.replace('{id}', id), isStream, ...(body !== undefined && { body }) }
}

const port = { id: 'office_co2' }
const batch = { id: 'b_1' }

export const GUARDED: readonly RouteRow[] = [
  row('GET', '/metrics', 'read'),
  row('GET', '/v1/ports', 'read'),
  row('GET', '/v1/ports/{id}', 'read', port),
  row('GET', '/v1/ports/{id}/trace', 'admin', port),
  row('GET', '/v1/ports/{id}/trace/stream', 'admin', { ...port, isStream: true }),
  row('POST', '/v1/ports/{id}/send', 'admin', { ...port, body: { hex: 'ff 01' } }),
  row('POST', '/v1/ports/{id}/release', 'admin', { ...port, body: { forMs: 600_000 } }),
  row('GET', '/v1/devices', 'read'),
  row('GET', '/v1/devices/{id}', 'read', { id: 'office_co2' }),
  row('GET', '/v1/tools', 'read'),
  row('GET', '/v1/types', 'read'),
  row('POST', '/v1/calls', 'read', { body: bodyOf('/v1/calls') }),
  row('DELETE', '/v1/calls/{id}', 'read', { id: 'c1' }),
  row('POST', '/v1/batches', 'read', { body: bodyOf('/v1/batches') }),
  row('GET', '/v1/batches/{id}', 'read', batch),
  row('DELETE', '/v1/batches/{id}', 'read', batch),
  row('POST', '/v1/plan', 'read', { body: bodyOf('/v1/plan') }),
  row('POST', '/v1/stop', 'control'),
  row('GET', '/v1/stop', 'read'),
  row('DELETE', '/v1/stop', 'admin'),
  row('GET', '/v1/events', 'read', { isStream: true }),
  row('GET', '/v1/config', 'admin'),
  row('PUT', '/v1/config', 'admin', { body: { text: 'http: {}\n' } }),
  row('POST', '/v1/config/check', 'admin', { body: { text: 'http: {}\n' } }),
  row('POST', '/v1/reload', 'admin'),
]

/** Needs no token, and answers with JSON. */
export const OPEN = ['/healthz', '/readyz', '/openapi.json'] as const

/** The request of a row, by the owner of a token or by nobody. */
export function requestOf({ method, url, body }: RouteRow, token?: string): InjectOptions {
  return {
    method,
    url,
    headers: {
      ...(token !== undefined && bearer(token)),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  }
}
