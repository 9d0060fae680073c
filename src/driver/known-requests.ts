/** The requests that a device can be sent, as far as they can be listed: of its examples, its polls, its arguments. */
import type { TSchema } from 'typebox'
import { bytesOf } from './contract-vectors.ts'
import type { DeviceDescription, Exchange, ToolSpec } from './device-type.ts'

export interface KnownRequest {
  readonly tool: string
  readonly arguments: Arguments
  readonly exchange: Exchange<unknown>
}

type Arguments = Readonly<Record<string, unknown>>

/** The sets of arguments that are tried for one tool. */
const ARGUMENTS_MAX = 1_024
/** Integers of a wider range are not counted through. */
const INTEGERS_MAX = 256

export interface KnownRequests {
  /** By the hex of the request; of equal ones, the first tool's. */
  readonly byBytes: ReadonlyMap<string, KnownRequest>
  readonly all: readonly KnownRequest[]
}

export function knownRequests(device: DeviceDescription): KnownRequests {
  const byBytes = new Map<string, KnownRequest>()
  const add = (known: KnownRequest) => {
    const key = Buffer.from(known.exchange.request).toString('hex')
    if (!byBytes.has(key)) byBytes.set(key, known)
  }
  for (const [tool, spec] of Object.entries(device.tools)) {
    for (const known of requestsOf(tool, spec)) add(known)
  }
  const { poll, identity, boot } = device
  for (const exchange of poll?.parts ?? []) add({ tool: poll?.tool ?? '', arguments: {}, exchange })
  if (identity) add({ tool: 'identity', arguments: {}, exchange: identity.exchange })
  if (boot?.probe) add({ tool: 'boot probe', arguments: {}, exchange: boot.probe })
  return { byBytes, all: [...byBytes.values()] }
}

function requestsOf(tool: string, spec: ToolSpec): KnownRequest[] {
  const examples = spec.examples ?? []
  if (!spec.exchange) {
    // The steps of a run are known by its examples alone; what they say is for the run to decode.
    return examples.flatMap(({ arguments: args = {}, exchanges = [] }) =>
      exchanges.map((step) => ({
        tool,
        arguments: args,
        exchange: { request: bytesOf(step.request), reply: null },
      })),
    )
  }
  const shown = examples.flatMap(({ arguments: args, request }) => (args || request ? [args ?? {}] : []))
  return [...shown, ...argumentSets(spec)].flatMap((args) => {
    try {
      const exchange = spec.exchange(args)
      const readBack = spec.readBack?.(args)
      const sent = [exchange, ...(readBack ? [readBack.exchange] : [])]
      return sent.map((one) => ({ tool, arguments: args, exchange: one }))
    } catch {
      // The device's own code does not take them.
      return []
    }
  })
}

/** Every set of arguments, where each has few values; none, where one has many. */
function argumentSets({ parameters }: ToolSpec): readonly Arguments[] {
  let sets: Arguments[] = [{}]
  for (const [name, schema] of Object.entries<TSchema>(parameters?.properties ?? {})) {
    const values = valuesOf(schema as Readonly<Record<string, unknown>>)
    if (values.length * sets.length > ARGUMENTS_MAX) return []
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value })))
  }
  return sets
}

function valuesOf(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (Array.isArray(schema.enum)) return schema.enum
  if ('const' in schema) return [schema.const]
  if (schema.type === 'boolean') return [true, false]
  const { minimum, maximum } = schema
  if (schema.type !== 'integer' || typeof minimum !== 'number' || typeof maximum !== 'number') return []
  const count = maximum - minimum + 1
  return count > INTEGERS_MAX ? [] : Array.from({ length: count }, (_, index) => minimum + index)
}
