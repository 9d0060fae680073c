/** The resource mutex of a port, on the serial library's own mock binding. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { silentLog } from '../../src/log.ts'
import { DeviceRegistry } from '../../src/port/device-registry.ts'
import { lines } from '../../src/port/framer/lines.ts'
import { namesOnlyHost } from '../../src/port/host.ts'
import { PortMutex } from '../../src/port/mutex.ts'
import { Port } from '../../src/port/port.ts'
import { startsWith } from '../../src/port/reply.ts'
import type { Request } from '../../src/port/request.ts'
import { type MockDevice, mockDevice } from '../../src/simulator/mock-device.ts'
import { MockBinding } from '../mock-binding.ts'
import { LINE, SIGNAL } from './fixture.ts'

const PATH = '/dev/mock-mutex'

/** Asks for `text`, and takes `text` with "=" behind it for the reply. */
function ask(text: string): Request<string> {
  const reply = Buffer.from(`${text}=`)
  return {
    bytes: Buffer.from(`${text}\r`),
    reply: {
      shapes: [startsWith(reply)],
      match: (frame) => (Buffer.from(frame).subarray(0, reply.length).equals(reply) ? text : undefined),
    },
    timeoutMs: 2_000,
    replyLatencyMaxMs: 2_000,
    gapMs: 0,
    station: 'device',
  }
}

describe('the mutex of a port', () => {
  let device: MockDevice
  let port: Port
  /** The device's own log: what it was asked while it had not answered yet. */
  let answering: string | undefined
  let interruptions: string[]
  let asked: string[]

  beforeEach(async () => {
    answering = undefined
    interruptions = []
    asked = []
    device = mockDevice(PATH, async (data) => {
      const request = data.toString('latin1').trim()
      if (answering !== undefined) interruptions.push(`${request} during ${answering}`)
      answering = request
      asked.push(request)
      await new Promise((resolve) => setImmediate(resolve))
      answering = undefined
      return `${request}=1\r`
    })
    const opened = new Promise<void>((resolve) => {
      port = new Port({
        id: 'mock',
        path: PATH,
        settings: { ...LINE, baudRate: 115_200 },
        framing: lines({ terminator: '\r' }),
        binding: MockBinding,
        host: namesOnlyHost,
        devices: new DeviceRegistry(),
        clock: systemClock,
        log: silentLog,
        onUnsolicited: () => false,
        onChange: () => {
          if (port.state === 'open') resolve()
        },
      })
      port.start()
    })
    await opened
  })

  afterEach(async () => {
    await port.stop()
    device.close()
  })

  it('lets one run at a time on the line, in the order in which they came', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => `Q${index}`)
    const values = await Promise.all(
      texts.map((text) => port.run({ signal: SIGNAL }, (line) => line.transact(ask(text)))),
    )
    expect(values).toEqual(texts)
    expect(asked).toEqual(texts)
    expect(interruptions).toEqual([])
  })

  it('is held over all transactions of a run', async () => {
    const run = (name: string) =>
      port.run({ signal: SIGNAL }, async (line) => {
        for (const step of ['a', 'b', 'c']) await line.transact(ask(`${name}${step}`))
      })
    await Promise.all([run('X'), run('Y')])
    expect(asked).toEqual(['Xa', 'Xb', 'Xc', 'Ya', 'Yb', 'Yc'])
  })

  it('is free again after a run that throws', async () => {
    const failing = port.run({ signal: SIGNAL }, () => Promise.reject(new Error('of the device file')))
    const next = port.run({ signal: SIGNAL }, (line) => line.transact(ask('Q')))
    await expect(failing).rejects.toThrow('of the device file')
    await expect(next).resolves.toBe('Q')
  })

  it('gives the line to nobody who has let it go', async () => {
    let kept: ((text: string) => Promise<unknown>) | undefined
    await port.run({ signal: SIGNAL }, async (line) => {
      kept = (text) => line.transact(ask(text))
    })
    await expect(kept?.('Q')).rejects.toThrow('after its end')
    expect(asked).toEqual([])
  })
})

describe('the exclusion itself', () => {
  it('has one holder whatever the microtasks in between', async () => {
    let seed = 7
    const hops = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff
      return seed % 8
    }
    for (let round = 0; round < 200; round += 1) {
      const mutex = new PortMutex()
      let holders = 0
      let most = 0
      const contender = async () => {
        for (let hop = hops(); hop > 0; hop -= 1) await undefined
        await mutex.runExclusive(async () => {
          holders += 1
          most = Math.max(most, holders)
          for (let hop = hops(); hop > 0; hop -= 1) await undefined
          holders -= 1
        })
      }
      await Promise.all(Array.from({ length: 6 }, contender))
      expect(most).toBe(1)
      expect(mutex.held).toBe(false)
    }
  })
})
