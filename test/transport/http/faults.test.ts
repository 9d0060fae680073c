import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from '../../../src/limits.ts'
import { silentLog } from '../../../src/log.ts'
import { CONTROL_TOKEN, fakeHome, READ_TOKEN } from '../fake-home.ts'
import { bearer, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

describe('a request that is none', () => {
  it('has every fault named, in the query and in the body, and nothing is run', async () => {
    const home = fakeHome()
    const body = {
      calls: [{ name: 7, 'b/r': 1 }, {}, 'x', { name: '', arguments: [] }],
      policy: 'fast',
      deadlineMs: '5',
      maxAgeMs: -1,
      context: null,
      zed: 1,
    }
    const reply = await serve({ home }).inject(post('/v1/batches?dry=1', body))
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    const { errors, ...document } = reply.json()
    expect(document).toEqual(problem('invalid-request', 'The request does not fit its schema', 422))
    const options = 'policy, priority, deadlineMs, maxAgeMs, onError, context'
    const expected = [
      { in: 'query', field: '/dry', message: 'is not known' },
      { in: 'body', field: '/zed', message: `is not known; known here: calls, ${options}` },
      {
        in: 'body',
        field: '/calls/0/b~1r',
        message: 'is not known; known here: id, name, arguments, confirmation',
      },
      { in: 'body', field: '/calls/0/name', message: 'must be string, is number' },
      { in: 'body', field: '/calls/1/name', message: 'is missing' },
      { in: 'body', field: '/calls/2', message: 'must be object, is string' },
      { in: 'body', field: '/calls/3/name', message: 'must NOT have fewer than 1 characters' },
      { in: 'body', field: '/calls/3/arguments', message: 'must be object, is array' },
      { in: 'body', field: '/policy', message: 'must be one of "partition", "batch", "resource"' },
      { in: 'body', field: '/deadlineMs', message: 'must be number, is string' },
      { in: 'body', field: '/maxAgeMs', message: 'must be >= 0' },
      { in: 'body', field: '/context', message: 'must be object, is null' },
    ]
    expect(errors).toHaveLength(expected.length)
    expect(errors).toEqual(expect.arrayContaining(expected))
    expect(home.asked).toEqual([])
  })

  it.each(['null', '[]', '7', '"calls"'])('%s is no batch', async (body) => {
    const reply = await serve().inject(post('/v1/batches', body))
    expect(reply.json()).toMatchObject({ status: 422, errors: [{ in: 'body', field: '' }] })
  })

  it('lists a thousand faults of a body that has more, and says how many it has', async () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 0]))
    const reply = await serve().inject(post('/v1/calls', body))
    expect(reply.json().errors).toHaveLength(1_000)
    expect(reply.json().detail).toContain('5001 faults')
  })

  it('is 400 with the place where the JSON ends to be JSON', async () => {
    const reply = await serve().inject(post('/v1/batches', '{"calls":\n [1,}'))
    expect(reply.json()).toEqual({
      ...problem('malformed-body', 'The body cannot be read', 400),
      errors: [{ in: 'body', field: '/calls/1', message: 'line 2, column 5: expected a value' }],
    })
  })

  it.each([
    ['a name given twice', '{"calls":[],"calls":[{"name":"a"}]}', '/calls'],
    [
      'a prototype',
      '{"calls":[{"name":"a","arguments":{"__proto__":{"admin":true}}}]}',
      '/calls/0/arguments/__proto__',
    ],
    ['a constructor', '{"calls":[{"name":"a"}],"constructor":{"prototype":{}}}', '/constructor'],
    [
      'too deep a nesting',
      `{"context":${'['.repeat(JSON_DEPTH_MAX)}${']'.repeat(JSON_DEPTH_MAX)}}`,
      '/context',
    ],
    ['no body at all', '', ''],
  ])('is 400 with %s', async (_name, body, field) => {
    const home = fakeHome()
    const reply = await serve({ home }).inject(post('/v1/batches', body))
    expect(reply.statusCode).toBe(400)
    expect(reply.json().errors[0].field).toMatch(new RegExp(`^${field}`))
    expect(home.asked).toEqual([])
  })

  it('is 413 with a body over the limit, whether its length is announced or not', async () => {
    const app = serve()
    const large = JSON.stringify({ calls: [{ name: 'x'.repeat(BODY_BYTES_MAX) }] })
    const announced = await app.inject(post('/v1/batches', large))
    expect(announced.json()).toEqual(problem('body-too-large', 'The body is too large', 413))

    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const pieces = new ReadableStream({
      start(controller) {
        for (let at = 0; at < large.length; at += 65_536)
          controller.enqueue(Buffer.from(large.slice(at, at + 65_536)))
        controller.close()
      },
    })
    const headers = { ...bearer(CONTROL_TOKEN), 'content-type': 'application/json' }
    const streamed = await fetch(`${address}/v1/batches`, {
      method: 'POST',
      headers,
      body: pieces,
      duplex: 'half',
    })
    expect(streamed.status).toBe(413)
  })

  it.each([
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-type': 'application/jsonp' },
    { 'content-type': '' },
    { 'content-encoding': 'gzip' },
  ])('is 415 with the header %j', async (header) => {
    const reply = await serve().inject(post('/v1/calls', { name: 'a' }, header as Record<string, string>))
    expect(reply.json()).toEqual(problem('media-type', 'The body has to be JSON', 415))
  })

  it.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    'takes a body of the type %s',
    async (type) => {
      const reply = await serve().inject(post('/v1/calls', { name: 'a' }, { 'content-type': type }))
      expect(reply.statusCode).toBe(200)
    },
  )

  it('is never answered with a fault of the gateway, whatever the body is', async () => {
    const app = serve()
    const value = fc.jsonValue({ maxDepth: 3 })
    const body = fc.oneof(
      fc.string(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      value.map((json) => JSON.stringify(json)),
      fc.record({ calls: fc.array(value), policy: value }).map((json) => JSON.stringify(json)),
    )
    const url = fc.constantFrom('/v1/calls', '/v1/batches', '/v1/plan')
    await fc.assert(
      fc.asyncProperty(url, body, async (path, payload) => {
        const reply = await app.inject(post(path, payload))
        expect([200, 400, 422]).toContain(reply.statusCode)
        if (reply.statusCode === 200) return
        expect(reply.json()).toMatchObject({ status: reply.statusCode, errors: expect.any(Array) })
        expect(reply.body).not.toMatch(/node_modules|\.ts:|\.js:/)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a fault of the gateway', () => {
  it('is 500 without its inside, and is logged once', async () => {
    const logged: object[] = []
    const log = { ...silentLog, error: (fields: object) => void logged.push(fields) }
    const home = fakeHome({
      devices: () => {
        throw new Error('secret of /etc/passwd')
      },
    })
    const reply = await serve({ home, log }).inject({ url: '/v1/devices', headers: bearer(READ_TOKEN) })
    expect(reply.json()).toEqual(problem('internal', 'A fault of the gateway itself', 500))
    expect(reply.body).not.toContain('secret')
    expect(logged).toEqual([{ err: expect.any(Error), method: 'GET', route: '/v1/devices' }])
  })

  it('is not logged where the client is at fault', async () => {
    const logged: object[] = []
    const log = { ...silentLog, error: (fields: object) => void logged.push(fields) }
    const app = serve({ log })
    await app.inject(post('/v1/calls', '{'))
    await app.inject(post('/v1/calls', {}))
    await app.inject('/v1/tools')
    expect(logged).toEqual([])
  })
})
