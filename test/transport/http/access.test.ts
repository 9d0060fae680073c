import { afterEach, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, CONTROL_TOKEN, fakeHome, READ_TOKEN } from '../fake-home.ts'
import { GUARDED, requestOf } from './route-table.ts'
import { bearer, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

const TOKENS = { read: READ_TOKEN, control: CONTROL_TOKEN, admin: ADMIN_TOKEN }
const RANKS = ['read', 'control', 'admin'] as const

describe('who may ask', () => {
  it.each(GUARDED)('$method $path needs a token with the role $role', async (row) => {
    const home = fakeHome()
    const app = serve({ home })
    const without = await app.inject(requestOf(row))
    expect(without.statusCode).toBe(401)
    expect(without.headers['www-authenticate']).toBe('Bearer realm="baudway"')
    expect(without.json()).toEqual(problem('unauthorized', 'A valid token is needed', 401))

    for (const role of RANKS.slice(0, RANKS.indexOf(row.role))) {
      const refused = await app.inject(requestOf(row, TOKENS[role]))
      expect(refused.json()).toEqual(problem('role-not-allowed', 'The token may not do this', 403))
      expect(refused.headers['www-authenticate']).toBe(
        `Bearer realm="baudway", error="insufficient_scope", scope="${row.role}"`,
      )
    }
    expect(home.asked).toEqual([])
    if (row.isStream) return
    for (const role of RANKS.slice(RANKS.indexOf(row.role))) {
      expect((await app.inject(requestOf(row, TOKENS[role]))).statusCode).toBe(200)
    }
  })

  it.each([
    'Bearer wrong',
    'Bearer',
    `Basic ${READ_TOKEN}`,
    READ_TOKEN,
    `Bearer ${READ_TOKEN} ${READ_TOKEN}`,
    `Bearer ${READ_TOKEN},`,
  ])('does not take the header "%s"', async (authorization) => {
    const reply = await serve().inject({ url: '/v1/tools', headers: { authorization } })
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="baudway", error="invalid_token"')
  })

  it('takes the scheme in any case, as HTTP wants it', async () => {
    const headers = { authorization: `bEARER ${READ_TOKEN}` }
    expect((await serve().inject({ url: '/v1/tools', headers })).statusCode).toBe(200)
  })

  it('hands the principal of the token to the gateway', async () => {
    const home = fakeHome()
    await serve({ home }).inject(post('/v1/calls', { name: 'a' }, bearer(READ_TOKEN)))
    expect(home.asked[0]?.principal).toEqual({ id: 't1', name: 'reader', role: 'read' })
  })

  it('refuses a request without a token before it reads the body', async () => {
    const reply = await serve().inject({ method: 'POST', url: '/v1/batches', payload: '{' })
    expect(reply.statusCode).toBe(401)
  })
})

describe('where a request may come from', () => {
  it.each(['/', '/healthz', '/v1/tools', '/no/such/page'])('%s refuses a foreign Host', async (url) => {
    const reply = await serve().inject({ url, headers: { ...bearer(READ_TOKEN), host: 'evil.example' } })
    expect(reply.statusCode).toBe(403)
    expect(reply.json()).toEqual(problem('host-not-allowed', 'The Host is not allowed', 403))
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
  })

  it('refuses a foreign Origin, also where no token is needed', async () => {
    const reply = await serve().inject({ url: '/healthz', headers: { origin: 'https://evil.example' } })
    expect(reply.json()).toEqual(problem('origin-not-allowed', 'The Origin is not allowed', 403))
  })

  it('takes what the configuration allows', async () => {
    const app = serve({ allowedHosts: ['gw.local'], allowedOrigins: ['https://dash.example'] })
    const headers = { host: 'gw.local:7373', origin: 'https://dash.example' }
    expect((await app.inject({ url: '/healthz', headers })).statusCode).toBe(200)
  })

  it('never answers with a header that lets another origin read', async () => {
    const app = serve({ allowedOrigins: ['https://dash.example'] })
    const headers = { origin: 'https://dash.example', 'access-control-request-method': 'POST' }
    for (const method of ['GET', 'OPTIONS'] as const) {
      const reply = await app.inject({ method, url: '/healthz', headers })
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe('what may be asked without a token', () => {
  it('shows a page at / that loads nothing', async () => {
    const reply = await serve().inject('/')
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(reply.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(reply.body).not.toMatch(/<script|https?:\/\/|src=/)
    expect(reply.body).toContain('/v1')
  })

  it('says that it is alive, and ready, with counts by state', async () => {
    const app = serve()
    const counts = { version: '0.0.0', ports: { open: 1 }, devices: { online: 1 } }
    expect((await app.inject('/healthz')).json()).toEqual({ alive: true, ...counts })
    expect((await app.inject('/readyz')).json()).toEqual({ ready: true, ...counts })
  })

  it('is not ready with 503', async () => {
    const home = fakeHome({ readiness: () => ({ ready: false, version: '0', ports: {}, devices: {} }) })
    const reply = await serve({ home }).inject('/readyz')
    expect([reply.statusCode, reply.json().ready]).toEqual([503, false])
  })
})
