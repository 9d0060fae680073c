/** A gateway from its start to its end: what it opens, whom it polls, and how it stops. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { validateConfiguration } from '../src/config/load.ts'
import { configurableTypes } from '../src/configurable-types.ts'
import { loadCatalogue } from '../src/driver/catalogue.ts'
import { Gateway } from '../src/gateway.ts'
import { createGateway, defineTool } from '../src/index.ts'
import { createSimulatedBinding } from '../src/simulator/binding.ts'
import type { CallResult } from '../src/tool/shapes.ts'
import { gatewayBench } from './gateway-fixture.ts'
import { ScriptedDevice } from './port/fixture.ts'
import { VirtualClock } from './virtual-clock.ts'

/** pymodbus issue 2636: register 16 of unit 1, and the same of unit 2. */
const READ_16 = '01 03 00 10 00 01 85 cf'
const IS_34 = '01 03 02 00 22 38 5d'
const COIL_0_ON = '01 05 00 00 ff 00 8c 3a'
const PATH = '/dev/bus1'

const BOILER = {
  id: 'boiler',
  type: 'modbus',
  port: 'bus1',
  address: 1,
  timeoutMs: 10_000,
  registers: [{ name: 'sixteen', register: 16, kind: 'holding', format: 'uint16' }],
  coils: [{ name: 'pump', coil: 0, writable: true }],
}
const CONFIG = { ports: { bus1: { path: PATH, baudRate: 9600 } }, devices: [BOILER] }
const READ = { name: 'boiler__read_sixteen' }
const PUMP_ON = { name: 'boiler__set_pump', arguments: { value: true } }

const clean: (() => unknown)[] = []

afterEach(async () => {
  for (const each of clean.splice(0).reverse()) await each()
})

/** What a promise has come to so far. */
function watched<T>(work: Promise<T>): { value?: T } {
  const seen: { value?: T } = {}
  void work.then((value) => {
    seen.value = value
  })
  return seen
}

describe('a gateway inside another program', () => {
  it('needs no configuration: its own tools run, and nothing is written', async () => {
    const tools = [
      defineTool({ name: 'read_log', effect: 'read', parallelSafe: true, run: () => 'all is well' }),
    ]
    const gateway = await createGateway({ config: {}, tools })
    clean.push(() => gateway.close())
    expect(gateway.tools().map(({ name }) => name)).toEqual(['read_log'])
    expect(gateway.devices()).toEqual([])
    expect(await gateway.call({ name: 'read_log' })).toMatchObject({
      outcome: 'executed',
      value: 'all is well',
    })
    const { results } = await gateway.batch([{ name: 'read_log' }, { name: 'write_log' }], {
      policy: 'resource',
    })
    expect(results.map(({ outcome }) => outcome)).toEqual(['executed', 'not_executed'])
    expect(gateway.plan([{ name: 'read_log' }]).partitions).toHaveLength(1)
  })

  it('is told every fault of its configuration, each by its JSON pointer', async () => {
    const config = {
      ports: { bus1: { path: PATH, baudRate: -5 } },
      devices: [
        { id: 'Boiler', type: 'modbus', port: 'bus1', address: 1 },
        { id: 'x', type: 'no-such-type' },
      ],
      surprise: 1,
    }
    const failed = await createGateway({ config }).catch((error: Error) => error)
    expect(failed).toBeInstanceOf(Error)
    const lines = (failed as Error).message.split('\n')
    expect(lines[0]).toBe('the configuration is not valid:')
    for (const pointer of ['/ports/bus1/baudRate', '/devices/0/id', '/devices/1/type', '/surprise']) {
      expect(
        lines.some((line) => line.startsWith(`${pointer}: `)),
        pointer,
      ).toBe(true)
    }
  })

  it('does not take two tools of one name', async () => {
    const tool = defineTool({ name: 'read_log', effect: 'read', run: () => 1 })
    await expect(createGateway({ config: {}, tools: [tool, tool] })).rejects.toThrow('read_log')
  })

  it('keeps its admin token in the state directory, and makes one for itself where there is none', async () => {
    const state = await mkdtemp(join(tmpdir(), 'baudway-gateway-'))
    clean.push(() => rm(state, { recursive: true }))
    const first = await createGateway({ config: { state } })
    const second = await createGateway({ config: { state } })
    const other = await createGateway({ config: {} })
    clean.push(() => Promise.all([first.close(), second.close(), other.close()]))
    expect(await readFile(join(state, 'admin.token'), 'utf8')).toBe(`${first.adminToken}\n`)
    expect(await readdir(state)).toContain('admin.token')
    expect(second.adminToken).toBe(first.adminToken)
    expect(other.adminToken).not.toBe(first.adminToken)
    const asked = (token: string) => ({ url: '/v1/devices', headers: { authorization: `Bearer ${token}` } })
    expect((await first.inject(asked(first.adminToken))).statusCode).toBe(200)
    expect((await other.inject(asked(first.adminToken))).statusCode).toBe(401)
  })

  it('has simulated devices behind simulated ports, which fall silent with it', async () => {
    const clock = new VirtualClock()
    const config = {
      ports: { bus1: { path: 'simulated' }, gps: { path: 'simulated' } },
      devices: [BOILER, { id: 'position', type: 'nmea-gps', port: 'gps' }],
    }
    const gateway = await createGateway({ config, clock })
    await clock.advance(5_000)
    const read = watched(gateway.call(READ))
    const position = watched(gateway.call({ name: 'position__get_position' }))
    await clock.advance(200)
    expect(read.value).toMatchObject({ outcome: 'executed', value: { sixteen: expect.any(Number) } })
    // This one talks every second by itself, and would for ever.
    expect(position.value).toMatchObject({ outcome: 'executed' })
    await gateway.close()
    expect(clock.pending).toBe(0)
  })
})

describe('a gateway whose device is not there', () => {
  async function started() {
    const clock = new VirtualClock()
    const types = await loadCatalogue()
    const { configuration } = validateConfiguration(CONFIG, configurableTypes(types))
    if (!configuration) throw new Error('the configuration is not valid')
    const binding = createSimulatedBinding({ clock })
    const [port] = configuration.ports
    if (!port) throw new Error('there is no port')
    const wire = binding.addWire(PATH, { settings: port.settings })
    const device = new ScriptedDevice(wire, clock).answer(READ_16, { hex: IS_34, afterMs: 10 })
    wire.unplug()
    const gateway = await Gateway.start({ configuration, types, binding, host: binding.host, clock })
    clean.push(() => gateway.close())
    return { clock, wire, device, gateway }
  }

  it('starts all the same, and says so to whoever asks', async () => {
    const { clock, gateway } = await started()
    await clock.advance(5_000)
    expect(gateway.devices()).toMatchObject([{ id: 'boiler', availability: 'offline', port: 'bus1' }])
    expect(gateway.tools().every(({ available }) => !available)).toBe(true)
    const refused = watched(gateway.call(READ))
    await clock.advance(1)
    expect(refused.value).toMatchObject({
      outcome: 'not_executed',
      error: { code: 'device_unavailable', details: { state: 'absent' }, retryable: true },
    })
  })

  it('uses it as soon as it appears', async () => {
    const { clock, gateway, wire, device } = await started()
    await clock.advance(5_000)
    wire.replug()
    await clock.advance(250)
    expect(gateway.tools().every(({ available }) => available)).toBe(true)
    const read = watched(gateway.call(READ))
    await clock.advance(100)
    expect(read.value).toMatchObject({ outcome: 'executed', value: { sixteen: 34 } })
    expect(gateway.devices()).toMatchObject([
      { availability: 'online', readings: { sixteen: { value: 34 } } },
    ])
    expect(device.heard).toHaveLength(1)
  })
})

describe('polling', () => {
  it('asks a device at the pace of the configuration, and fills its readings', async () => {
    const { clock, gateway, device } = await gatewayBench({
      ...CONFIG,
      devices: [{ ...BOILER, coils: [], poll: '10s' }],
    })
    clean.push(() => gateway.close())
    device(PATH).answer(READ_16, { hex: IS_34, afterMs: 10 })
    await clock.advance(60_000)
    expect(device(PATH).heard).toHaveLength(6)
    expect(gateway.devices()).toMatchObject([
      { availability: 'online', readings: { sixteen: { value: 34, stale: false } } },
    ])
  })

  it('leaves a device alone whose configuration asks for no polls, and one that is not enabled', async () => {
    const { clock, gateway, wire } = await gatewayBench({
      ...CONFIG,
      devices: [BOILER, { ...BOILER, id: 'spare', address: 2, poll: '1s', enabled: false }],
    })
    clean.push(() => gateway.close())
    await clock.advance(120_000)
    expect(wire(PATH).counters.bytesToFarEnd).toBe(0)
    expect(gateway.devices().map(({ id }) => id)).toEqual(['boiler'])
  })
})

describe('the end of a gateway', () => {
  const queued = (gateway: Gateway, calls: readonly { name: string }[]) =>
    calls.map((call) => watched(gateway.call(call)))

  it('lets what is on the wire finish, and answers what waits', async () => {
    const { clock, gateway, device } = await gatewayBench(CONFIG)
    device(PATH).answer(READ_16, { hex: IS_34, afterMs: 2_000 })
    const [running, waiting] = queued(gateway, [READ, PUMP_ON])
    await clock.advance(100)
    const closed = watched(gateway.close())
    await clock.advance(1)
    expect(waiting?.value).toMatchObject({
      outcome: 'not_executed',
      attempts: 0,
      error: { code: 'stopped', retryable: false },
    })
    expect(running?.value).toBeUndefined()
    expect('value' in closed).toBe(false)
    await clock.advance(2_000)
    expect(running?.value).toMatchObject({ outcome: 'executed', value: { sixteen: 34 } })
    expect('value' in closed).toBe(true)
    expect(device(PATH).heard).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('stops a run that takes more than 3 s: unknown, because its request was sent', async () => {
    const { clock, gateway, device, wire } = await gatewayBench(CONFIG)
    device(PATH).answer(COIL_0_ON)
    const [running] = queued(gateway, [PUMP_ON])
    await clock.advance(100)
    const closed = watched(gateway.close())
    await clock.advance(3_000)
    expect(running?.value).toBeUndefined()
    await clock.advance(250)
    expect(running?.value).toMatchObject({ outcome: 'unknown', error: { code: 'stopped', retryable: false } })
    await clock.advance(1)
    expect('value' in closed).toBe(true)
    expect(wire(PATH).occupied).toBe(false)
    expect(clock.pending).toBe(0)
  })

  it('takes the acknowledgement of a run that it has stopped, if it still comes', async () => {
    const { clock, gateway, device } = await gatewayBench(CONFIG)
    device(PATH).answer(COIL_0_ON, { hex: COIL_0_ON, afterMs: 3_200 })
    const [running] = queued(gateway, [PUMP_ON])
    await clock.advance(1)
    void gateway.close()
    await clock.advance(3_300)
    expect(running?.value).toMatchObject({ outcome: 'executed' })
  })

  it('does not wait for ever for a tool that heeds nothing', async () => {
    const endless = defineTool({ name: 'endless', effect: 'act', run: () => new Promise(() => {}) })
    const { clock, gateway } = await gatewayBench({}, { tools: [endless] })
    const [running] = queued(gateway, [{ name: 'endless' }])
    await clock.advance(100)
    const closed = watched(gateway.close())
    await clock.advance(4_500)
    expect(running?.value).toMatchObject({ outcome: 'unknown', error: { code: 'stopped' } })
    expect('value' in closed).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('takes no more calls, closes every port, polls no more and leaves no timer', async () => {
    const { clock, gateway, wire } = await gatewayBench({ ...CONFIG, devices: [{ ...BOILER, poll: '1s' }] })
    await clock.advance(1)
    await gateway.close()
    expect(wire(PATH).occupied).toBe(false)
    expect(clock.pending).toBe(0)
    const sent = wire(PATH).counters.bytesToFarEnd
    const late = await Promise.all([
      gateway.call(READ),
      gateway.batch([PUMP_ON]).then(({ results }) => results[0]),
    ])
    for (const result of late as CallResult[]) {
      expect(result).toMatchObject({ outcome: 'not_executed', error: { code: 'stopped' } })
    }
    await clock.advance(10_000)
    expect(wire(PATH).counters.bytesToFarEnd).toBe(sent)
  })

  it('comes once, however often it is asked for', async () => {
    const { gateway } = await gatewayBench(CONFIG)
    const first = gateway.close()
    expect(gateway.close()).toBe(first)
    await first
    await gateway.close()
  })

  it('comes also while a port is being looked for', async () => {
    const { clock, gateway, wire } = await gatewayBench(CONFIG)
    wire(PATH).unplug()
    await clock.advance(1_000)
    await gateway.close()
    expect(clock.pending).toBe(0)
    wire(PATH).replug()
    await clock.advance(10_000)
    expect(wire(PATH).occupied).toBe(false)
  })
})
