import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { BODY_BYTES_MAX } from '../../../src/limits.ts'
import type { BatchResponse } from '../../../src/tool/shapes.ts'
import { VirtualClock } from '../../virtual-clock.ts'
import { CONTROL_TOKEN, type FakeHome, fakeHome } from '../fake-home.ts'
import { bodyOf, closeServers, post, problem, serve } from './serve.ts'

afterEach(closeServers)

function gate(): { open: () => void; opened: Promise<void> } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** A gateway whose batch ends when the test says so. */
function slowHome() {
  const home = fakeHome()
  const started = gate()
  const finish = gate()
  let ended = false
  const batch = async (...args: Parameters<FakeHome['batch']>): Promise<BatchResponse> => {
    started.open()
    await finish.opened
    ended = true
    return home.batch(...args)
  }
  return { home: { ...home, batch }, started: started.opened, finish: finish.open, ended: () => ended }
}

describe('a connection', () => {
  it('may go away; its calls go on', async () => {
    const { home, started, finish, ended } = slowHome()
    const app = serve({ home })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const leaving = new AbortController()
    const { method, headers, payload } = post('/v1/batches', bodyOf('/v1/batches')) as {
      method: 'POST'
      headers: Record<string, string>
      payload: string
    }
    const reply = fetch(`${address}/v1/batches`, { method, headers, body: payload, signal: leaving.signal })
    await started
    leaving.abort()
    await expect(reply).rejects.toThrow()
    finish()
    await expect.poll(ended).toBe(true)
    expect((await fetch(`${address}/healthz`)).status).toBe(200)
  })

  it('gets its answer while the server closes, and new requests get 503', async () => {
    const { home, started, finish } = slowHome()
    let stopping = false
    const app = serve({ home, stopping: () => stopping })
    const running = app.inject(post('/v1/batches', bodyOf('/v1/batches')))
    await started
    stopping = true
    const refused = await app.inject(post('/v1/batches', bodyOf('/v1/batches')))
    expect(refused.json()).toEqual(problem('unavailable', 'The gateway is stopping', 503))
    expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' })
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    finish()
    expect((await running).statusCode).toBe(200)
  })

  it('gets its running answer while the server closes, and ends with it', async () => {
    const { home, started, finish } = slowHome()
    const app = serve({ home })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const received = sendRaw(address, rawBatch())
    await started
    const closed = app.close()
    await expect.poll(() => app.server.listening).toBe(false)
    finish()
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n/i)
    await closed
  })

  it('that asks for nothing does not keep the server from closing', async () => {
    const app = serve()
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const silent = sendRaw(address, '')
    const halfway = sendRaw(address, 'POST /v1/batches HTTP/1.1\r\nHost: local')
    await expect
      .poll(() => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count))))
      .toBe(2)
    await app.close()
    expect(await Promise.all([silent, halfway])).toEqual(['', ''])
  })

  it('that stays silent in the middle of a body is ended when the patience is over', async () => {
    const clock = new VirtualClock()
    const app = serve({ clock })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const debris = sendRaw(address, rawBatch().slice(0, -5))
    await expect
      .poll(() => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count))))
      .toBe(1)
    // The headers of the request have been read once another request has been answered.
    await fetch(`${address}/healthz`)
    const closed = app.close()
    await expect.poll(() => clock.pending).toBe(1)
    await clock.advance(1_000)
    await closed
    expect(await debris).toBe('')
    expect(clock.pending).toBe(0)
  })

  it('that sends a body over the limit to its end gets the answer, and can go on', async () => {
    const app = serve()
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const body = 'x'.repeat(4 * BODY_BYTES_MAX)
    const next = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const [first, second] = (await sendRaw(address, rawBatch(body) + next)).split(/(?=HTTP\/1\.1)/)
    expect(first).toContain('413 Payload Too Large')
    expect(second).toContain('200 OK')
  })

  it('that sends no HTTP gets a problem document and is closed', async () => {
    const app = serve()
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const received = await sendRaw(address, 'HELLO\r\n\r\n')
    expect(received).toContain('HTTP/1.1 400 Bad Request')
    expect(received).toContain('Content-Type: application/problem+json')
  })

  it('that sends rubbish behind a running batch is not told that nothing was done', async () => {
    const { home, started, finish, ended } = slowHome()
    const app = serve({ home })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const received = sendRaw(
      address,
      rawBatch(),
      started.then(() => 'RUBBISH\r\n\r\n'),
    )
    expect(await received).toBe('')
    finish()
    await expect.poll(ended).toBe(true)
  })
})

function rawBatch(body = JSON.stringify(bodyOf('/v1/batches'))): string {
  return [
    'POST /v1/batches HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${CONTROL_TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

/** Everything that comes back until the server ends the connection. */
async function sendRaw(address: string, text: string, later?: Promise<string>): Promise<string> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const closed = new Promise((resolve) => socket.on('close', resolve))
  // A server that ends a connection while bytes of it are unread resets it: an end like any other.
  socket.on('error', () => {})
  socket.write(text)
  if (later) socket.write(await later)
  await closed
  return received
}
