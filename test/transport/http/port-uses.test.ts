import { afterEach, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, fakeHome, PORT, SENT } from '../fake-home.ts'
import { bearer, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

const SEND = '/v1/ports/office_co2/send'
const RELEASE = '/v1/ports/office_co2/release'
const byAdmin = (url: string, body: unknown) => post(url, body, bearer(ADMIN_TOKEN))

describe('raw bytes', () => {
  it.each([
    [{ hex: 'ff 01 86' }, [0xff, 0x01, 0x86], 1_000],
    [{ hex: 'FF0186', waitMs: 0 }, [0xff, 0x01, 0x86], 0],
    [{ hex: '0a' }, [0x0a], 1_000],
    [{ text: 'PW?\r', waitMs: 10_000 }, [0x50, 0x57, 0x3f, 0x0d], 10_000],
    [{ text: '°' }, [0xc2, 0xb0], 1_000],
  ])('%j are sent as they are', async (body, bytes, waitMs) => {
    const home = fakeHome()
    const reply = await serve({ home }).inject(byAdmin(SEND, body))
    expect([reply.statusCode, reply.json()]).toEqual([200, SENT])
    expect(home.asked[0]?.request).toEqual({ bytes: expect.anything(), waitMs })
    const sent = home.asked[0]?.request as { bytes: Uint8Array }
    expect(Array.from(sent.bytes)).toEqual(bytes)
  })

  it.each([
    [{}, ''],
    [{ waitMs: 10 }, ''],
    [{ hex: 'ff', text: 'a' }, ''],
    [{ hex: '' }, '/hex'],
    [{ hex: 'f' }, '/hex'],
    [{ hex: 'fff' }, '/hex'],
    [{ hex: '0xff' }, '/hex'],
    [{ hex: 'ff  01' }, '/hex'],
    [{ hex: ' ff' }, '/hex'],
    [{ hex: 'ff ' }, '/hex'],
    [{ hex: 'fg' }, '/hex'],
    [{ hex: 'f f' }, '/hex'],
    [{ hex: 'ff'.repeat(1_025) }, '/hex'],
    [{ text: '' }, '/text'],
    [{ text: '°'.repeat(513) }, '/text'],
    [{ text: 'a', waitMs: -1 }, '/waitMs'],
    [{ text: 'a', waitMs: 10_001 }, '/waitMs'],
    [{ text: 'a', waitMs: 0.5 }, '/waitMs'],
    [{ text: 'a', lineEnd: '\r' }, '/lineEnd'],
  ])('are refused as %j, and nothing is sent', async (body, field) => {
    const home = fakeHome()
    const reply = await serve({ home }).inject(byAdmin(SEND, body))
    expect(reply.json()).toEqual({
      ...problem('invalid-request', 'The request does not fit its schema', 422),
      errors: [{ in: 'body', field, message: expect.any(String) }],
    })
    expect(home.asked).toEqual([])
  })

  it('may be 1024', async () => {
    const spaced = Array.from({ length: 1_024 }, () => 'ff').join(' ')
    const app = serve()
    for (const body of [{ hex: spaced }, { hex: 'ff'.repeat(1_024) }, { text: '°'.repeat(512) }]) {
      expect((await app.inject(byAdmin(SEND, body))).statusCode).toBe(200)
    }
  })

  it('that fail are a result, not a problem', async () => {
    const result = {
      outcome: 'not_executed' as const,
      error: { code: 'stopped' as const, message: 'stopped', retryable: false },
      received: { hex: '', text: '' },
    }
    const reply = await serve({ home: fakeHome({ send: async () => result }) }).inject(
      byAdmin(SEND, { hex: '00' }),
    )
    expect([reply.statusCode, reply.json()]).toEqual([200, result])
  })
})

describe('the release of a port', () => {
  it('says for how long, and answers with the port', async () => {
    const releases: unknown[] = []
    const closed = { ...PORT, state: 'closed' as const }
    const home = fakeHome({
      releasePort: async (...args) => {
        releases.push(args)
        return closed
      },
    })
    const app = serve({ home })
    for (const forMs of [1, 86_400_000]) {
      const reply = await app.inject(byAdmin(RELEASE, { forMs }))
      expect([reply.statusCode, reply.json()]).toEqual([200, closed])
    }
    expect(releases).toEqual([
      ['office_co2', 1],
      ['office_co2', 86_400_000],
    ])
  })

  it.each([
    {},
    { forMs: 0 },
    { forMs: 86_400_001 },
    { forMs: 1.5 },
    { forMs: '10m' },
    { for: '10m', forMs: 1 },
  ])('is refused as %j', async (body) => {
    const reply = await serve().inject(byAdmin(RELEASE, body))
    expect(reply.json()).toMatchObject({ status: 422, errors: [{ in: 'body' }] })
  })
})

it.each([
  ['/v1/ports/none/send', { hex: '00' }],
  ['/v1/ports/none/release', { forMs: 1 }],
])('%s of a port that is not there is 404', async (url, body) => {
  const reply = await serve().inject(byAdmin(url, body))
  expect(reply.json()).toEqual(problem('not-found', 'There is no such thing', 404))
})
