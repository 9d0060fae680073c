/** The keys of a port, whether it stands under `ports` or in the device that has it for itself. */
import Type from 'typebox'
import { PLAIN_TEXT } from './notation.ts'

const closed = { additionalProperties: false }

export const PortKeys = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 4096,
      pattern: PLAIN_TEXT.pattern,
      description:
        'The serial device, best by its /dev/serial/by-id or by-path link (`baudway ports` lists them), or `simulated` for the simulators of the device types.',
      examples: ['/dev/serial/by-id/', '/dev/ttyAMA0', 'simulated'],
    }),
    baudRate: Type.Optional(
      Type.Integer({
        minimum: 50,
        maximum: 12_000_000,
        description: 'Bits per second. Default: what the device type says, else 9600.',
        examples: [9600, 19200, 115200],
      }),
    ),
    dataBits: Type.Optional(
      Type.Enum([5, 6, 7, 8], {
        description: 'Data bits of a character. Default: the device type’s, else 8.',
      }),
    ),
    stopBits: Type.Optional(
      Type.Enum([1, 1.5, 2], {
        description: 'Stop bits of a character. Default: the device type’s, else 1.',
      }),
    ),
    parity: Type.Optional(
      Type.Enum(['none', 'even', 'odd', 'mark', 'space'], {
        description: 'Parity of a character. Default: the device type’s, else none.',
      }),
    ),
    rtscts: Type.Optional(
      Type.Boolean({
        description: 'Hardware flow control by RTS and CTS. Default: the device type’s, else false.',
      }),
    ),
    dtr: Type.Optional(
      Type.Boolean({
        description: 'Level of the DTR line after opening; many boards reset when it changes.',
      }),
    ),
    rts: Type.Optional(Type.Boolean({ description: 'Level of the RTS line after opening.' })),
    hupcl: Type.Optional(
      Type.Boolean({
        description:
          'Whether closing the port drops DTR, after which many boards reset when it is opened again. Default: the device type’s, else true.',
      }),
    ),
    echo: Type.Optional(
      Type.Enum(['auto', 'on', 'off'], {
        description:
          'Whether the adapter repeats what is sent, as some RS-485 adapters do. Default: auto for types with addresses, off for others.',
      }),
    ),
    force: Type.Optional(
      Type.Boolean({
        description:
          'Opens the port although a Zigbee, Z-Wave or Thread radio stick seems to be behind it. Default: false.',
      }),
    ),
  },
  {
    ...closed,
    description: 'A serial line: where it is, and its settings.',
  },
)

export type PortKeys = Type.Static<typeof PortKeys>
