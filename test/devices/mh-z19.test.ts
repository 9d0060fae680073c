import { describe, expect, test } from 'vitest'
import mhZ19 from '../../devices/mh-z19.ts'
import { contractFindings, gradeOf } from '../../src/driver/contract.ts'
import { bytes, collected, hex } from '../port/framer/collected.ts'
import { simulated } from './simulated.ts'

const device = mhZ19.describe({})
const { read_co2, calibrate_zero, set_self_calibration } = device.tools

/** What the frames in some bytes say to a read. */
function verdictsOf(text: string) {
  const { framer, frames, errors } = collected(device.framing)
  framer.push(bytes(text))
  const reply = read_co2?.exchange?.({}).reply
  return { verdicts: frames.map((frame) => reply?.match(bytes(frame))), errors }
}

describe('reading', () => {
  test('asks with the command of the manual', () => {
    expect(hex(read_co2?.exchange?.({}).request ?? bytes(''))).toBe('ff 01 86 00 00 00 00 00 79')
  })

  // Answers of a real sensor (capture: PyPMS), and one from the manual's layout.
  test.each([
    ['ff 86 02 7c 42 00 00 00 ba', 636],
    ['ff 86 02 7b 42 00 00 00 bb', 635],
    ['ff 86 01 f4 47 00 00 00 3e', 500],
  ])('%s is %d ppm', (frame, co2) => {
    expect(verdictsOf(frame).verdicts).toEqual([{ kind: 'value', value: { co2 } }])
  })

  // capture: PyPMS, malformed messages
  test('does not take half a frame', () => {
    expect(verdictsOf('ff 86 01 f4')).toEqual({ verdicts: [], errors: [] })
  })

  test('does not take the answer to another command', () => {
    expect(verdictsOf('ff 87 01 f4 00 00 00 00 84').verdicts).toEqual([undefined])
  })

  test('does not take a frame whose checksum is wrong', () => {
    const { verdicts, errors } = verdictsOf('ff 86 01 f4 00 00 00 00 84')
    expect(verdicts).toEqual([])
    expect(errors).toEqual([{ kind: 'checksum', length: 9 }])
  })

  test('of a sensor that is warming up is busy, not 0 ppm', () => {
    expect(verdictsOf('ff 86 00 00 00 00 00 00 7a').verdicts).toMatchObject([{ kind: 'busy' }])
  })

  // The sensor that was read shifted by one byte for ever (WifWaf/MH-Z19 issue 25).
  test('survives a byte too many', () => {
    expect(verdictsOf('ff ff 86 01 f4 40 00 00 00 45').verdicts).toEqual([
      { kind: 'value', value: { co2: 500 } },
    ])
  })
})

describe('commands that the sensor does not acknowledge', () => {
  test('have the bytes of the manual', () => {
    expect(hex(calibrate_zero?.exchange?.({}).request ?? bytes(''))).toBe('ff 01 87 00 00 00 00 00 78')
    expect(hex(set_self_calibration?.exchange?.({ on: true }).request ?? bytes(''))).toBe(
      'ff 01 79 a0 00 00 00 00 e6',
    )
    expect(hex(set_self_calibration?.exchange?.({ on: false }).request ?? bytes(''))).toBe(
      'ff 01 79 00 00 00 00 00 86',
    )
  })

  test('wait for nothing, are serial, and the calibration is dangerous', () => {
    expect(calibrate_zero?.exchange?.({}).reply).toBeNull()
    expect(set_self_calibration?.exchange?.({ on: true }).reply).toBeNull()
    expect(calibrate_zero).toMatchObject({ effect: 'act', serial: true, dangerous: true })
    expect(set_self_calibration).toMatchObject({ effect: 'set', serial: true })
    expect(read_co2).toMatchObject({ effect: 'read', parallelSafe: true })
  })
})

describe('the simulator', () => {
  test('answers a read with air of a room', () => {
    const { ask, log } = simulated(device)
    const reply = hex(ask(bytes('ff 01 86 00 00 00 00 00 79')))
    const [verdict] = verdictsOf(reply).verdicts
    const ppm = verdict?.kind === 'value' ? verdict.value : undefined
    expect(log).toEqual([{ command: 'read_co2', detail: { ppm: (ppm as { co2: number }).co2 } }])
    expect((ppm as { co2: number }).co2).toBeGreaterThan(400)
    expect((ppm as { co2: number }).co2).toBeLessThan(2000)
  })

  test('is silent after a setter, and has done it', () => {
    const { ask, log } = simulated(device)
    expect(ask(bytes('ff 01 79 a0 00 00 00 00 e6'))).toHaveLength(0)
    expect(ask(bytes('ff 01 87 00 00 00 00 00 78'))).toHaveLength(0)
    expect(log).toEqual([
      { command: 'set_self_calibration', detail: { on: true } },
      { command: 'calibrate_zero', detail: undefined },
    ])
  })

  test('takes the air for 400 ppm after a calibration', () => {
    const { ask } = simulated(device)
    ask(bytes('ff 01 87 00 00 00 00 00 78'))
    const [verdict] = verdictsOf(hex(ask(bytes('ff 01 86 00 00 00 00 00 79')))).verdicts
    expect(verdict).toEqual({ kind: 'value', value: { co2: 402 } })
  })

  test('does not answer a damaged request', () => {
    const { ask, log } = simulated(device)
    expect(ask(bytes('ff 01 86 00 00 00 00 00 78'))).toHaveLength(0)
    expect(log).toEqual([])
  })
})

test('it is a platinum type', async () => {
  expect((await contractFindings(mhZ19)).filter(({ ok }) => !ok)).toEqual([])
  expect(await gradeOf(mhZ19)).toBe('platinum')
})
