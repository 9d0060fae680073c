/** A port opened for a probe, with none of a gateway around it: asked question by question, then closed. */
import { type Clock, newId } from '../clock.ts'
import { DeviceDriver } from '../driver/driver.ts'
import { GatewayError, messageOf } from '../errors.ts'
import { silentLog } from '../log.ts'
import type { BindingInterface } from '../port/binding-interface.ts'
import { DeviceRegistry } from '../port/device-registry.ts'
import type { Host } from '../port/host.ts'
import { Port } from '../port/port.ts'
import { CommandFault, FAILED } from './command.ts'
import type { Attempt, ProbeRound } from './probe-plan.ts'

export type Answer =
  | { readonly kind: 'value'; readonly value: unknown }
  /** It is there, and says no or that it is busy. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Bytes came that are no reply. */
  | { readonly kind: 'garbled'; readonly message: string }
  | { readonly kind: 'silence' }

export interface ProbeLine {
  ask(attempt: Attempt): Promise<Answer>
  close(): Promise<void>
}

export interface ProbePlace {
  readonly path: string
  readonly binding: BindingInterface
  readonly host: Host
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Rejects with a CommandFault that says why the port cannot be opened. */
export async function openProbeLine(place: ProbePlace, round: ProbeRound): Promise<ProbeLine> {
  const { path, binding, host, clock, signal } = place
  const [first] = round.attempts
  if (!first) throw new CommandFault(FAILED, 'There is nothing to ask.')
  let changed = () => {}
  const port = new Port({
    id: 'probe',
    path,
    settings: round.settings,
    framing: first.device.framing,
    binding,
    host,
    devices: new DeviceRegistry(),
    clock,
    log: silentLog,
    onUnsolicited: () => false,
    onChange: () => changed(),
  })
  const opened = new Promise<void>((resolve) => {
    changed = () => {
      if (port.state !== 'opening') resolve()
    }
  })
  port.start()
  await opened
  if (port.state !== 'open') {
    const { lastError } = port.status()
    await port.stop()
    throw new CommandFault(FAILED, `${path} cannot be opened: ${lastError ?? 'no reason given'}`)
  }
  return { ask: (attempt) => ask(port, attempt, clock, signal), close: () => port.stop() }
}

async function ask(port: Port, attempt: Attempt, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const { type, device, command, spec, timeoutMs } = attempt
  const heardBefore = port.status().counters.bytesReceived
  const driver = new DeviceDriver({
    // A probe is as patient with every type, and nobody waits for what comes later.
    device: {
      id: newId(clock, 'p'),
      name: type.title,
      area: null,
      type: type.type,
      replyLatencyMaxMs: timeoutMs,
    },
    description: { ...device, tools: { ...device.tools, [command]: { ...spec, timeoutMs } } },
    addressed: type.addressed,
    port,
    clock,
    log: silentLog,
  })
  try {
    const progress = { sent: false, wireMs: 0 }
    return { kind: 'value', value: (await driver.prepare(command, {}).run({ signal, progress })).value }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    switch (error.code) {
      case 'device_error':
      case 'device_busy':
        return { kind: 'refused', message: error.message }
      case 'timeout':
      case 'bad_reply':
        return port.status().counters.bytesReceived > heardBefore
          ? { kind: 'garbled', message: error.message }
          : { kind: 'silence' }
      default:
        throw new CommandFault(FAILED, `The probe was broken off: ${messageOf(error)}`)
    }
  }
}
