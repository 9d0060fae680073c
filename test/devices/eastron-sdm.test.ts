import { describe, expect, test } from 'vitest'
import eastron from '../../devices/eastron-sdm.ts'
import { gradeOf, obstaclesTo } from '../../src/driver/contract.ts'
import { decodeRegisters, readRegisters } from '../../src/driver/device.ts'
import type { DeviceDescription, DeviceSession } from '../../src/driver/device-type.ts'
import { crc16modbus } from '../../src/port/framer/checksum.ts'
import { bytes, collected, hex } from '../port/framer/collected.ts'
import { simulated } from './simulated.ts'

const seal = (body: string) => hex(crc16modbus({ from: 0 }).seal(bytes(`${body} 00 00`)))
const meter = (model: string, address = 1) => eastron.describe({ address, model })

/** What the frames of a reply say to the question for one number. */
function numberIn(reply: string, unit = 1) {
  const { framer, frames } = collected(eastron.describe(eastron.sample).framing)
  framer.push(bytes(reply))
  framer.idle()
  const { reply: matcher } = readRegisters({ unit, kind: 'input', address: 0, count: 2 })
  const verdicts = frames.map((frame) => matcher?.match(bytes(frame))).filter((one) => one !== undefined)
  const [verdict] = verdicts
  return verdict?.kind === 'value' ? decodeRegisters({ format: 'float32' }, verdict.value) : verdict
}

/** What a tool of several transactions asks, and gets of the simulated meter. */
async function readAll(device: DeviceDescription) {
  const { ask, log } = simulated(device)
  const asked: string[] = []
  const session: DeviceSession = {
    async exchange(exchange) {
      asked.push(hex(exchange.request))
      const verdict = exchange.reply?.match(ask(exchange.request))
      if (verdict?.kind !== 'value') throw new Error(`no value: ${JSON.stringify(verdict)}`)
      return verdict.value
    },
  }
  const value = await device.tools.read_measurements?.run?.(session, {})
  return { value: value as Record<string, number>, asked, log }
}

describe('the vectors of the meters', () => {
  test('are asked for one number at a time as the manual and the captures have it', () => {
    const request = (unit: number, address: number, count: number) =>
      hex(readRegisters({ unit, kind: 'input', address, count }).request)
    // Eastron's protocol description.
    expect(request(1, 0, 2)).toBe('01 04 00 00 00 02 71 cb')
    // capture: reaper7/SDM_Energy_Meter issue 59
    expect(request(1, 6, 2)).toBe('01 04 00 06 00 02 91 ca')
    expect(request(1, 12, 2)).toBe('01 04 00 0c 00 02 b1 c8')
    expect(request(1, 70, 2)).toBe('01 04 00 46 00 02 90 1e')
    // capture: ESPHome issue 3912, an SDM230
    expect(request(3, 0, 80)).toBe('03 04 00 00 00 50 f1 d4')
    expect(request(2, 0, 80)).toBe('02 04 00 00 00 50 f0 05')
  })

  test.each([
    ['01 04 04 43 66 33 34 1b 38', 230.2],
    ['01 04 04 43 6c 7e 6e 8e 51', 236.494],
    ['01 04 04 00 00 00 00 fb 84', 0],
    ['01 04 04 7f c0 00 00 e2 6c', null],
  ])('%s is %d', (reply, value) => {
    const number = numberIn(reply)
    if (value === null) expect(number).toBeNull()
    else expect(number).toBeCloseTo(value, 3)
  })

  test('refuse, in the protocol’s own way', () => {
    expect(numberIn('01 84 02 c2 c1')).toMatchObject({ kind: 'refused', deviceCode: 2, provenNotDone: true })
  })

  test('that are damaged or another meter’s are no reply', () => {
    expect(numberIn('01 04 04 43 66 33 35 1b 38')).toBeUndefined()
    expect(numberIn('02 04 04 43 66 33 34 28 38')).toBeUndefined()
  })

  test('that begin with the echo of the request are read behind it', () => {
    expect(numberIn('01 04 00 00 00 02 71 cb 01 04 04 43 66 33 34 1b 38')).toBeCloseTo(230.2, 3)
  })
})

describe('a model', () => {
  const QUANTITIES = ['voltage', 'current', 'power', 'apparent_power', 'reactive_power', 'power_factor']

  test.each(['sdm120', 'sdm230'])('%s has the readings of one phase', (model) => {
    expect(Object.keys(meter(model).readings)).toEqual([
      ...QUANTITIES,
      'frequency',
      'import_energy',
      'export_energy',
    ])
    expect(meter(model).uart).toEqual({ baudRate: 2400 })
  })

  test.each(['sdm72', 'sdm630'])('%s has the readings of three phases, and their totals', (model) => {
    const ofPhases = QUANTITIES.flatMap((name) => [`${name}_l1`, `${name}_l2`, `${name}_l3`])
    const totals = ['power', 'apparent_power', 'reactive_power', 'power_factor']
    expect(Object.keys(meter(model).readings).sort()).toEqual(
      [...ofPhases, ...totals, 'frequency', 'import_energy', 'export_energy'].sort(),
    )
    expect(meter(model).uart).toEqual({ baudRate: 9600 })
  })

  test('asks in few blocks, and never for more than it answers', async () => {
    const asked = async (model: string) => (await readAll(meter(model))).asked
    const singlePhase = ['01 04 00 00 00 20 f1 d2', '01 04 00 46 00 06 91 dd']
    expect(await asked('sdm120')).toEqual(singlePhase)
    expect(await asked('sdm230')).toEqual(singlePhase)
    expect(await asked('sdm630')).toEqual(['01 04 00 00 00 4c f1 ff'])
    expect(await asked('sdm72')).toEqual(['01 04 00 00 00 24 f0 11', '01 04 00 34 00 18 b1 ce'])
  })

  test.each(['sdm72', 'sdm120', 'sdm230', 'sdm630'])('%s gives every reading in one poll', async (model) => {
    const device = meter(model)
    const { value } = await readAll(device)
    const names = Object.keys(device.readings).sort()
    expect(Object.keys(value).sort()).toEqual(names)
    const { ask } = simulated(device)
    const parts = device.poll?.parts?.flatMap((part) => {
      const verdict = part.reply?.match(ask(part.request))
      return verdict?.kind === 'value' ? Object.keys(verdict.value) : []
    })
    expect(parts?.sort()).toEqual(names)
  })

  // Each number from the register that Eastron's protocol description has it in.
  test('sdm630 has its numbers where the manual says', async () => {
    const device = meter('sdm630')
    const reply =
      '01 04 98 43 66 33 33 43 6c 7e 77 00 00 00 00 3f c0 00 00 40 10 00 00 00 00 00 00 c3 ac cc cd 43 fa 00 00 00 ' +
      '00 00 00 43 af 00 00 43 ff 40 00 00 00 00 00 42 5e 00 00 c2 71 00 00 00 00 00 00 bf 7c ac 08 3f 7a 9f be 3f ' +
      '80 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 43 ' +
      '1a 66 66 00 00 00 00 44 57 20 00 00 00 00 00 c0 98 00 00 3e 38 51 ec 00 00 00 00 00 00 00 00 00 00 00 00 42 ' +
      '48 0a 3d 44 9a 52 25 41 44 00 00 b0 b8'
    const verdict = device.poll?.parts?.[0]?.reply?.match(bytes(reply))
    expect(verdict).toEqual({
      kind: 'value',
      value: {
        voltage_l1: 230.2,
        voltage_l2: 236.5,
        voltage_l3: 0,
        current_l1: 1.5,
        current_l2: 2.25,
        current_l3: 0,
        power_l1: -345.6,
        power_l2: 500,
        power_l3: 0,
        power: 154.4,
        apparent_power_l1: 350,
        apparent_power_l2: 510.5,
        apparent_power_l3: 0,
        apparent_power: 860.5,
        reactive_power_l1: 55.5,
        reactive_power_l2: -60.3,
        reactive_power_l3: 0,
        reactive_power: -4.8,
        power_factor_l1: -0.987,
        power_factor_l2: 0.979,
        power_factor_l3: 1,
        power_factor: 0.18,
        frequency: 50.01,
        import_energy: 1234.567,
        export_energy: 12.25,
      },
    })
  })

  test('only reads, and its reads may be run beside others', () => {
    for (const tool of Object.values(meter('sdm630').tools)) {
      expect(tool).toMatchObject({ effect: 'read', parallelSafe: true, correlates: 'shape' })
    }
  })
})

describe('the simulated meter', () => {
  test('logs what it was asked, and its numbers move', () => {
    const device = meter('sdm120', 7)
    const { ask, log, advance } = simulated(device)
    const power = () => {
      const verdict = device.poll?.parts?.[0]?.reply?.match(ask(bytes(seal('07 04 00 00 00 20'))))
      return verdict?.kind === 'value' ? verdict.value.power : undefined
    }
    const before = power()
    advance(60_000)
    expect(power()).not.toBe(before)
    const range = { kind: 'input', address: 0, count: 32 }
    expect(log).toEqual([
      { command: 'read_registers', detail: range },
      { command: 'read_registers', detail: range },
    ])
  })

  test('refuses more registers than the model has in one answer, and is silent for others', () => {
    const { ask, log } = simulated(meter('sdm72'))
    expect(hex(ask(bytes(seal('01 04 00 00 00 3e'))))).toBe(seal('01 84 02'))
    expect(hex(ask(bytes(seal('01 04 01 00 00 02'))))).toBe(seal('01 84 02'))
    expect(hex(ask(bytes(seal('02 04 00 00 00 02'))))).toBe('')
    expect(log).toEqual([])
  })
})

test('it is a platinum type, whose power factor says that it has no unit', async () => {
  expect(await obstaclesTo('platinum', eastron)).toEqual([])
  expect(await gradeOf(eastron)).toBe('platinum')
  expect(meter('sdm630').readings.power_factor_l1).toMatchObject({ unit: null, deviceClass: 'power_factor' })
})
