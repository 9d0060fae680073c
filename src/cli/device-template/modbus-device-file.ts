/** The text of a new file for a Modbus RTU device with an address: a whole device, which works as it is. */
import { type TemplateWords, titleOf } from './device-file.ts'

/** Plain enough to be TypeScript and JavaScript alike: the types come from `defineDevice` and `#device`. */
export function modbusDeviceFile({ name, device }: TemplateWords): string {
  return `/**
 * What it is, by whom, and which models speak like this.
 * Source: the manual, its edition, the chapter on the protocol.
 *
 * A device that only has registers needs no file: see the type "modbus". A file is for what a register map cannot
 * say: a function of the maker's own, values that belong together, a register that can only be written.
 */
import {
  command,
  defineDevice,
  mapped,
  modbusRtu,
  modbusSimulator,
  readRegisters,
  Type,
  writeRegister,
} from '${device}'

// The protocol's addresses, from zero: what a manual calls 30001 is input register 0, 40001 is holding register 0.
const MEASUREMENTS = { address: 0, count: 2 }
const SETPOINT = 4

/** Registers are numbers without a sign; this one has a sign and counts tenths. */
const tenths = (word = 0) => ((word << 16) >> 16) / 10

export default defineDevice({
  type: '${name}',
  title: '${titleOf(name)}',
  description: 'What it is and what it is for, in a sentence.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  // Commands that change something never overlap on this device.
  serial: true,
  // Several of them share one line, and the option "address" tells them apart.
  addressed: true,
  // The keys that a device of this type has in the configuration, beside those of every device.
  options: Type.Object({ address: Type.Integer({ minimum: 1, maximum: 247 }) }),
  // Such a device, for the tests, the demo and the examples below.
  sample: { address: 1 },
  // Everything that depends on the options, and all else that one device has.
  describe: ({ address }) => ({
    framing: modbusRtu(),
    // How long it may take to answer, at most, and the silence before a request.
    line: { timeoutMs: 1000, gapMs: 20 },
    readings: {
      temperature: {
        unit: '°C',
        title: 'Temperature',
        deviceClass: 'temperature',
        stateClass: 'measurement',
        // What lies outside is no temperature that this device can measure.
        min: -40,
        max: 125,
      },
      humidity: {
        unit: '%',
        title: 'Humidity',
        deviceClass: 'humidity',
        stateClass: 'measurement',
        min: 0,
        max: 100,
      },
    },
    tools: {
      read_climate: command({
        title: 'Read climate',
        description: 'The temperature and the humidity of the air, measured together.',
        returns: Type.Object({ temperature: Type.Number(), humidity: Type.Number() }),
        exchange: () =>
          mapped(
            readRegisters({ unit: address, kind: 'input', ...MEASUREMENTS }),
            ([temperature, humidity]) => ({
              temperature: tenths(temperature),
              humidity: tenths(humidity),
            }),
          ),
        // A reply names its unit, its function and its length, but not its registers.
        correlates: 'shape',
        // It changes nothing, and it may run beside the calls of other devices.
        effect: 'read',
        parallelSafe: true,
      }),
      set_setpoint: command({
        title: 'Set setpoint',
        description: 'Sets the temperature to be held, in °C.',
        parameters: Type.Object({ setpoint: Type.Number({ minimum: 5, maximum: 35 }) }),
        returns: Type.Object({ setpoint: Type.Number() }),
        exchange: ({ setpoint }) => {
          const word = Math.round(setpoint * 10)
          const write = writeRegister({ unit: address, address: SETPOINT, value: word })
          return mapped(write, () => ({ setpoint: tenths(word) }))
        },
        // The device repeats the register and the value.
        correlates: 'request',
        // A repeat leaves the device as it is; what a repeat would do again is an "act".
        effect: 'set',
      }),
    },
    poll: { every: '30s', tool: 'read_climate' },
    simulator: (world) => {
      let setpoint = 215
      return modbusSimulator(world, {
        unit: address,
        readRegister: (kind, register) => {
          if (kind === 'holding') return register === SETPOINT ? setpoint : undefined
          const measured = [setpoint + 5 * Math.sin(world.now() / 600_000), 440]
          return measured[register - MEASUREMENTS.address]
        },
        readBit: () => undefined,
        writeRegisters: (register, [word = 0]) => {
          if (register !== SETPOINT) return false
          setpoint = word
          return true
        },
        writeBits: () => false,
      })
    },
  }),
  // Of the sample, by tool. Put real captures here: they are played in both directions by the tests.
  sampleExamples: {
    read_climate: [
      {
        request: '01 04 00 00 00 02 71 cb',
        reply: '01 04 04 00 d7 01 b8 4a 5e',
        value: { temperature: 21.5, humidity: 44 },
      },
      { reply: '01 04 04 ff e2 01 b8 6a 44', value: { temperature: -3, humidity: 44 } },
      { reply: '01 84 02 c2 c1', refused: 2 },
      // Another unit's reply.
      { reply: '02 04 04 00 d7 01 b8 79 5e', ignored: true },
    ],
    set_setpoint: [
      {
        arguments: { setpoint: 21.5 },
        request: '01 06 00 04 00 d7 88 55',
        reply: '01 06 00 04 00 d7 88 55',
        value: { setpoint: 21.5 },
      },
      // The acknowledgement of another value.
      { arguments: { setpoint: 21.5 }, reply: '01 06 00 04 00 d8 c8 51', ignored: true },
      { arguments: { setpoint: 21.5 }, reply: '01 86 03 02 61', refused: 3 },
    ],
  },
})
`
}
