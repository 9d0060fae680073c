/**
 * Relay boards on Modbus RTU. They differ in how a relay is addressed and what switches it; that is the dialect.
 *
 * - `waveshare`: Waveshare's boards and all that keep to the standard. Coils from 0; FC 05 with FF00, 0000 and 5500
 *   (toggle); a pulse is FC 05 at 0200 + channel with a count of 100 ms.
 * - `lc`: old boards without a name. Coils from 1; FC 05 with 0100 and 0000. They neither toggle nor pulse.
 * - `r4d`: R4D8A08, R421A08 and their like. FC 06 at holding registers from 1 with a command in the upper byte: 01 on,
 *   02 off, 03 toggle, 06 on for as many seconds as the lower byte says; FC 03 reads 1 for on.
 *
 * Channels count from 0 in all of them. A board repeats a write, as a half-duplex adapter does without any board, so
 * what is set is read back. Source: Waveshare wiki "Modbus RTU Relay" and the boards' register lists.
 */
import {
  command,
  crc16modbus,
  defineDevice,
  type Exchange,
  exchangeOf,
  GatewayError,
  mapped,
  modbusRtu,
  modbusRtuRequests,
  readBits,
  readRegisters,
  type SimulatedReply,
  type SimulatedWorld,
  startsWith,
  Type,
  value,
  writeCoil,
  writeRegister,
} from '#device'

const CHANNELS_MAX = 32
const WAVESHARE_PULSE_BASE = 0x0200
const WAVESHARE_PULSE_STEP_MS = 100
const WAVESHARE_PULSE_STEPS_MAX = 0x7fff
const LC_ON = 0x01
const R4D = { on: 0x0100, off: 0x0200, toggle: 0x0300, pulse: 0x0600 } as const
const R4D_PULSE_STEP_MS = 1000
const R4D_PULSE_STEPS_MAX = 0xff

interface Board {
  readonly address: number
  readonly channels: number
}

interface Pulse {
  readonly stepMs: number
  readonly stepsMax: number
  /** The relay is on for `steps` steps, and then off. */
  exchange(board: Board, channel: number, steps: number): Exchange<true>
}

interface Dialect {
  read(board: Board): Exchange<readonly boolean[]>
  set(board: Board, channel: number, on: boolean): Exchange<true>
  readonly toggle?: (board: Board, channel: number) => Exchange<true>
  readonly pulse?: Pulse
}

const waveshare: Dialect = {
  read: ({ address: unit, channels }) => readBits({ unit, kind: 'coil', address: 0, count: channels }),
  set: ({ address: unit }, channel, on) => writeCoil({ unit, address: channel, value: on }),
  toggle: ({ address: unit }, channel) => writeCoil({ unit, address: channel, value: 'toggle' }),
  pulse: {
    stepMs: WAVESHARE_PULSE_STEP_MS,
    stepsMax: WAVESHARE_PULSE_STEPS_MAX,
    exchange: ({ address: unit }, channel, steps) =>
      repeatedWrite([unit, 0x05, WAVESHARE_PULSE_BASE >> 8, channel, steps >> 8, steps & 0xff]),
  },
}

const lc: Dialect = {
  read: ({ address: unit, channels }) => readBits({ unit, kind: 'coil', address: 1, count: channels }),
  set: ({ address: unit }, channel, on) => repeatedWrite([unit, 0x05, 0, channel + 1, on ? LC_ON : 0, 0]),
}

const r4d: Dialect = {
  read: ({ address: unit, channels }) =>
    mapped(readRegisters({ unit, kind: 'holding', address: 1, count: channels }), (words) =>
      words.map((word) => word === 1),
    ),
  set: ({ address: unit }, channel, on) =>
    writeRegister({ unit, address: channel + 1, value: on ? R4D.on : R4D.off }),
  toggle: ({ address: unit }, channel) => writeRegister({ unit, address: channel + 1, value: R4D.toggle }),
  pulse: {
    stepMs: R4D_PULSE_STEP_MS,
    stepsMax: R4D_PULSE_STEPS_MAX,
    exchange: ({ address: unit }, channel, steps) =>
      writeRegister({ unit, address: channel + 1, value: R4D.pulse | steps }),
  },
}

const DIALECTS = { waveshare, lc, r4d } as const

/** A write beyond the standard's values that the board repeats as a whole; exceptions are the standard's. */
function repeatedWrite(body: readonly number[]): Exchange<true> {
  const frame = crc16modbus({ from: 0 }).seal([...body, 0, 0])
  const standard = writeCoil({ unit: body[0] ?? 0, address: 0, value: true }).reply
  return exchangeOf<true>(frame, [
    { shape: startsWith(frame, frame.length), verdict: () => value(true as const) },
    {
      shape: startsWith(frame.subarray(0, 1), 5),
      verdict: (reply) => standard?.match(reply),
    },
  ])
}

function readingOf(channel: number): string {
  return `relay_${channel}`
}

function toolsOf(board: Board, dialect: Dialect) {
  const { channels } = board
  const Channel = Type.Integer({ minimum: 0, maximum: channels - 1, description: 'the first relay is 0' })
  const { toggle, pulse } = dialect
  const names = Array.from({ length: channels }, (_, channel) => readingOf(channel))
  return {
    read_relays: command({
      title: 'Read relays',
      description: 'Which relays of the board are on (true) and which are off (false).',
      returns: Type.Object(Object.fromEntries(names.map((name) => [name, Type.Boolean()]))),
      exchange: () => readAll(board, dialect),
      correlates: 'shape',
      effect: 'read',
      parallelSafe: true,
    }),
    set_relay: command({
      title: 'Set relay',
      description:
        'Switches one relay on or off, and reads it back: a success is what the board itself shows.',
      parameters: Type.Object({ channel: Channel, on: Type.Boolean() }),
      returns: Type.Object({ channel: Type.Integer(), on: Type.Boolean() }),
      exchange: ({ channel, on }) => mapped(dialect.set(board, channel, on), () => ({ channel, on })),
      readBack: ({ channel, on }) => ({
        exchange: dialect.read(board),
        confirms: (shown) => Array.isArray(shown) && shown[channel] === on,
      }),
      readings: ({ channel, on }) => ({ [readingOf(channel)]: on }),
      correlates: 'request',
      effect: 'set',
    }),
    ...(toggle && {
      toggle_relay: command({
        title: 'Toggle relay',
        description:
          'Reverses one relay: on becomes off, off becomes on. A repeat reverses it again; to reach a certain ' +
          'state use set_relay.',
        parameters: Type.Object({ channel: Channel }),
        returns: Type.Object({ channel: Type.Integer() }),
        exchange: ({ channel }) => mapped(toggle(board, channel), () => ({ channel })),
        correlates: 'request',
        effect: 'act',
      }),
    }),
    ...(pulse && { pulse_relay: pulseTool(board, Channel, pulse) }),
  }
}

function readAll(board: Board, dialect: Dialect): Exchange<Record<string, boolean>> {
  return mapped(dialect.read(board), (states) =>
    Object.fromEntries(states.map((on, channel) => [readingOf(channel), on])),
  )
}

function pulseTool(board: Board, Channel: ReturnType<typeof Type.Integer>, pulse: Pulse) {
  const { stepMs, stepsMax } = pulse
  return command({
    title: 'Pulse relay',
    description:
      `Switches one relay on for a time in ms, a multiple of ${stepMs}; then the board itself switches it off. ` +
      'The answer comes when the pulse has begun.',
    parameters: Type.Object({
      channel: Channel,
      ms: Type.Integer({ minimum: stepMs, maximum: stepMs * stepsMax, multipleOf: stepMs }),
    }),
    returns: Type.Object({ channel: Type.Integer(), ms: Type.Integer() }),
    exchange({ channel, ms }) {
      const steps = ms / stepMs
      if (!Number.isInteger(steps)) {
        throw new GatewayError('invalid_arguments', `ms: not a multiple of ${stepMs}`, { field: '/ms' })
      }
      return mapped(pulse.exchange(board, channel, steps), () => ({ channel, ms }))
    },
    correlates: 'request',
    effect: 'act',
  })
}

const ILLEGAL = { function: 1, address: 2, value: 3 } as const

/** What switches a simulated relay. */
type Switch = { readonly on: boolean } | 'toggle' | { readonly pulseMs: number }

interface Write {
  readonly channel: number
  readonly change: Switch
}

/** The write in FC 05 or 06, or the code of the exception. */
function writeIn(dialectName: keyof typeof DIALECTS, code: number, at: number, word: number): Write | number {
  if (code !== (dialectName === 'r4d' ? 0x06 : 0x05)) return ILLEGAL.function
  switch (dialectName) {
    case 'waveshare':
      if (at >> 8 === WAVESHARE_PULSE_BASE >> 8) {
        return { channel: at & 0xff, change: { pulseMs: word * WAVESHARE_PULSE_STEP_MS } }
      }
      if (word === 0x5500) return { channel: at, change: 'toggle' }
      return word === 0xff00 || word === 0 ? { channel: at, change: { on: word !== 0 } } : ILLEGAL.value
    case 'lc':
      return word === 0x0100 || word === 0 ? { channel: at - 1, change: { on: word !== 0 } } : ILLEGAL.value
    case 'r4d': {
      const channel = at - 1
      if (word === R4D.on || word === R4D.off) return { channel, change: { on: word === R4D.on } }
      if (word === R4D.toggle) return { channel, change: 'toggle' }
      const seconds = word & 0xff
      return (word & 0xff00) === R4D.pulse
        ? { channel, change: { pulseMs: seconds * R4D_PULSE_STEP_MS } }
        : ILLEGAL.value
    }
  }
}

/** Relays that are on until a certain time. */
class Relays {
  readonly #world: SimulatedWorld
  readonly #onUntilMs: number[]

  constructor(world: SimulatedWorld, channels: number) {
    this.#world = world
    this.#onUntilMs = new Array<number>(channels).fill(0)
  }

  isOn(channel: number): boolean {
    return this.#world.now() < (this.#onUntilMs[channel] ?? 0)
  }

  apply({ channel, change }: Write): boolean {
    if (!(channel in this.#onUntilMs)) return false
    const on = change === 'toggle' ? !this.isOn(channel) : 'on' in change && change.on
    const isPulse = change !== 'toggle' && 'pulseMs' in change
    this.#onUntilMs[channel] = isPulse
      ? this.#world.now() + change.pulseMs
      : on
        ? Number.POSITIVE_INFINITY
        : 0
    if (isPulse) this.#world.executed('pulse_relay', { channel, ms: change.pulseMs })
    else if (change === 'toggle') this.#world.executed('toggle_relay', { channel, on })
    else this.#world.executed('set_relay', { channel, on })
    return true
  }
}

function simulator(board: Board, dialectName: keyof typeof DIALECTS, world: SimulatedWorld) {
  const relays = new Relays(world, board.channels)
  const seal = crc16modbus({ from: 0 })
  const first = dialectName === 'waveshare' ? 0 : 1
  const readCode = dialectName === 'r4d' ? 0x03 : 0x01

  const statesIn = (at: number, count: number): readonly number[] | number => {
    const from = at - first
    if (count < 1 || from < 0 || from + count > board.channels) return ILLEGAL.address
    world.executed('read_relays', { first: from, count })
    const states = Array.from({ length: count }, (_, index) => relays.isOn(from + index))
    if (readCode === 0x03) return [2 * count, ...states.flatMap((on) => [0, Number(on)])]
    const bytes = new Array<number>(Math.ceil(count / 8)).fill(0)
    for (const [index, on] of states.entries()) {
      if (on) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (1 << (index & 7))
    }
    return [bytes.length, ...bytes]
  }

  return {
    framing: modbusRtuRequests(),
    receive(frame: Uint8Array): SimulatedReply | undefined {
      const bytes = Buffer.from(frame)
      const [unit, code = 0] = frame
      const isBroadcast = unit === 0
      if ((unit !== board.address && !isBroadcast) || bytes.length !== 8) return undefined
      const at = bytes.readUInt16BE(2)
      const word = bytes.readUInt16BE(4)
      const answer = (body: readonly number[] | number): SimulatedReply | undefined => {
        const pdu = typeof body === 'number' ? [code | 0x80, body] : [code, ...body]
        const reply = seal.seal([board.address, ...pdu, 0, 0])
        return isBroadcast ? undefined : { bytes: reply, afterMs: 3 + 5 * world.random() }
      }
      if (code === readCode) return isBroadcast ? undefined : answer(statesIn(at, word))
      const write = writeIn(dialectName, code, at, word)
      if (typeof write === 'number') return answer(write)
      return answer(relays.apply(write) ? [...bytes.subarray(2, 6)] : ILLEGAL.address)
    },
  }
}

export default defineDevice({
  type: 'modbus-relay',
  title: 'Modbus relay board',
  description: 'Boards of relays on an RS-485 bus: Waveshare and what keeps to the standard, LC, R4D8A08.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  addressed: true,
  options: Type.Object({
    address: Type.Integer({ minimum: 1, maximum: 255 }),
    channels: Type.Integer({ minimum: 1, maximum: CHANNELS_MAX, description: 'relays on the board' }),
    dialect: Type.Optional(
      Type.Enum(['waveshare', 'lc', 'r4d'], {
        description:
          'waveshare (default): coils from 0, as the standard has it; lc: coils from 1, on is 0100; r4d: holding ' +
          'registers from 1',
      }),
    ),
  }),
  describe({ address, channels, dialect: name = 'waveshare' }) {
    const board = { address, channels }
    const dialect = DIALECTS[name]
    const relays = Array.from({ length: channels }, (_, channel) => channel)
    return {
      framing: modbusRtu(),
      line: { timeoutMs: 500, gapMs: 20 },
      readings: Object.fromEntries(
        relays.map((channel) => [readingOf(channel), { title: `Relay ${channel}`, deviceClass: 'switch' }]),
      ),
      tools: toolsOf(board, dialect),
      poll: { every: '10s', tool: 'read_relays', parts: [readAll(board, dialect)] },
      simulator: (world) => simulator(board, name, world),
    }
  },
  sample: { address: 1, channels: 8, dialect: 'waveshare' },
  // Constructed from the layout in the Waveshare wiki; the first is the wiki's own.
  sampleExamples: {
    set_relay: [
      {
        arguments: { channel: 0, on: true },
        request: '01 05 00 00 ff 00 8c 3a',
        reply: '01 05 00 00 ff 00 8c 3a',
        value: { channel: 0, on: true },
      },
      {
        arguments: { channel: 0, on: false },
        request: '01 05 00 00 00 00 cd ca',
        reply: '01 05 00 00 00 00 cd ca',
        value: { channel: 0, on: false },
      },
      // Asked to switch on, the board says off: never a success.
      { arguments: { channel: 0, on: true }, reply: '01 05 00 00 00 00 cd ca', ignored: true },
      { arguments: { channel: 0, on: true }, reply: '01 85 03 02 91', refused: 3 },
    ],
    toggle_relay: [
      {
        arguments: { channel: 0 },
        request: '01 05 00 00 55 00 f2 9a',
        reply: '01 05 00 00 55 00 f2 9a',
        value: { channel: 0 },
      },
    ],
    read_relays: [
      {
        request: '01 01 00 00 00 08 3d cc',
        reply: '01 01 01 05 91 8b',
        value: {
          relay_0: true,
          relay_1: false,
          relay_2: true,
          relay_3: false,
          relay_4: false,
          relay_5: false,
          relay_6: false,
          relay_7: false,
        },
      },
    ],
    pulse_relay: [
      {
        arguments: { channel: 0, ms: 700 },
        request: '01 05 02 00 00 07 8d b0',
        reply: '01 05 02 00 00 07 8d b0',
        value: { channel: 0, ms: 700 },
      },
    ],
  },
})
