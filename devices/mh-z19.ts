/**
 * Winsen MH-Z19B and MH-Z19C infrared CO2 sensor. Frames of nine bytes, always. The setters have no reply on model B;
 * so they are commands without acknowledgement, whatever model C may send after them.
 * Source: Winsen MH-Z19B user's manual V1.0, "Communication protocol".
 */
import {
  command,
  defineDevice,
  fixedLength,
  nullable,
  type SimulatedWorld,
  Type,
  twosComplement8,
} from '#device'

const READ = 0x86
const SELF_CALIBRATION = 0x79
const CALIBRATE_ZERO = 0x87
const ON = 0xa0

/** The room without anybody in it, and the clean air that the zero point is set in. */
const CLEAN_AIR_PPM = 400

const checksum = twosComplement8({ from: 1, to: 8 })
const framing = fixedLength({ start: [0xff], length: 9, checksum })

function request(code: number, first = 0): Uint8Array {
  return checksum.seal([0xff, 0x01, code, first, 0, 0, 0, 0, 0])
}

/** Until it has a value the sensor answers with zeros only: no air has 0 ppm. */
function isWarmingUp(frame: Uint8Array): boolean {
  return frame.subarray(2, 8).every((byte) => byte === 0)
}

function simulator(world: SimulatedWorld) {
  let offsetPpm = 0
  const roomPpm = () => 700 + 250 * Math.sin(world.now() / 600_000)
  const sensorPpm = () => Math.round(roomPpm() + offsetPpm + 4 * world.random())
  return {
    framing,
    receive(frame: Uint8Array) {
      const [, , code, first] = frame
      if (code === READ) {
        const ppm = sensorPpm()
        world.executed('read_co2', { ppm })
        const reply = checksum.seal([0xff, READ, ppm >> 8, ppm & 0xff, 22 + 40, 0, 0, 0, 0])
        return { bytes: reply, afterMs: 12 + 6 * world.random() }
      }
      if (code === CALIBRATE_ZERO) {
        offsetPpm = CLEAN_AIR_PPM - roomPpm()
        world.executed('calibrate_zero')
      }
      if (code === SELF_CALIBRATION) world.executed('set_self_calibration', { on: first === ON })
      return undefined
    },
  }
}

export default defineDevice({
  type: 'mh-z19',
  title: 'Winsen MH-Z19 CO2 sensor',
  description: 'Infrared sensor for the CO2 in room air, models B and C.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  framing,
  line: { timeoutMs: 1000, replyLatencyMaxMs: 3000, gapMs: 50 },
  readings: {
    co2: {
      unit: 'ppm',
      title: 'CO2',
      deviceClass: 'carbon_dioxide',
      stateClass: 'measurement',
      min: 0,
      max: 10_000,
      precision: 0,
    },
  },
  tools: {
    read_co2: command({
      title: 'Read CO2',
      description:
        'CO2 concentration of the room air. Outdoor air has about 420 ppm; above 1000 ppm a room wants fresh air. ' +
        'In the first three minutes after power-on the value is not to be trusted.',
      returns: Type.Object({ co2: nullable(Type.Integer()) }),
      request: () => request(READ),
      reply: {
        startsWith: [0xff, READ],
        decode: (frame) => ({ co2: frame.readUInt16BE(2) }),
        busy: (frame) => (isWarmingUp(frame) ? 'the sensor is warming up and has no value yet' : undefined),
      },
      correlates: 'shape',
      examples: [
        { request: 'ff 01 86 00 00 00 00 00 79', reply: 'ff 86 02 20 00 00 00 00 58', value: { co2: 544 } },
        // capture: PyPMS, a real sensor in 2021
        { reply: 'ff 86 02 7c 42 00 00 00 ba', value: { co2: 636 } },
        { reply: 'ff 86 02 7b 42 00 00 00 bb', value: { co2: 635 } },
        { reply: 'ff 86 01 f4 47 00 00 00 3e', value: { co2: 500 } },
        // capture: PyPMS, malformed
        { reply: 'ff 86 01 f4', ignored: true },
        { reply: 'ff 87 01 f4 00 00 00 00 84', ignored: true },
        { reply: 'ff 86 01 f4 00 00 00 00 84', ignored: true },
        { reply: 'ff 86 00 00 00 00 00 00 7a', busy: true },
      ],
      effect: 'read',
      parallelSafe: true,
    }),
    calibrate_zero: command({
      title: 'Calibrate the zero point',
      description:
        'Takes the air that the sensor is in now for 400 ppm. Only after 20 minutes in outdoor air: anywhere else ' +
        'all later values are wrong. The sensor does not acknowledge it.',
      request: () => request(CALIBRATE_ZERO),
      reply: 'none',
      examples: [{ request: 'ff 01 87 00 00 00 00 00 78' }],
      dangerous: true,
      effect: 'act',
    }),
    set_self_calibration: command({
      title: 'Set self-calibration',
      description:
        'Whether the sensor takes the lowest value of each day for 400 ppm. Off in rooms that are never aired. ' +
        'The sensor does not acknowledge it.',
      parameters: Type.Object({ on: Type.Boolean() }),
      request: ({ on }) => request(SELF_CALIBRATION, on ? ON : 0),
      reply: 'none',
      examples: [
        { arguments: { on: true }, request: 'ff 01 79 a0 00 00 00 00 e6' },
        { arguments: { on: false }, request: 'ff 01 79 00 00 00 00 00 86' },
      ],
      effect: 'set',
    }),
  },
  poll: { every: '30s', tool: 'read_co2' },
  simulator,
})
