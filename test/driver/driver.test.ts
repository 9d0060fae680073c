/** What becomes of a command: its value, its error, and what that proves. Vectors: Modbus V1.1b3, and their CRC. */
import { describe, expect, it } from 'vitest'
import type { DeviceSession, Exchange, ToolSpec } from '../../src/driver/device-type.ts'
import { exchangeOf, unanswered, uncorrelated } from '../../src/driver/exchange.ts'
import { readRegisters } from '../../src/driver/modbus.ts'
import { GatewayError, outcomeOf } from '../../src/errors.ts'
import { startsWith } from '../../src/port/reply.ts'
import { transact } from '../port/fixture.ts'
import {
  type Asked,
  driverBench,
  levelIs,
  PUMP_ON,
  pump,
  READ_LEVEL,
  readLevel,
  SET_LEVEL_215,
  sealed,
  setLevel,
  TOGGLE_PUMP,
} from './driver-bench.ts'

const answer = (hex: string, afterMs = 10) => ({ hex, afterMs })

/** The outcome that the caller is told. */
function outcome({ error, progress }: Asked, effect: 'read' | 'set' | 'act') {
  if (!error) return 'executed'
  return outcomeOf(error.code, { effect, sent: progress.sent, provenNotDone: error.provenNotDone })
}

const failing = () => {
  throw new TypeError('a mistake of the author')
}

const runTool = (run: (session: DeviceSession) => Promise<unknown>, effect: ToolSpec['effect'] = 'set') => ({
  tools: { several: { description: 'Several transactions.', effect, run } satisfies ToolSpec },
})

describe('a command of one transaction', () => {
  it('gives its value, for a read with the time of the measurement', async () => {
    const { device, clock, run } = await driverBench()
    device.answer(READ_LEVEL, answer('03 03 02 01 c7 81 86'))
    const asked = run('read_level')
    await clock.advance(100)
    // 8 characters there, 10 ms, 7 characters back.
    expect(asked).toMatchObject({ value: { value: { level: 455 } }, progress: { sent: true } })
    expect(asked.progress.wireMs).toBeCloseTo(8 + 10 + 7, 5)
    expect(asked.value?.measuredAtMs).toBeCloseTo(clock.wall() - 100 + 25, 5)
  })

  it('that changes something measures nothing', async () => {
    const { device, clock, run } = await driverBench()
    device.answer(PUMP_ON, answer(PUMP_ON))
    const asked = run('set_pump')
    await clock.advance(100)
    expect(asked.value).toEqual({ value: { pump: true } })
  })

  it('without an acknowledgement says so, and proves nothing of the device', async () => {
    const { driver, clock, run } = await driverBench({
      tools: {
        calibrate: { description: 'No reply.', effect: 'act', exchange: () => unanswered([0xff, 0x87]) },
      },
    })
    const asked = run('calibrate')
    await clock.advance(100)
    expect(asked.value).toEqual({ value: null, unacknowledged: true })
    expect(driver.status().availability).toBe('unknown')
  })

  it('has no outcome before a byte was sent when its port is gone', async () => {
    const { wire, clock, run } = await driverBench()
    wire.unplug()
    await clock.advance(300)
    const asked = run('toggle_pump')
    await clock.advance(1)
    expect(asked).toMatchObject({ error: { code: 'device_unavailable' }, progress: { sent: false } })
  })

  it('is a fault of ours where the device has no such command', async () => {
    const { driver } = await driverBench()
    expect(() => driver.prepare('read_colour', {})).toThrow(expect.objectContaining({ code: 'internal' }))
  })

  it('is refused before anything happens for arguments that the type itself does not take', async () => {
    const refusal = new GatewayError('invalid_arguments', 'not a multiple of 5', { field: '/level' })
    const { driver, clock, wire } = await driverBench({
      tools: {
        set_level: {
          description: 'The level.',
          effect: 'set',
          exchange: () => {
            throw refusal
          },
        },
      },
    })
    expect(() => driver.prepare('set_level', { level: 3 })).toThrow(refusal)
    await clock.advance(100)
    expect(wire.counters.bytesToFarEnd).toBe(0)
  })
})

describe('a refusal of the device', () => {
  it('proves that nothing was done where its protocol says so', async () => {
    const { device, clock, run } = await driverBench()
    device.answer(PUMP_ON, answer(sealed('03 85 02')))
    const asked = run('set_pump')
    await clock.advance(100)
    expect(asked.error).toMatchObject({
      code: 'device_error',
      details: { deviceCode: 2 },
      provenNotDone: true,
    })
    expect(outcome(asked, 'set')).toBe('not_executed')
  })

  it('proves nothing where its protocol leaves that open', async () => {
    const { device, clock, run } = await driverBench()
    device.answer(TOGGLE_PUMP, answer('03 85 04 e2 93'))
    const asked = run('toggle_pump')
    await clock.advance(100)
    expect(asked.error).toMatchObject({ code: 'device_error', details: { deviceCode: 4 } })
    expect(outcome(asked, 'act')).toBe('unknown')
  })

  it('for being busy is told as such', async () => {
    const { device, clock, run } = await driverBench()
    device.answer(PUMP_ON, answer(sealed('03 85 06')))
    const asked = run('set_pump')
    await clock.advance(100)
    expect(asked.error).toMatchObject({ code: 'device_busy', details: {} })
    expect(outcome(asked, 'set')).toBe('not_executed')
  })

  it('names the time of the next try where the device does', async () => {
    const busy = { kind: 'busy', message: 'warming up', retryAfterMs: 2_000 } as const
    const warm = exchangeOf(readLevel().request, [{ shape: startsWith([3, 3]), verdict: () => busy }])
    const { device, clock, run } = await driverBench({
      tools: { read_level: { description: 'The level.', effect: 'read', exchange: () => warm } },
    })
    device.answer(READ_LEVEL, answer(levelIs(0)))
    const asked = run('read_level')
    await clock.advance(600)
    expect(asked.error).toMatchObject({ code: 'device_busy', message: 'warming up' })
    expect(asked.error?.details).toEqual({ retryAfterMs: 2_000 })
  })
})

describe('a decoder that throws', () => {
  const broken: ToolSpec = {
    description: 'A mistake of the author.',
    effect: 'read',
    exchange: () => ({
      request: readLevel().request,
      reply: { shapes: [startsWith([3, 3], 7)], match: failing },
    }),
  }

  it('fails its own call, and neither the port nor the next one', async () => {
    const { device, clock, run, errors, driver } = await driverBench({
      tools: { broken, read_level: { description: 'The level.', effect: 'read', exchange: readLevel } },
    })
    device.answer(READ_LEVEL, answer(levelIs(7)))
    const first = run('broken')
    await clock.advance(100)
    const second = run('read_level')
    await clock.advance(100)
    expect(first).toMatchObject({ error: { code: 'tool_failed' }, progress: { sent: true } })
    expect(errors).toHaveLength(1)
    expect(second.value).toMatchObject({ value: { level: 7 } })
    expect(driver.status().availability).toBe('online')
  })

  it('does not take the frame of somebody else for the reply', async () => {
    const { device, clock, run, errors } = await driverBench({ tools: { broken } })
    device.answer(READ_LEVEL, answer('02 03 02 00 05 3c 47'))
    const asked = run('broken')
    await clock.advance(450)
    expect(asked.error).toBeUndefined()
    await clock.advance(100)
    expect(asked.error).toMatchObject({ code: 'timeout' })
    expect(errors).toEqual([])
  })
})

describe('a read-back', () => {
  const checked = (confirms: (value: unknown) => boolean, effect: 'set' | 'act' = 'set') => ({
    tools: {
      set_level: {
        description: 'The level.',
        effect,
        exchange: () => setLevel(215),
        readBack: () => ({ exchange: readLevel(), confirms }),
      } satisfies ToolSpec,
    },
  })
  const isSet = (value: unknown) => (value as { level: number }).level === 215

  it('that shows the new value proves the command', async () => {
    const { device, clock, run } = await driverBench(checked(isSet))
    device.answer(SET_LEVEL_215, answer(SET_LEVEL_215)).answer(READ_LEVEL, answer(levelIs(215)))
    const asked = run('set_level')
    await clock.advance(200)
    expect(asked.value).toEqual({ value: { level: 215 }, confirmedBy: 'read_back' })
  })

  it('that shows the old value contradicts the acknowledgement', async () => {
    const { device, clock, run } = await driverBench(checked(isSet))
    device.answer(SET_LEVEL_215, answer(SET_LEVEL_215)).answer(READ_LEVEL, answer(levelIs(7)))
    const asked = run('set_level')
    await clock.advance(200)
    expect(asked.error).toMatchObject({ code: 'unconfirmed', details: { readBack: { level: 7 } } })
    expect(outcome(asked, 'set')).toBe('unknown')
  })

  it('proves a command that has no acknowledgement of its own', async () => {
    const { device, clock, run } = await driverBench({
      tools: {
        set_level: {
          description: 'The level.',
          effect: 'set',
          exchange: () => unanswered(setLevel(215).request),
          readBack: () => ({ exchange: readLevel(), confirms: isSet }),
        },
      },
    })
    device.answer(READ_LEVEL, answer(levelIs(215)))
    const asked = run('set_level')
    await clock.advance(200)
    expect(asked.value).toEqual({ value: null, confirmedBy: 'read_back' })
  })

  it('is not asked where the command was refused', async () => {
    const { device, clock, run } = await driverBench(checked(isSet))
    device.answer(SET_LEVEL_215, answer('03 86 03 a3 a1'))
    const asked = run('set_level')
    await clock.advance(1_000)
    expect(outcome(asked, 'set')).toBe('not_executed')
    expect(device.heard).toHaveLength(1)
  })

  for (const [what, reply, code] of [
    ['refused with a proof', sealed('03 83 02'), 'device_error'],
    ['refused for being busy', sealed('03 83 06'), 'device_error'],
    ['not answered', '', 'timeout'],
  ] as const) {
    it(`leaves the command unknown when it is ${what}`, async () => {
      const { device, clock, run } = await driverBench(checked(isSet))
      device.answer(SET_LEVEL_215, answer(SET_LEVEL_215))
      if (reply !== '') device.answer(READ_LEVEL, answer(reply))
      const asked = run('set_level')
      await clock.advance(1_000)
      expect(asked.error).toMatchObject({ code })
      expect(outcome(asked, 'set')).toBe('unknown')
      if (code === 'device_error') expect(asked.error?.details).toMatchObject({ completed: 1 })
    })
  }

  it('leaves the command unknown when the code of the type fails', async () => {
    const { device, clock, run } = await driverBench(checked(failing))
    device.answer(SET_LEVEL_215, answer(SET_LEVEL_215)).answer(READ_LEVEL, answer(levelIs(215)))
    const asked = run('set_level')
    await clock.advance(200)
    expect(asked.error).toMatchObject({ code: 'tool_failed' })
    expect(outcome(asked, 'set')).toBe('unknown')
  })

  it('that finds no silence to be asked in leaves the command unknown, and never not executed', async () => {
    const anything = readLevel()
    const vague = { ...anything, reply: anything.reply && uncorrelated(anything.reply) } as Exchange<unknown>
    const { device, clock, run } = await driverBench({
      tools: {
        set_level: {
          description: 'The level.',
          effect: 'set',
          exchange: () => setLevel(215),
          readBack: () => ({ exchange: vague, confirms: isSet }),
        },
      },
    })
    device.answer(SET_LEVEL_215, answer(SET_LEVEL_215))
    const asked = run('set_level')
    for (let chatter = 0; chatter < 60; chatter += 1) {
      await clock.advance(50)
      device.send('02 03 02 00 05 3c 47')
    }
    expect(device.heard).toHaveLength(1)
    expect(asked.error).toMatchObject({ details: { completed: 1 } })
    expect(outcome(asked, 'set')).toBe('unknown')
  })
})

describe('a run of several transactions', () => {
  it('holds the port throughout, and gives what it returns', async () => {
    const { device, clock, run, port } = await driverBench(
      runTool(async (session) => {
        const { level } = await session.exchange(readLevel())
        await session.exchange(pump(true))
        return { level, done: true }
      }),
    )
    device.answer(READ_LEVEL, answer(levelIs(7))).answer(PUMP_ON, answer(PUMP_ON))
    const other = { ...readRegisters({ unit: 2, kind: 'holding', address: 0, count: 1 }), bytes: [] }
    const asked = run('several')
    transact(port, clock, {
      ...other,
      bytes: other.request,
      station: 'other',
      timeoutMs: 100,
      replyLatencyMaxMs: 100,
      gapMs: 0,
    })
    device.answer('02 03 00 00 00 01 84 39')
    await clock.advance(400)
    expect(device.heard.map(({ hex }) => hex.slice(0, 4))).toEqual(['0303', '0305', '0203'])
    expect(asked.value).toEqual({ value: { level: 7, done: true } })
    expect(asked.progress.wireMs).toBeCloseTo(8 + 10 + 7 + (8 + 10 + 8), 5)
  })

  it('gives null for an exchange that has no reply by design', async () => {
    const seen: unknown[] = []
    const { clock, run } = await driverBench(
      runTool(async (session) => {
        seen.push(await session.exchange(unanswered([1, 2, 3])))
        return {}
      }),
    )
    run('several')
    await clock.advance(100)
    expect(seen).toEqual([null])
  })

  it('that stops half-way at a refusal is unknown, and says how much was completed', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => {
        await session.exchange(pump(true))
        await session.exchange(setLevel(215))
      }),
    )
    device.answer(PUMP_ON, answer(PUMP_ON)).answer(SET_LEVEL_215, answer('03 86 03 a3 a1'))
    const asked = run('several')
    await clock.advance(300)
    expect(asked.error).toMatchObject({ code: 'device_error', details: { deviceCode: 3, completed: 1 } })
    expect(outcome(asked, 'set')).toBe('unknown')
  })

  it('that stops half-way at a busy device is unknown, too', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => {
        await session.exchange(pump(true))
        await session.exchange(setLevel(215))
      }),
    )
    device.answer(PUMP_ON, answer(PUMP_ON)).answer(SET_LEVEL_215, answer('03 86 06 63 a2'))
    const asked = run('several')
    await clock.advance(300)
    expect(asked.error).toMatchObject({ code: 'device_error', details: { deviceCode: 'busy', completed: 1 } })
    expect(outcome(asked, 'set')).toBe('unknown')
  })

  it('that goes on behind a command left unanswered is unknown whatever proves the next one', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => {
        await session.exchange(pump(true)).catch(() => {})
        await session.exchange(setLevel(215))
      }),
    )
    device.answer(SET_LEVEL_215, answer('03 86 03 a3 a1'))
    const asked = run('several')
    await clock.advance(2_000)
    expect(asked.error).toMatchObject({ code: 'device_error', details: { completed: 0 } })
    expect(outcome(asked, 'set')).toBe('unknown')
  })

  it('that was refused at its first command has done nothing', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => {
        await session.exchange(pump(true))
        await session.exchange(setLevel(215))
      }),
    )
    device.answer(PUMP_ON, answer(sealed('03 85 01')))
    const asked = run('several')
    await clock.advance(1_000)
    expect(outcome(asked, 'set')).toBe('not_executed')
    expect(device.heard).toHaveLength(1)
  })

  it('that only reads may be refused half-way and still have done nothing', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => {
        await session.exchange(readLevel())
        await session.exchange(readLevel())
      }, 'read'),
    )
    device.answer(READ_LEVEL, answer(levelIs(7)))
    const asked = run('several')
    await clock.advance(30)
    device.answer(READ_LEVEL, answer(sealed('03 83 02')))
    await clock.advance(200)
    expect(asked.error).toMatchObject({ code: 'device_error', provenNotDone: true })
    expect(outcome(asked, 'read')).toBe('not_executed')
  })

  it('that throws by itself has failed, unknown for what changes something', async () => {
    for (const effect of ['read', 'set'] as const) {
      const { device, clock, run } = await driverBench(
        runTool(async (session) => {
          await session.exchange(pump(true))
          failing()
        }, effect),
      )
      device.answer(PUMP_ON, answer(PUMP_ON))
      const asked = run('several')
      await clock.advance(200)
      expect(asked.error).toMatchObject({ code: 'tool_failed' })
      expect(asked.error?.message).toContain('a mistake of the author')
      expect(outcome(asked, effect)).toBe(effect === 'read' ? 'not_executed' : 'unknown')
    }
  })

  it('cannot talk itself out of what it has done', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => {
        await session.exchange(pump(true))
        throw new GatewayError('invalid_arguments', 'that was not what I wanted')
      }),
    )
    device.answer(PUMP_ON, answer(PUMP_ON))
    const asked = run('several')
    await clock.advance(200)
    expect(asked.error).toMatchObject({ code: 'tool_failed', details: { completed: 1 } })
    expect(outcome(asked, 'set')).toBe('unknown')
  })

  it('has one transaction at a time on the line, however its code asks', async () => {
    const { device, clock, run } = await driverBench(
      runTool(async (session) => Promise.all([session.exchange(readLevel()), session.exchange(pump(true))])),
    )
    device.answer(READ_LEVEL, answer(levelIs(7))).answer(PUMP_ON, answer(PUMP_ON))
    const asked = run('several')
    await clock.advance(300)
    expect(asked.value?.value).toEqual([{ level: 7 }, { pump: true }])
    const [first, second] = device.heard
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(10 + 7 + 20)
  })

  it('keeps the port until its last exchange is over, even if it did not wait for it', async () => {
    const { device, clock, run } = await driverBench({
      tools: {
        ...runTool(async (session) => {
          void session.exchange(readLevel())
          return {}
        }).tools,
        set_pump: { description: 'The pump.', effect: 'set', exchange: () => pump(true) },
      },
    })
    device.answer(READ_LEVEL, answer(levelIs(7), 300)).answer(PUMP_ON, answer(PUMP_ON))
    const hasty = run('several')
    const next = run('set_pump')
    await clock.advance(1_000)
    expect(hasty.value?.value).toEqual({})
    expect(next.value?.value).toEqual({ pump: true })
    const [first, second] = device.heard
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(300)
  })
})

describe('the times of a request', () => {
  async function endsAfter(options: Parameters<typeof driverBench>[0], command = 'read_level') {
    const { clock, run } = await driverBench(options)
    const startedAt = clock.now()
    const asked = run(command)
    await clock.advance(10_000)
    return (asked.endedAt ?? 0) - startedAt
  }

  it('are those of the type, unless the configuration or the tool itself says otherwise', async () => {
    const line = { timeoutMs: 500 }
    const slow = { description: 'Slow.', effect: 'read', timeoutMs: 3_000, exchange: readLevel } as const
    expect(await endsAfter({ line })).toBe(500)
    expect(await endsAfter({ line, device: { timeoutMs: 900 } })).toBe(900)
    expect(await endsAfter({ line, tools: { slow } }, 'slow')).toBe(3_000)
  })

  /** How long after its last byte the reply may still come, seen from a second request. */
  async function windowMs(options: Parameters<typeof driverBench>[0]) {
    const { clock, run, driver } = await driverBench(options)
    const lastByteAt = clock.now() + 8
    run('read_level')
    await clock.advance(2_000)
    return driver.prepare('read_level', {}).notBefore() - lastByteAt
  }

  it('let a late reply come for twice the timeout and a second, unless more is known', async () => {
    const line = { timeoutMs: 1_000 }
    expect(await windowMs({ line })).toBeCloseTo(3_000, 5)
    expect(await windowMs({ line: { ...line, replyLatencyMaxMs: 4_000 } })).toBeCloseTo(4_000, 5)
    expect(await windowMs({ line, device: { replyLatencyMaxMs: 5_000 } })).toBeCloseTo(5_000, 5)
  })

  it('never give a reply less time to be late than it has to be in time', async () => {
    const { clock, run, driver } = await driverBench({ line: { timeoutMs: 1_000, replyLatencyMaxMs: 10 } })
    const lastByteAt = clock.now() + 8
    run('read_level')
    await clock.advance(1_005)
    expect(driver.prepare('read_level', {}).notBefore() - lastByteAt).toBeCloseTo(1_000, 5)
  })
})
