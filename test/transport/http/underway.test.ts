import { afterEach, describe, expect, it } from 'vitest'
import {
  ADMIN_TOKEN,
  BATCH,
  CONTROL_TOKEN,
  fakeHome,
  NOT_STOPPED,
  READ_TOKEN,
  STOPPED,
} from '../fake-home.ts'
import { bearer, bodyOf, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

const AGENT = expect.objectContaining({ id: 't2' })
const READER = expect.objectContaining({ id: 't1' })

describe('a batch that is not waited for', () => {
  it.each([
    'respond-async',
    'Respond-Async',
    'return=minimal, respond-async',
    'respond-async; wait=10',
    'wait=10,respond-async',
  ])('is accepted with "Prefer: %s" and has a place of its own', async (prefer) => {
    const home = fakeHome()
    const batch = { ...bodyOf('/v1/batches'), policy: 'batch' }
    const reply = await serve({ home }).inject(post('/v1/batches', batch, { prefer }))
    expect([reply.statusCode, reply.json()]).toEqual([202, BATCH])
    expect(reply.headers).toMatchObject({
      location: '/v1/batches/b_1',
      'preference-applied': 'respond-async',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(home.asked).toEqual([{ request: batch, principal: AGENT }])
  })

  it('has its form judged like any other, and is not begun with a fault', async () => {
    const home = fakeHome()
    const app = serve({ home })
    const headers = { prefer: 'respond-async' }
    expect((await app.inject(post('/v1/batches', { calls: [] }, headers))).statusCode).toBe(422)
    const keyed = post('/v1/batches', bodyOf('/v1/batches'), { ...headers, 'idempotency-key': '"a"' })
    expect((await app.inject(keyed)).statusCode).toBe(422)
    expect(home.asked).toEqual([])
  })

  it.each([
    ['GET', '/v1/batches/b_1'],
    ['DELETE', '/v1/batches/b_1'],
    ['DELETE', '/v1/calls/c1'],
  ] as const)('%s %s answers with the results so far, for the token that asks', async (method, url) => {
    const home = fakeHome()
    const reply = await serve({ home }).inject({ method, url, headers: bearer(READ_TOKEN) })
    expect([reply.statusCode, reply.json()]).toEqual([200, BATCH])
    expect(home.asked).toEqual([{ request: url.split('/').at(-1), principal: READER }])
  })

  it('may be cancelled call by call, whatever the id of a call is', async () => {
    const home = fakeHome()
    const id = '😀/?#%'.repeat(51)
    const url = `/v1/calls/${encodeURIComponent(id)}`
    await serve({ home }).inject({ method: 'DELETE', url, headers: bearer(READ_TOKEN) })
    expect(home.asked).toEqual([{ request: id, principal: READER }])
  })

  it.each(['/v1/batches/none', '/v1/calls/none'])('DELETE %s is 404', async (url) => {
    const reply = await serve().inject({ method: 'DELETE', url, headers: bearer(ADMIN_TOKEN) })
    expect(reply.json()).toEqual(problem('not-found', 'There is no such thing', 404))
  })

  it('takes no body where there is nothing to say', async () => {
    const app = serve()
    const request = { method: 'DELETE', url: '/v1/batches/b_1' } as const
    const headers = { ...bearer(READ_TOKEN), 'content-type': 'application/json' }
    const withBody = await app.inject({ ...request, headers, payload: '{"reason":"late"}' })
    expect(withBody.json()).toEqual({
      ...problem('invalid-request', 'The request does not fit its schema', 422),
      errors: [{ in: 'body', field: '', message: 'is not expected' }],
    })
    // Some clients name the type of a body that they do not send.
    expect((await app.inject({ ...request, headers })).statusCode).toBe(200)
  })
})

describe('the emergency stop', () => {
  it('stops, shows that it is stopped, and is released', async () => {
    const home = fakeHome()
    const app = serve({ home })
    const url = '/v1/stop'
    const stopped = await app.inject({ method: 'POST', url, headers: bearer(CONTROL_TOKEN) })
    expect(stopped.json()).toEqual(STOPPED)
    const released = await app.inject({ method: 'DELETE', url, headers: bearer(ADMIN_TOKEN) })
    expect(released.json()).toEqual(NOT_STOPPED)
    expect(home.asked).toEqual([
      { request: 'stop', principal: AGENT },
      { request: 'release the stop', principal: expect.objectContaining({ id: 't3' }) },
    ])
  })

  it.each([
    ['text/plain', 'now!'],
    ['application/json', '{"why":'],
    ['application/json', ''],
    ['application/x-www-form-urlencoded', 'why=fire'],
  ])('is not refused for its form: %s %j', async (type, payload) => {
    const home = fakeHome()
    const headers = { ...bearer(CONTROL_TOKEN), 'content-type': type }
    const reply = await serve({ home }).inject({ method: 'POST', url: '/v1/stop?now', headers, payload })
    expect(reply.statusCode).toBe(200)
    expect(home.asked).toHaveLength(1)
  })
})
