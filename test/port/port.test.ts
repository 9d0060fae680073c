import { describe, expect, it } from 'vitest'
import { bench, coil, LINE, read, SIGNAL, transact } from './fixture.ts'

/** Requests and replies as in pymodbus issue 2636 and the Modbus specifications; CRCs as captured. */
const READ_0 = '01 03 00 00 00 01 84 0a'
const READ_16 = '01 03 00 10 00 01 85 cf'
const IS_17 = '01 03 02 00 11 78 48'
const IS_34 = '01 03 02 00 22 38 5d'
const UNIT_2_READ_0 = '02 03 00 00 00 01 84 39'
const UNIT_2_IS_5 = '02 03 02 00 05 3c 47'
const COIL_0_ON = '01 05 00 00 ff 00 8c 3a'

const value = (registers: number[]) => ({ kind: 'value', value: registers })

describe('a transaction on a port', () => {
  it('returns the matched reply, its time counted from the first byte', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_16, { hex: IS_34, afterMs: 50 })
    const first = transact(port, clock, read(1, 16))
    await clock.advance(200)
    expect(first.ended).toMatchObject({ value: value([34]), sent: true })
    // 8 characters there, 50 ms of thought, 7 characters back, at 1 ms each.
    expect(first.ended?.at).toBeCloseTo(1 + 8 + 50 + 7, 5)
    expect(port.status().counters).toMatchObject({
      bytesSent: 8,
      bytesReceived: 7,
      frames: 1,
      transactions: 1,
    })
  })

  it('keeps the gap to the last byte in either direction', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_16, { hex: IS_34, afterMs: 5 })
    transact(port, clock, read(1, 16, { gapMs: 40 }))
    transact(port, clock, read(1, 16, { gapMs: 40 }))
    await clock.advance(500)
    const [first, second] = device.heard
    // The reply ends 5 + 7 ms after the first request; then the gap, then 8 characters.
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeCloseTo(5 + 7 + 40 + 8, 5)
  })

  it('ignores a whole frame of another unit and goes on waiting', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_16, { hex: UNIT_2_IS_5, afterMs: 5 }, { hex: IS_34, afterMs: 100 })
    const asked = transact(port, clock, read(1, 16))
    await clock.advance(300)
    expect(asked.ended).toMatchObject({ value: value([34]) })
    expect(port.status().counters.foreignFrames).toBe(1)
  })

  it('ends as bad_reply soon after the line fell silent, when what came fails its checksum', async () => {
    const { port, clock, device } = await bench()
    // The last byte is wrong: 5d belongs there.
    device.answer(READ_16, { hex: '01 03 02 00 22 38 5c', afterMs: 5 })
    const asked = transact(port, clock, read(1, 16))
    await clock.advance(100)
    expect(asked.ended).toMatchObject({ error: { code: 'bad_reply' }, sent: true })
    expect(asked.ended?.at).toBeLessThan(100)
  })

  it('times out when a reply is cut off, and understands the next one', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_16, { hex: '01 03 02 00', afterMs: 5 })
    const cut = transact(port, clock, read(1, 16, { replyLatencyMaxMs: 500 }))
    await clock.advance(501)
    expect(cut.ended).toMatchObject({ error: { code: 'timeout' } })
    device.answer(READ_16, { hex: IS_34, afterMs: 5 })
    const whole = transact(port, clock, read(1, 16))
    await clock.advance(200)
    expect(whole.ended).toMatchObject({ value: value([34]) })
  })

  it('finds its reply behind noise that looked like the start of a long frame, when the line falls silent', async () => {
    const { port, clock, device } = await bench()
    // 01 03 fa announces 250 bytes of data.
    device.answer(READ_16, { hex: `01 03 fa ${IS_34}`, afterMs: 5 })
    const asked = transact(port, clock, read(1, 16))
    await clock.advance(200)
    expect(asked.ended).toMatchObject({ value: value([34]) })
  })

  it('waits for the rest of a reply whose bytes come in pieces, 30 ms apart', async () => {
    const { port, clock, device } = await bench()
    const pieces = IS_34.split(' ').map((hex, index) => ({ hex, afterMs: 5 + 30 * index }))
    device.answer(READ_16, ...pieces)
    const asked = transact(port, clock, read(1, 16))
    await clock.advance(400)
    expect(asked.ended).toMatchObject({ value: value([34]) })
  })

  it('keeps the 3.5 characters between two Modbus frames, whatever gap is configured', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_16, { hex: IS_34, afterMs: 5 })
    transact(port, clock, read(1, 16, { gapMs: 0 }))
    transact(port, clock, read(1, 16, { gapMs: 0 }))
    await clock.advance(500)
    const [first, second] = device.heard
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeCloseTo(5 + 7 + 3.5 + 8, 5)
  })

  it('does not send while another unit is asked: the second waits for the first, timeout and all', async () => {
    const { port, clock, device } = await bench()
    device.answer(UNIT_2_READ_0, { hex: UNIT_2_IS_5, afterMs: 5 }).answer(READ_0)
    const dead = transact(port, clock, read(1, 0))
    const alive = transact(port, clock, read(2, 0))
    await clock.advance(499)
    expect(device.heard).toHaveLength(1)
    await clock.advance(200)
    expect(dead.ended).toMatchObject({ error: { code: 'timeout' } })
    expect(alive.ended).toMatchObject({ value: value([5]) })
  })

  it('without an acknowledgement ends with the last byte on the wire', async () => {
    const { port, clock } = await bench()
    const asked = transact(port, clock, { ...read(1, 0), reply: null })
    await clock.advance(100)
    expect(asked.ended).toMatchObject({ value: null, sent: true })
    expect(asked.ended?.at).toBeCloseTo(1 + 8, 5)
  })

  it('takes the echo of a write for its acknowledgement only if every byte is right', async () => {
    const { port, clock, device } = await bench()
    device.answer(COIL_0_ON, { hex: '01 05 00 00 00 00 cd ca', afterMs: 5 })
    const wrong = transact(port, clock, coil(1, 0, true))
    await clock.advance(600)
    expect(wrong.ended).toMatchObject({ error: { code: 'timeout' } })
  })

  it('lets a stopped run wait 250 ms from its last request byte, and not longer', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_0)
    const abort = new AbortController()
    let ended: { code: string; at: number } | undefined
    port
      .run({ signal: abort.signal }, (line) => line.transact(read(1, 0, { timeoutMs: 5_000 })))
      .catch((error) => {
        ended = { code: error.code, at: clock.now() }
      })
    await clock.advance(100)
    abort.abort()
    await clock.advance(1_000)
    expect(ended).toEqual({ code: 'stopped', at: 101 + 250 })
    expect(port.state).toBe('suspect')
  })
})

describe('the life of a port', () => {
  it('is open after its start, and says since when and how often', async () => {
    const { port } = await bench()
    expect(port.status()).toMatchObject({
      id: 'bus1',
      path: 'bus1',
      state: 'open',
      lastError: null,
      settings: LINE,
      counters: { opens: 1, losses: 0 },
    })
  })

  it('ends the running transaction at once when the plug is pulled, as unknown', async () => {
    const { port, clock, device, wire } = await bench()
    device.answer(READ_0)
    const asked = transact(port, clock, read(1, 0))
    await clock.advance(100)
    wire.unplug()
    await clock.advance(1)
    expect(asked.ended).toMatchObject({ error: { code: 'port_lost' }, sent: true })
    expect(port.refusal()).toMatchObject({ code: 'device_unavailable', details: { state: port.state } })
  })

  it('opens again as soon as the device is back, with the bytes of before forgotten', async () => {
    const { port, clock, device, wire } = await bench()
    device.answer(READ_16, { hex: IS_34, afterMs: 5 })
    device.send('01 03 02')
    await clock.advance(10)
    wire.unplug()
    await clock.advance(20_000)
    expect(port.state).toBe('absent')
    wire.replug()
    await clock.advance(250)
    expect(port.state).toBe('open')
    const asked = transact(port, clock, read(1, 16))
    await clock.advance(100)
    expect(asked.ended).toMatchObject({ value: value([34]) })
    expect(port.status().counters).toMatchObject({ opens: 2, losses: 1 })
  })

  it('tries an open that fails less and less often, and logs it once', async () => {
    const { port, clock, wire, logged } = await bench()
    wire.failOpens('busy', 1_000)
    wire.unplug()
    await clock.advance(10)
    wire.replug()
    const before = logged.filter(({ level }) => level !== 'debug').length
    await clock.advance(60_000)
    expect(port.state).not.toBe('open')
    const told = logged.slice(0).filter(({ level }) => level !== 'debug').length - before
    expect(told).toBeLessThanOrEqual(2)
    // 1 + 2 + 4 + 8 + 15 + 30 s, less a quarter of jitter.
    expect(
      logged.filter(({ fields }) => 'state' in fields && fields.state === 'opening').length,
    ).toBeLessThan(9)
  })

  it('refuses a run while it is absent, and nothing of it is sent when it comes back', async () => {
    const { port, clock, device, wire } = await bench()
    device.answer(READ_0, { hex: IS_17, afterMs: 5 })
    wire.unplug()
    await clock.advance(300)
    const refused = transact(port, clock, read(1, 0))
    await clock.advance(1)
    expect(refused.ended).toMatchObject({ error: { code: 'device_unavailable' }, sent: false })
    wire.replug()
    await clock.advance(1_000)
    expect(port.state).toBe('open')
    expect(device.heard).toEqual([])
  })

  it('leaves no timer when it is stopped', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_0)
    transact(port, clock, read(1, 0))
    await clock.advance(700)
    expect(port.state).toBe('suspect')
    await port.stop()
    expect(port.state).toBe('closed')
    await clock.advance(1)
    expect(clock.pending).toBe(0)
  })

  it('holds its mutex for a run of several transactions', async () => {
    const { port, clock, device } = await bench()
    device.answer(READ_16, { hex: IS_34, afterMs: 5 }).answer(UNIT_2_READ_0, { hex: UNIT_2_IS_5, afterMs: 5 })
    void port.run({ signal: SIGNAL }, async (line) => {
      await line.transact(read(1, 16))
      await line.transact(read(1, 16))
    })
    transact(port, clock, read(2, 0))
    await clock.advance(500)
    expect(device.heard.map(({ hex }) => hex.slice(0, 2))).toEqual(['01', '01', '02'])
  })

  it('says that it went away if it goes between the turn and the first byte', async () => {
    const { port, device } = await bench()
    const said = await port.run({ signal: SIGNAL }, (line) => {
      const asked = line.transact(read(1, 0)).catch((error: unknown) => error)
      void port.stop()
      return asked
    })
    expect(said).toMatchObject({ code: 'port_lost' })
    expect(device.heard).toEqual([])
  })
})
