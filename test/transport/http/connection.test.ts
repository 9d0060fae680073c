import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { BatchResponse } from '../../../src/tool/shapes.ts'
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

  it('that stays open gets a problem document while the server closes', async () => {
    const { home, started, finish } = slowHome()
    const app = serve({ home })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    let closed: Promise<unknown> | undefined
    const whole = rawBatch()
    const received = sendRaw(
      address,
      whole,
      started.then(async () => {
        closed = app.close()
        await expect.poll(() => app.server.listening).toBe(false)
        finish()
        return whole
      }),
    )
    const [first, second] = (await received).split(/(?=HTTP\/1\.1)/)
    expect(first).toContain('200 OK')
    expect(second).toContain('503 Service Unavailable')
    expect(second).toContain('urn:baudway:problem:unavailable')
    await closed
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

function rawBatch(): string {
  const body = JSON.stringify(bodyOf('/v1/batches'))
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
  socket.write(text)
  if (later) socket.write(await later)
  await closed
  return received
}
