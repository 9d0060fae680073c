/** The faults of a plan, found by what they happen to. */
import type { WireFaults } from '../../src/simulator/wire.ts'
import type { Fate, Fault, OperationFailure, PortPlan } from './plan.ts'

export interface FateTable {
  fate(device: string, request: number): Fate | undefined
}

export function fatesOf(faults: readonly Fault[]): FateTable {
  const fates = new Map<string, Fate>()
  for (const fault of faults) {
    if (fault.kind === 'fate') fates.set(`${fault.device} ${fault.request}`, fault.fate)
  }
  return { fate: (device, request) => fates.get(`${device} ${request}`) }
}

/** What becomes of the bytes of a wire, and in what pieces the host reads them. */
export function wireFaultsOf(faults: readonly Fault[], port: PortPlan): WireFaults {
  const flips = new Map<string, number>()
  for (const fault of faults) {
    if (fault.kind === 'byte' && fault.port === port.id)
      flips.set(`${fault.heading} ${fault.index}`, fault.flip)
  }
  const counts = { to_far_end: 0, to_host: 0 }
  const { chunkBytes } = port
  return {
    ...(chunkBytes === undefined ? {} : { chunkBytes: () => chunkBytes }),
    ...(flips.size === 0
      ? {}
      : {
          byte: (heading, value) => {
            const flip = flips.get(`${heading} ${counts[heading]}`)
            counts[heading] += 1
            if (flip === undefined) return value
            return flip === 0 ? null : value ^ flip
          },
        }),
  }
}

/** How the n-th operation of the binding of a port fails; undefined: it does not. */
export function operationFailureOf(
  faults: readonly Fault[],
  port: string,
  index: number,
): OperationFailure | undefined {
  for (const fault of faults) {
    if (fault.kind !== 'operation' || fault.port !== port) continue
    if (fault.index === index || (fault.persistent && fault.index < index)) return fault.how
  }
  return undefined
}
