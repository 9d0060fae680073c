/** The device types of a simulated home, written as device files are. */
import line from '../../devices/line.ts'
import {
  command,
  defineDevice,
  mapped,
  modbusRtu,
  readRegisters,
  Type,
  writeCoil,
  writeRegister,
} from '../../src/driver/device.ts'
import type { DeviceType } from '../../src/driver/device-type.ts'

const nonce = Type.Object({ nonce: Type.Integer({ minimum: 1, maximum: 60_000 }) })

function numbered(unit: number, kind: 'holding' | 'input', address: number) {
  return mapped(
    readRegisters({ unit, kind, address, count: 2 }),
    ([high = 0, low = 0]) => high * 65_536 + low,
  )
}

const bus = defineDevice({
  type: 'simulated-bus-unit',
  title: 'A unit of a simulated bus',
  options: Type.Object({ address: Type.Integer({ minimum: 1, maximum: 247 }) }),
  addressed: true,
  uart: { baudRate: 9600 },
  serial: true,
  sample: { address: 1 },
  describe: ({ address: unit }) => ({
    framing: modbusRtu(),
    line: { timeoutMs: 500 },
    readings: { level: {} },
    tools: {
      level: command({
        description: 'What is polled.',
        correlates: 'shape',
        effect: 'read',
        exchange: () => mapped(numbered(unit, 'holding', 0), (level) => ({ level })),
        parallelSafe: true,
      }),
      read: command({
        description: 'A number of its own for each call.',
        parameters: nonce,
        correlates: 'shape',
        effect: 'read',
        exchange: (args) => mapped(numbered(unit, 'holding', args.nonce), (value) => ({ value })),
        parallelSafe: true,
      }),
      read_serial: command({
        description: 'As read, and overlaps nothing.',
        parameters: nonce,
        correlates: 'shape',
        effect: 'read',
        exchange: (args) => mapped(numbered(unit, 'input', args.nonce), (value) => ({ value })),
        serial: true,
      }),
      read_pair: command({
        description: 'Both in one run.',
        parameters: nonce,
        effect: 'read',
        run: async (session, args) => ({
          value: await session.exchange(numbered(unit, 'holding', args.nonce)),
          second: await session.exchange(numbered(unit, 'input', args.nonce)),
        }),
        serial: true,
      }),
      set: command({
        description: 'Sets a register.',
        parameters: nonce,
        correlates: 'request',
        effect: 'set',
        exchange: (args) => mapped(writeRegister({ unit, address: args.nonce, value: 1 }), () => ({})),
      }),
      act: command({
        description: 'Does something once.',
        parameters: nonce,
        correlates: 'request',
        effect: 'act',
        exchange: (args) => mapped(writeCoil({ unit, address: args.nonce, value: true }), () => ({})),
      }),
    },
    poll: { every: '10s', tool: 'level' },
  }),
})

const parameters = { nonce: { type: 'integer', minimum: 1, maximum: 60_000 } } as const
const numberReply = {
  reply: '^V (?<value>[0-9]+)$',
  refuse: '^ERR (?<code>[0-9]+)$',
  returns: { value: 'integer' },
}

/** The tools of a device of the type `line`, as a configuration has them. */
export const TEXT_OPTIONS = {
  terminator: '\r\n',
  send: '\r\n',
  events: [{ name: 'unasked', match: '^!(?<what>.*)$' }],
  tools: {
    level: {
      command: 'R 0',
      reply: '^V (?<level>[0-9]+)$',
      returns: { level: 'integer' },
      effect: 'read',
      parallelSafe: true,
    },
    read: { command: 'R {nonce}', parameters, ...numberReply, effect: 'read', parallelSafe: true },
    read_serial: { command: 'G {nonce}', parameters, ...numberReply, effect: 'read', serial: true },
    ask: {
      command: 'Q {nonce}',
      parameters,
      reply: '^A {nonce} (?<value>[0-9]+)$',
      refuse: '^ERR (?<code>[0-9]+)$',
      returns: { value: 'integer' },
      effect: 'read',
      parallelSafe: true,
    },
    set: {
      command: 'S {nonce}',
      parameters,
      reply: '^S OK$',
      refuse: '^ERR (?<code>[0-9]+)$',
      effect: 'set',
    },
    act: {
      command: 'D {nonce}',
      parameters,
      reply: '^D {nonce} OK$',
      refuse: '^ERR (?<code>[0-9]+)$',
      effect: 'act',
    },
    last: {
      command: 'L',
      reply: '^L (?<last>[0-9]+)$',
      returns: { last: 'integer' },
      effect: 'read',
      serial: true,
    },
    act_read_back: {
      command: 'X {nonce}',
      parameters,
      reply: '^X OK$',
      refuse: '^ERR (?<code>[0-9]+)$',
      readBack: { tool: 'last', expect: { last: '{nonce}' } },
      effect: 'act',
    },
  },
} as const

export const BUS_TYPE = 'simulated-bus-unit'
export const TEXT_TYPE = 'line'

export const simulationTypes: ReadonlyMap<string, DeviceType> = new Map<string, DeviceType>([
  [BUS_TYPE, bus],
  [TEXT_TYPE, line],
])
