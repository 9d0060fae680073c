/**
 * The simulated devices of a run. A unit of a bus is the catalogue's own Modbus simulator over a bank of registers that
 * gives a new number at every read; a device of text lines does the same in words. Each writes what it really does into
 * the record, and does with a request what the plan says is its fate.
 */

import type { DeviceSimulator, SimulatedReply, SimulatedWorld } from '../../src/driver/device-type.ts'
import { type ModbusBank, modbusSimulator } from '../../src/driver/modbus-simulator.ts'
import { lines } from '../../src/port/framer/lines.ts'
import type { DevicePlan, Fate, LineKind } from './plan.ts'
import type { Recorder } from './recorder.ts'
import { requestOf } from './request.ts'

export interface StationParts {
  readonly plan: DevicePlan
  readonly kind: LineKind
  readonly recorder: Recorder
  /** What becomes of the n-th request to the device. */
  readonly fate: (request: number) => Fate | undefined
  /** Neither hears nor speaks. */
  readonly isWedged: () => boolean
}

export interface Station {
  readonly simulator: (world: SimulatedWorld) => DeviceSimulator
  /** Says something unasked. */
  chatter(): void
}

/** What comes unasked begins with it; a reply never does. */
const UNASKED = '!'

const CORRELATED: ReadonlySet<string> = new Set(['ask', 'act'])

export function createStation(parts: StationParts): Station {
  let send: (bytes: Uint8Array) => void = () => {}
  let told = 0
  const chatter = () => {
    told += 1
    if (parts.kind === 'text') send(textLine(`${UNASKED}EV ${told}`))
  }
  return {
    chatter,
    simulator: (world) => {
      send = (bytes) => world.send(bytes)
      const inner = parts.kind === 'bus' ? busUnit(parts, world) : textDevice(parts)
      return fated(parts, inner, chatter)
    },
  }
}

interface Inner {
  readonly framing: DeviceSimulator['framing']
  isForMe(frame: Uint8Array): boolean
  /** `refuse`: the device says no. */
  answer(frame: Uint8Array, refuse: boolean): Uint8Array | undefined
}

function fated(parts: StationParts, inner: Inner, chatter: () => void): DeviceSimulator {
  const { plan, kind } = parts
  let requests = 0
  return {
    framing: inner.framing,
    receive(frame): readonly SimulatedReply[] | undefined {
      if (!inner.isForMe(frame)) return undefined
      const fate = parts.fate(requests)
      requests += 1
      if (fate?.kind === 'deaf' || parts.isWedged()) return undefined
      if (fate?.kind === 'restart') {
        return kind === 'text' ? [{ bytes: textLine(`${UNASKED}READY`), afterMs: 30 }] : undefined
      }
      if (fate?.kind === 'event_first') chatter()
      const bytes = inner.answer(frame, fate?.kind === 'refuse')
      if (!bytes || fate?.kind === 'mute') return undefined
      const afterMs = plan.answersAfterMs + (fate?.kind === 'late' ? fate.byMs : 0)
      const reply = { bytes, afterMs }
      // A second copy can be told from another reply only where the reply names its request.
      const isNamed = requestOf(kind, frame)?.command
      return fate?.kind === 'duplicate' && CORRELATED.has(isNamed ?? '')
        ? [reply, { bytes, afterMs: afterMs + fate.afterMs }]
        : [reply]
    },
  }
}

function busUnit({ plan, recorder }: StationParts, world: SimulatedWorld): Inner {
  const { id, address: unit } = plan
  let refuses = false
  let kept = 0
  /** Two registers at the nonce: the number that this reading is given, upper half first. */
  const bank: ModbusBank = {
    unit,
    readRegister(kind, address) {
      if (refuses) return undefined
      if (kept === 0) {
        const value = recorder.uniqueValue()
        const command = address === 0 ? 'level' : kind === 'holding' ? 'read' : 'read_serial'
        recorder.execution({ by: id, command, nonce: address, value })
        kept = value
        return value >>> 16
      }
      const low = kept & 0xffff
      kept = 0
      return low
    },
    readBit: () => undefined,
    writeRegisters(address) {
      if (refuses) return false
      recorder.execution({ by: id, command: 'set', nonce: address, value: undefined })
      return true
    },
    writeBits(address) {
      if (refuses) return false
      recorder.execution({ by: id, command: 'act', nonce: address, value: undefined })
      return true
    },
  }
  const simulator = modbusSimulator(world, bank)
  return {
    framing: simulator.framing,
    isForMe: ([addressed]) => addressed === unit,
    answer(frame, refuse) {
      refuses = refuse
      kept = 0
      const reply = simulator.receive(frame)
      return reply && 'bytes' in reply ? reply.bytes : undefined
    },
  }
}

function textDevice({ plan, recorder }: StationParts): Inner {
  const { id } = plan
  let last = 0
  const answer = (frame: Uint8Array, refuse: boolean): string => {
    const request = requestOf('text', frame)
    if (!request) return 'ERR 1'
    if (refuse) return 'ERR 2'
    const { command, nonce = 0 } = request
    const record = (value?: number) => recorder.execution({ by: id, command, nonce, value })
    switch (command) {
      case 'last':
        return `L ${last}`
      case 'set':
        record()
        return 'S OK'
      case 'act':
        record()
        return `D ${nonce} OK`
      case 'act_read_back':
        record()
        last = nonce
        return 'X OK'
      default: {
        const value = recorder.uniqueValue()
        record(value)
        return command === 'ask' ? `A ${nonce} ${value}` : `V ${value}`
      }
    }
  }
  return {
    framing: lines({ terminator: '\r\n' }),
    isForMe: () => true,
    answer: (frame, refuse) => textLine(answer(frame, refuse)),
  }
}

function textLine(text: string): Uint8Array {
  return Buffer.from(`${text}\r\n`, 'latin1')
}
