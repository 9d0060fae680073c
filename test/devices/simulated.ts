/** A device simulator without a wire: requests in, replies out, and the log of what it really did. */
import type { DeviceDescription, SimulatedWorld } from '../../src/driver/device-type.ts'

export interface Simulated {
  readonly log: { readonly command: string; readonly detail: unknown }[]
  /** The bytes that come back, all replies in one. */
  ask(request: Uint8Array): Buffer
  /** Moves the world's time. */
  advance(ms: number): void
}

export function simulated(device: DeviceDescription): Simulated {
  const log: Simulated['log'] = []
  let nowMs = 0
  const world: SimulatedWorld = {
    now: () => nowMs,
    random: () => 0.5,
    executed: (command, detail) => log.push({ command, detail }),
    send: () => {},
    every: () => {},
  }
  if (!device.simulator) throw new Error('the device has no simulator')
  const simulator = device.simulator(world)
  const replies: Uint8Array[] = []
  const framer = simulator.framing.create({
    frame(frame) {
      const answer = simulator.receive(frame)
      if (answer === undefined) return
      for (const reply of [answer].flat()) replies.push('bytes' in reply ? reply.bytes : new Uint8Array(0))
    },
    error: () => {},
  })
  return {
    log,
    ask(request) {
      replies.length = 0
      framer.push(request)
      return Buffer.concat(replies)
    },
    advance(ms) {
      nowMs += ms
    },
  }
}
