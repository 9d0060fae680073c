import { afterEach, describe, expect, it } from 'vitest'
import { BATCH_CALLS_MAX } from '../../../src/limits.ts'
import {
  ADMIN_TOKEN,
  BATCH,
  DEVICE,
  fakeHome,
  MH_Z19,
  NOT_STOPPED,
  okResult,
  PORT,
  READ_CO2,
  READ_TOKEN,
} from '../fake-home.ts'
import { bearer, bodyOf, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

describe('lists and single things', () => {
  it.each([
    ['/v1/ports', { ports: [PORT] }],
    ['/v1/ports/office_co2', PORT],
    ['/v1/devices', { devices: [DEVICE] }],
    ['/v1/devices/office_co2', DEVICE],
    ['/v1/tools', { tools: [READ_CO2] }],
    ['/v1/types', { types: [MH_Z19] }],
    ['/v1/batches/b_1', BATCH],
    ['/v1/stop', NOT_STOPPED],
  ])('%s answers with the shape of the contract', async (url, expected) => {
    const reply = await serve().inject({ url, headers: bearer(READ_TOKEN) })
    expect(reply.json()).toEqual(expected)
    expect(reply.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    })
  })

  it.each([
    '/v1/ports/none',
    '/v1/ports/none/trace',
    '/v1/ports/none/trace/stream',
    '/v1/devices/none',
    '/v1/batches/none',
    '/v1/nothing',
    '/v1/tools/',
    '/V1/tools',
    `/v1/ports/${'x'.repeat(4_000)}`,
  ])('%s is 404', async (url) => {
    const reply = await serve().inject({ url, headers: bearer(ADMIN_TOKEN) })
    expect(reply.json()).toEqual(problem('not-found', 'There is no such thing', 404))
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(reply.headers['x-content-type-options']).toBe('nosniff')
  })

  it('answers 404 to a method that a route does not have', async () => {
    const reply = await serve().inject({ method: 'DELETE', url: '/v1/tools', headers: bearer(ADMIN_TOKEN) })
    expect(reply.statusCode).toBe(404)
  })

  it('answers 400 to a path that is no path', async () => {
    const reply = await serve().inject({ url: '/v1/ports/%ff', headers: bearer(ADMIN_TOKEN) })
    expect(reply.json()).toEqual(problem('malformed-request', 'The request cannot be read', 400))
  })

  it('passes the length of a trace on as a number, and everything that is kept without one', async () => {
    const home = fakeHome()
    const app = serve({ home })
    for (const query of ['?last=1', '?last=100000', '']) {
      const reply = await app.inject({
        url: `/v1/ports/office_co2/trace${query}`,
        headers: bearer(ADMIN_TOKEN),
      })
      expect(reply.json().entries).toHaveLength(1)
    }
    expect(home.tracesAsked).toEqual([1, 100_000, 100_000])
  })

  it.each(['0', '100001', '-1', '1.5', '1e3', '', 'all', '%2010', '0x10'])(
    'refuses a trace of the length "%s"',
    async (last) => {
      const url = `/v1/ports/office_co2/trace?last=${last}`
      const reply = await serve().inject({ url, headers: bearer(ADMIN_TOKEN) })
      expect(reply.json()).toEqual({
        ...problem('invalid-request', 'The request does not fit its schema', 422),
        errors: [{ in: 'query', field: '/last', message: 'must be a whole number from 1 to 100000' }],
      })
    },
  )

  it('refuses query parameters that it does not know, and one that is given twice', async () => {
    const app = serve()
    const unknown = await app.inject({ url: '/v1/devices?area=Cellar', headers: bearer(READ_TOKEN) })
    expect(unknown.json().errors).toEqual([{ in: 'query', field: '/area', message: 'is not known' }])
    const url = '/v1/ports/office_co2/trace?last=1&last=2'
    const twice = await app.inject({ url, headers: bearer(ADMIN_TOKEN) })
    expect(twice.json().errors).toEqual([
      { in: 'query', field: '/last', message: 'must be string, is array' },
    ])
  })

  it('says that a format of the tool list is not available instead of answering with another', async () => {
    const url = '/v1/tools?format=openai-chat'
    const reply = await serve().inject({ url, headers: bearer(READ_TOKEN) })
    expect(reply.statusCode).toBe(422)
    expect(reply.json().errors).toEqual([
      { in: 'query', field: '/format', message: expect.stringContaining('"openai-chat" is not available') },
    ])
  })
})

describe('calls, batches and plans', () => {
  it('passes one call with the fields of a batch on as it came, and answers with one result', async () => {
    const home = fakeHome()
    const call = {
      id: 'c1',
      name: READ_CO2.name,
      arguments: { deep: [1, 'a', null, { b: true }] },
      confirmation: 'k_1',
      policy: 'resource',
      priority: 'automation',
      deadlineMs: 1500.5,
      maxAgeMs: 0,
      onError: 'abort',
      context: { a: 1 },
    }
    const reply = await serve({ home }).inject(post('/v1/calls', call))
    expect(reply.statusCode).toBe(200)
    expect(reply.json()).toEqual(okResult({ id: 'c1', name: READ_CO2.name }))
    expect(home.asked).toEqual([{ request: call, principal: expect.objectContaining({ id: 't2' }) }])
  })

  it.each(['/v1/batches', '/v1/plan'])('passes a batch on as it came: %s', async (url) => {
    const home = fakeHome()
    const batch = { calls: [{ name: 'a' }, { name: 'b', arguments: {} }], onError: 'continue' }
    const reply = await serve({ home }).inject(post(url, batch))
    expect(reply.statusCode).toBe(200)
    expect(home.asked[0]?.request).toEqual(batch)
  })

  it('adds nothing to a request that leaves everything out', async () => {
    const home = fakeHome()
    await serve({ home }).inject(post('/v1/batches', { calls: [{ name: 'a' }] }))
    expect(home.asked[0]?.request).toEqual({ calls: [{ name: 'a' }] })
  })

  it('answers 200 to a call that fails, with everything that the result says', async () => {
    const result = {
      ...okResult({ id: 'c1', name: 'a' }),
      status: 'error' as const,
      outcome: 'unknown' as const,
      error: {
        code: 'timeout' as const,
        message: 'no reply',
        retryable: false,
        details: { beyond: 'the schema' },
      },
    }
    const home = fakeHome({ call: async () => result })
    const reply = await serve({ home }).inject(post('/v1/calls', { name: 'a' }))
    expect([reply.statusCode, reply.json()]).toEqual([200, result])
  })

  it('takes a batch of the largest size and refuses one call more, without a fault for each of them', async () => {
    const app = serve()
    const calls = (length: number) => ({ calls: Array.from({ length }, () => ({ name: 'a' })) })
    expect((await app.inject(post('/v1/batches', calls(BATCH_CALLS_MAX)))).statusCode).toBe(200)
    const reply = await app.inject(post('/v1/batches', calls(BATCH_CALLS_MAX + 1)))
    expect(reply.json()).toEqual({
      ...problem('invalid-request', 'The request does not fit its schema', 422),
      errors: [{ in: 'body', field: '/calls', message: 'has 1001 calls; at most 1000' }],
    })
  })

  it('refuses an idempotency key, which it could not honour, and runs nothing', async () => {
    const home = fakeHome()
    const app = serve({ home })
    for (const url of ['/v1/calls', '/v1/batches']) {
      const reply = await app.inject(post(url, bodyOf(url), { 'idempotency-key': '"8e03978e"' }))
      expect(reply.json()).toMatchObject({
        type: 'urn:baudway:problem:not-available',
        status: 422,
        errors: [{ in: 'header', field: '/Idempotency-Key' }],
      })
    }
    expect(home.asked).toEqual([])
  })

  it('ignores a preference that it does not have, and does not claim to have applied it', async () => {
    const prefer = 'return=minimal, x-respond-async, wait=10'
    const reply = await serve().inject(post('/v1/batches', bodyOf('/v1/batches'), { prefer }))
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['preference-applied']).toBeUndefined()
  })
})
