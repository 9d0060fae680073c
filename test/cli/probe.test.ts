import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import eastron from '../../devices/eastron-sdm.ts'
import mhZ19 from '../../devices/mh-z19.ts'
import { CommandFault } from '../../src/cli/command.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { type ProbeHost, probeCommandOn } from '../../src/cli/probe.ts'
import {
  planProbe,
  probeBoundMs,
  probeCommand,
  selfDescribed,
  settingsText,
} from '../../src/cli/probe-plan.ts'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import type { DeviceType } from '../../src/driver/device-type.ts'
import { silentLog } from '../../src/log.ts'
import type { Inspection } from '../../src/port/host.ts'
import type { LineSettings } from '../../src/port/request.ts'
import { createSimulation, type Simulation } from '../../src/simulator/simulated.ts'
import { settle, VirtualClock } from '../virtual-clock.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { makeWorkplace, type Workplace } from './workplace.ts'

const PATH = '/dev/ttyUSB7'
const LINE: LineSettings = {
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: 'none',
  rtscts: false,
  hupcl: false,
}

let clock: VirtualClock
let simulation: Simulation

beforeEach(() => {
  clock = new VirtualClock()
  simulation = createSimulation({ clock, log: silentLog })
})

afterEach(() => simulation.remove(PATH))

function plug(settings: LineSettings, ...devices: [DeviceType, object][]): void {
  const simulators = devices.map(([type, options], index) => {
    const { simulator } = type.describe(options as never)
    if (!simulator) throw new Error('no simulator')
    return { id: `d${index}`, simulator }
  })
  simulation.plug(PATH, settings, simulators)
}

const place = (parts: Partial<ProbeHost> = {}): ProbeHost => ({
  binding: () => simulation.binding,
  host: simulation.binding.host,
  clock,
  enumerate: async () => [],
  ...parts,
})

async function probe(words: string[], parts: Partial<ProbeHost> = {}) {
  const terminal = fakeTerminal({ directory: '/' })
  let code: number | undefined
  const ended = probeCommandOn(place(parts))
    .execute([PATH, ...words], terminal)
    .catch((error: unknown) => {
      if (!(error instanceof CommandFault)) throw error
      terminal.complain(error.message)
      return error.exitCode
    })
    .then((result) => {
      code = result
    })
  // Time stands still until it has read what it needs and says how long it may take.
  while (code === undefined && terminal.complained.length === 0) await settle()
  const startedAt = clock.now()
  for (let step = 0; step < 10_000 && code === undefined; step += 1) await clock.advance(50)
  await ended
  return { code, tookMs: clock.now() - startedAt, ...terminal }
}

describe('what a probe asks', () => {
  it('is a command that is declared as a pure read and parallel-safe, or nothing', async () => {
    for (const type of (await loadCatalogue()).values()) {
      for (const { attempts } of planProbe({ types: [type], baudRates: undefined, addresses: [1] })) {
        for (const { spec } of attempts) {
          expect([type.type, spec.effect, spec.parallelSafe]).toEqual([type.type, 'read', true])
        }
      }
    }
    expect(probeCommand(mhZ19.describe({}))?.[0]).toBe('read_co2')
    const device = mhZ19.describe({})
    const { calibrate_zero, set_self_calibration } = device.tools
    const tools = Object.fromEntries(
      Object.entries({ calibrate_zero, set_self_calibration }).filter(([, spec]) => spec !== undefined),
    ) as typeof device.tools
    expect(probeCommand({ ...device, tools })).toBeUndefined()
  })

  it('is a device that has one speed at that speed, and one on a bus at those of buses', () => {
    const rounds = (type: DeviceType) =>
      planProbe({ types: [type], baudRates: undefined, addresses: [1, 2] }).map(({ settings }) =>
        settingsText(settings),
      )
    expect(rounds(mhZ19)).toEqual(['9600 8N1'])
    expect(rounds(eastron)).toEqual(expect.arrayContaining(['9600 8N1', '19200 8E1', '2400 8N1']))
  })

  it('leaves out types that only a configuration describes, and asks single devices before buses', async () => {
    const types = selfDescribed((await loadCatalogue()).values())
    const names = types.map(({ type }) => type)
    expect(names).toEqual(expect.arrayContaining(['eastron-sdm', 'mh-z19']))
    for (const generic of ['modbus', 'line', 'frames']) expect(names).not.toContain(generic)
    const [first] = planProbe({ types, baudRates: undefined, addresses: [1] })
    expect(first?.attempts.map(({ address }) => address)).toEqual([null])
  })

  it('takes the speeds and addresses that were given', () => {
    const rounds = planProbe({ types: [eastron], baudRates: [4800], addresses: [3, 4] })
    expect(rounds.map(({ settings }) => settingsText(settings))).toEqual(['4800 8N1', '4800 8E1'])
    expect(rounds[0]?.attempts.map(({ address }) => address)).toEqual([3, 4])
  })
})

describe('probe', () => {
  it('finds what is there, and shows how to configure it', async () => {
    plug({ ...LINE, baudRate: 9600 }, [eastron, { address: 3, model: 'sdm120' }])
    const { code, printed } = await probe(['--type', 'eastron-sdm', '--baud', '9600', '--address', '1-4'])
    expect(code).toBe(0)
    expect(printed[0]).toBe('9600 8N1    silent: eastron-sdm 1+2+4')
    expect(printed[1]).toMatch(/^ {2}eastron-sdm at address 3: read_measurements voltage \d/)
    expect(printed.at(-1)).toBe(
      `  - { id: eastron_sdm_3, type: eastron-sdm, address: 3, port: { path: ${PATH}, baudRate: 9600 } }`,
    )
    // Something answered at 8N1: 8E1 is another line.
    expect(printed.filter((text) => text.startsWith('9600')).length).toBe(1)
  })

  it('says up front how long it may take, and keeps to it', async () => {
    plug(LINE)
    const { complained, code, printed, tookMs } = await probe(['--type', 'eastron-sdm', '--address', '1-2'])
    const [, seconds = '0'] = /^\d+ questions? on \S+, at most (\d+) s\./.exec(complained[0] ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(1)
    expect(tookMs).toBeLessThanOrEqual(Number(seconds) * 1_000)
    expect(code).toBe(1)
    expect(printed).toContain('Nothing answered. See that it has power, that A and B or RX and TX are not')
    for (const text of printed) expect(text.length).toBeLessThanOrEqual(80)
  })

  it('sends a sensor nothing but the read', async () => {
    plug(LINE, [mhZ19, {}])
    const { code, printed } = await probe(['--type', 'mh-z19'])
    expect(code).toBe(0)
    expect(printed[1]).toMatch(/^ {2}mh-z19: read_co2 co2 \d+$/)
    expect(simulation.log.of('d0').map(({ command }) => command)).toEqual(['read_co2'])
  })

  it('--json has everything that was tried', async () => {
    plug(LINE, [mhZ19, {}])
    const { printed } = await probe(['--type', 'mh-z19', '--json'])
    expect(JSON.parse(printed.join('\n'))).toMatchObject({
      port: PATH,
      tried: [{ type: 'mh-z19', command: 'read_co2', address: null, answer: { kind: 'value' } }],
    })
  })

  it.each<[Inspection, string]>([
    [{ kind: 'absent' }, `${PATH} does not exist.`],
    [{ kind: 'denied', reason: 'it belongs to dialout' }, 'it belongs to dialout.'],
    [{ kind: 'busy', holder: { pid: 1, name: 'minicom' } }, `${PATH} is held by minicom (process 1).`],
  ])('opens nothing where the port is %j', async (found, message) => {
    const host = { inspect: async () => found, deviceKey: async () => undefined }
    const { code, complained, printed } = await probe(['--type', 'mh-z19'], { host })
    expect([code, printed]).toEqual([1, []])
    expect(complained[0]?.split('\n')[0]).toBe(message)
  })

  it('leaves a port alone that something blocks, and says what to do', async () => {
    plug(LINE, [mhZ19, {}])
    const enumerate: ProbeHost['enumerate'] = async () => [
      {
        path: PATH,
        stablePath: null,
        byId: [],
        byPath: [],
        usb: null,
        driver: null,
        what: 'a port',
        holder: null,
        obstacles: [
          { kind: 'serial_console', blocking: true, reason: 'the kernel writes to it', cure: 'Free it.' },
        ],
      } as never,
    ]
    const { code, complained } = await probe(['--type', 'mh-z19'], { enumerate })
    expect([code, complained]).toEqual([1, [`${PATH}: the kernel writes to it.\nFree it.`]])
    expect(simulation.log.of('d0')).toEqual([])
  })

  it.each([
    [['--type', 'nmea-gps'], '--type: nmea-gps speaks of its own accord and is never asked.'],
    [['--type', 'mh-z19', '--baud', 'fast'], '--baud: "fast" is not a list of speeds'],
    [['--type', 'eastron-sdm', '--address', '0-4'], '--address: "0-4" is not a range within 1-247'],
    [['--type', 'eastron-sdm', '--address', '9-4'], '--address: "9-4" is not a range within 1-247'],
  ])('%j is wrong usage', async (words, message) => {
    const { code, complained } = await probe(words)
    expect(code).toBe(2)
    expect(complained[0]).toContain(message)
  })
})

describe('a port that the running gateway holds', () => {
  let work: Workplace
  beforeEach(async () => {
    work = await makeWorkplace()
  })
  afterEach(() => work.remove())

  it('is refused with the way to get it', async () => {
    const { mkdir, writeFile } = await import('node:fs/promises')
    await mkdir(`${work.directory}/.baudway`)
    const file = JSON.stringify({ url: 'http://127.0.0.1:1', pid: process.pid })
    await writeFile(`${work.directory}/.baudway/gateway.json`, file)
    const terminal = fakeTerminal({ directory: work.directory })
    const held: Inspection = { kind: 'busy', holder: { pid: process.pid, name: 'node' } }
    const host = { inspect: async () => held, deviceKey: async () => undefined }
    const refused = probeCommandOn(place({ host })).execute([PATH, '--type', 'mh-z19'], terminal)
    await expect(refused).rejects.toThrow('baudway release PORT --for 5m')
  })
})

describe('the bound', () => {
  it('is what every question may take, and an opening for each round', () => {
    const rounds = planProbe({ types: [mhZ19], baudRates: undefined, addresses: [1] })
    const [{ attempts = [] } = {}] = rounds
    expect(probeBoundMs(rounds)).toBeGreaterThan(attempts[0]?.timeoutMs ?? Number.POSITIVE_INFINITY)
    expect(probeBoundMs([])).toBe(0)
  })

  it('is in the command line too', async () => {
    const terminal = fakeTerminal()
    expect(await runCommandLine(['probe', '/dev/none-such', '--type', 'mh-z19'], terminal)).toBe(1)
    expect(terminal.complained[0]).toBe('baudway probe: /dev/none-such does not exist.')
  })
})
