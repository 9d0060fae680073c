import { afterEach, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, CONFIGURATION, fakeHome, RELOADED } from '../fake-home.ts'
import { bearer, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

const headers = bearer(ADMIN_TOKEN)
const put = (body: unknown, more: Record<string, string> = {}) => ({
  method: 'PUT' as const,
  url: '/v1/config',
  headers: { ...headers, 'content-type': 'application/json', ...more },
  payload: JSON.stringify(body),
})

const FAULTS = [
  {
    message: 'is not known',
    hint: 'did you mean host?',
    pointer: '/http/hots',
    file: 'a.yaml',
    line: 2,
    column: 3,
  },
  { message: 'is missing', pointer: '/devices/0/type', line: 7, column: 5 },
]
const INVALID = { ...RELOADED, valid: false, applied: false, faults: FAULTS }
const INVALID_PROBLEM = {
  ...problem('invalid-configuration', 'The configuration has faults', 422),
  errors: [
    {
      in: 'configuration',
      field: '/http/hots',
      message: 'is not known',
      hint: 'did you mean host?',
      file: 'a.yaml',
      line: 2,
      column: 3,
    },
    { in: 'configuration', field: '/devices/0/type', message: 'is missing', line: 7, column: 5 },
  ],
}

describe('the configuration', () => {
  it('is read with its version as ETag', async () => {
    const reply = await serve().inject({ url: '/v1/config', headers })
    expect(reply.json()).toEqual(CONFIGURATION)
    expect(reply.headers.etag).toBe('"v1"')
  })

  it('is checked, with a report and status 200 whatever is found', async () => {
    const texts: string[] = []
    const report = { valid: false, faults: FAULTS, warnings: [] }
    const home = fakeHome({
      checkConfiguration: async (text) => {
        texts.push(text)
        return report
      },
    })
    const reply = await serve({ home }).inject(post('/v1/config/check', { text: 'a: 1\n' }, headers))
    expect([reply.statusCode, reply.json()]).toEqual([200, report])
    expect(texts).toEqual(['a: 1\n'])
  })

  it.each([
    [{}, undefined],
    [{ 'if-match': '*' }, undefined],
    [{ 'if-match': '"v1"' }, 'v1'],
  ])('is written with the headers %j', async (more, version) => {
    const written: unknown[] = []
    const home = fakeHome({
      writeConfiguration: async (...args) => {
        written.push(args)
        return RELOADED
      },
      configuration: async () => ({ ...CONFIGURATION, text: 'b: 2\n', version: 'v2' }),
    })
    const reply = await serve({ home }).inject(put({ text: 'b: 2\n' }, more))
    expect([reply.statusCode, reply.json()]).toEqual([200, RELOADED])
    expect(reply.headers.etag).toBe('"v2"')
    expect(written).toEqual([['b: 2\n', version]])
  })

  it('has no ETag in the answer when somebody else has written in between', async () => {
    const reply = await serve().inject(put({ text: 'not what is there now' }))
    expect([reply.statusCode, reply.headers.etag]).toEqual([200, undefined])
  })

  it('is not written over a version that the client has not seen', async () => {
    const reply = await serve().inject(put({ text: 'b: 2\n' }, { 'if-match': '"v0"' }))
    expect(reply.json()).toEqual(problem('precondition-failed', 'It has been changed by somebody else', 412))
  })

  it.each(['v1', 'W/"v1"', '"v1", "v2"', '""', '"v1'])('refuses the header If-Match: %s', async (ifMatch) => {
    const home = fakeHome({
      writeConfiguration: async () => {
        throw new Error('must not be asked')
      },
    })
    const reply = await serve({ home }).inject(put({ text: 'b: 2\n' }, { 'if-match': ifMatch }))
    expect(reply.json()).toMatchObject({ status: 422, errors: [{ in: 'header', field: '/If-Match' }] })
  })

  it('with faults is answered with every one of them, each in its place', async () => {
    const home = fakeHome({ writeConfiguration: async () => INVALID, reload: async () => INVALID })
    const app = serve({ home })
    const requests = [put({ text: 'b: 2\n' }), { method: 'POST' as const, url: '/v1/reload', headers }]
    for (const request of requests) expect((await app.inject(request)).json()).toEqual(INVALID_PROBLEM)
  })

  it('is read again, with a report of what has changed', async () => {
    const reply = await serve().inject({ method: 'POST', url: '/v1/reload', headers })
    expect([reply.statusCode, reply.json()]).toEqual([200, RELOADED])
  })

  it.each([{}, { text: 1 }, { text: '', path: '/etc/passwd' }])('is not taken as %j', async (body) => {
    expect((await serve().inject(put(body))).statusCode).toBe(422)
  })

  it('that is no file is 404', async () => {
    const nothing = async () => undefined
    const app = serve({
      home: fakeHome({ configuration: nothing, writeConfiguration: nothing, reload: nothing }),
    })
    const requests = [
      { url: '/v1/config', headers },
      put({ text: '' }),
      { method: 'POST' as const, url: '/v1/reload', headers },
    ]
    for (const request of requests) {
      expect((await app.inject(request)).json()).toEqual(problem('not-found', 'There is no such thing', 404))
    }
  })
})
