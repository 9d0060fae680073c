/** The text of a new device file. It is a whole device, so that every test passes before the first line is changed. */

export interface TemplateWords {
  /** The type: `my-sensor`. */
  readonly name: string
  /** The module that device files import from. */
  readonly device: string
}

/** Plain enough to be TypeScript and JavaScript alike: the types come from `defineDevice`. */
export function deviceFile({ name, device }: TemplateWords): string {
  return `/**
 * What it is, by whom, and which models speak like this.
 * Source: the manual, its edition, the chapter on the protocol.
 */
import { command, defineDevice, lines, Type } from '${device}'

// Lines of text that end with CR LF. For bytes: fixedLength, frames, modbusRtu …
const framing = lines({ terminator: '\\r\\n' })

export default defineDevice({
  type: '${name}',
  title: '${titleOf(name)}',
  description: 'What it is and what it is for, in a sentence.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  // Commands that change something never overlap on this device.
  serial: true,
  framing,
  // How long it may take to answer, at most.
  line: { timeoutMs: 500 },
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
  },
  tools: {
    read_temperature: command({
      title: 'Read temperature',
      description: 'The temperature at the sensor.',
      returns: Type.Object({ temperature: Type.Number() }),
      request: () => Buffer.from('T?\\r\\n'),
      reply: {
        // Every reply to this request starts so, and no other frame does.
        startsWith: Buffer.from('T='),
        decode: (frame) => {
          const [, number] = /^T=(-?[0-9]+\\.[0-9])$/.exec(frame.toString('latin1')) ?? []
          return number === undefined ? undefined : { temperature: Number(number) }
        },
      },
      // Put real captures here: they are played in both directions by the tests.
      examples: [
        { request: { text: 'T?\\r\\n' }, reply: { text: 'T=21.5' }, value: { temperature: 21.5 } },
        { reply: { text: 'T=-3.0' }, value: { temperature: -3 } },
        { reply: { text: 'T=2' }, ignored: true },
      ],
      // It changes nothing, and it may run beside the calls of other devices.
      effect: 'read',
      parallelSafe: true,
    }),
  },
  poll: { every: '30s', tool: 'read_temperature' },
  simulator: (world) => ({
    framing,
    receive: (frame) => {
      if (Buffer.from(frame).toString('latin1') !== 'T?') return undefined
      const temperature = (21 + Math.sin(world.now() / 600_000)).toFixed(1)
      world.executed('read_temperature', { temperature })
      return { bytes: Buffer.from(\`T=\${temperature}\\r\\n\`), afterMs: 20 }
    },
  }),
})
`
}

export function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
