/**
 * What a probe asks, in which order and for how long at most: pure. It asks only with commands that are declared as
 * pure reads and parallel-safe, so that asking the wrong device changes nothing.
 */
import { Check } from 'typebox/value'
import type { DeviceDescription, DeviceType, ToolSpec } from '../driver/device-type.ts'
import { characterMs, type LineSettings, type Parity } from '../port/request.ts'

/** One question. */
export interface Attempt {
  readonly type: DeviceType
  readonly device: DeviceDescription
  readonly command: string
  readonly spec: ToolSpec
  /** Null: the type has none. */
  readonly address: number | null
  /** From the first byte sent to the reply. */
  readonly timeoutMs: number
}

/** One opening of the port, and what is asked while it is open. */
export interface ProbeRound {
  readonly settings: LineSettings
  readonly attempts: readonly Attempt[]
}

export interface ProbeWishes {
  readonly types: readonly DeviceType[]
  /** Undefined: those that are plausible for each type. */
  readonly baudRates: readonly number[] | undefined
  readonly addresses: readonly number[]
}

/** A device on a cable answers sooner than this, whatever its type allows for the worst case. */
const TIMEOUT_MAX_MS = 400
/** An open, and the silence that a line may want before its first request. */
const OPEN_MS = 500
const GAP_MS = 60
/** A reply of a typical length. */
const REPLY_BYTES = 64

/** Lines on which several devices are set by hand: by how often they are met. */
const BUS_SETTINGS: readonly (readonly [baudRate: number, parity: Parity])[] = [
  [9600, 'none'],
  [19_200, 'even'],
  [19_200, 'none'],
  [9600, 'even'],
  [2400, 'none'],
  [4800, 'none'],
  [38_400, 'none'],
  [115_200, 'none'],
]

const LINE_DEFAULT: LineSettings = {
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: 'none',
  rtscts: false,
  hupcl: false,
}

/** Rounds of equal settings and framing, the likeliest first. */
export function planProbe({ types, baudRates, addresses }: ProbeWishes): readonly ProbeRound[] {
  const rounds = new Map<string, { settings: LineSettings; rank: number; attempts: Attempt[] }>()
  for (const type of types) {
    for (const [rank, settings] of settingsOf(type, baudRates).entries()) {
      for (const attempt of attemptsOf(type, addresses, settings)) {
        const key = JSON.stringify([settings, attempt.device.framing.key])
        const round = rounds.get(key) ?? { settings, rank, attempts: [] }
        round.attempts.push(attempt)
        rounds.set(key, round)
      }
    }
  }
  return [...rounds.values()].sort((one, other) => orderOf(one) - orderOf(other))
}

/** Devices that have a line to themselves first: the questions to a bus are many, and noise to such a device. */
function orderOf({
  rank,
  attempts,
}: {
  readonly rank: number
  readonly attempts: readonly Attempt[]
}): number {
  const isBus = attempts.some(({ address }) => address !== null)
  return isBus ? rank + 1 : 0
}

/** Types that say by themselves what their devices understand; others are told by the configuration. */
export function selfDescribed(types: Iterable<DeviceType>): readonly DeviceType[] {
  return [...types].filter(({ toolsConfigured, options }) => {
    const lists = Object.values(options.properties).some((key) => 'type' in key && key.type === 'array')
    return !toolsConfigured && !lists
  })
}

/** The longest that it can take. */
export function probeBoundMs(rounds: readonly ProbeRound[]): number {
  return rounds.reduce((sum, { attempts }) => {
    return attempts.reduce((part, { timeoutMs }) => part + timeoutMs + GAP_MS, sum + OPEN_MS)
  }, 0)
}

/** The command that a type is asked with; undefined: it has none that may be used for it. */
export function probeCommand(device: DeviceDescription): readonly [string, ToolSpec] | undefined {
  const fitting = Object.entries(device.tools).filter(([, spec]) => {
    const isAsked = spec.exchange !== undefined || spec.run !== undefined
    return spec.effect === 'read' && spec.parallelSafe === true && isAsked && takesNothing(spec)
  })
  return fitting.find(([name]) => name === device.poll?.tool) ?? fitting[0]
}

function takesNothing({ parameters }: ToolSpec): boolean {
  return parameters === undefined || Check(parameters, {})
}

function attemptsOf(type: DeviceType, addresses: readonly number[], settings: LineSettings): Attempt[] {
  const places = type.addressed ? addresses : [null]
  return places.flatMap((address) => {
    const options = address === null ? type.sample : { ...type.sample, address }
    if (!Check(type.options, options)) return []
    const device = type.describe(options as never)
    const found = probeCommand(device)
    if (!found) return []
    const [command, spec] = found
    const wantedMs = Math.min(spec.timeoutMs ?? device.line.timeoutMs, TIMEOUT_MAX_MS)
    const timeoutMs = Math.ceil(wantedMs + REPLY_BYTES * characterMs(settings))
    return [{ type, device, command, spec, address, timeoutMs }]
  })
}

function settingsOf(type: DeviceType, baudRates: readonly number[] | undefined): readonly LineSettings[] {
  const own = { ...LINE_DEFAULT, ...type.uart }
  const parities: readonly Parity[] = type.addressed ? ['none', 'even'] : [own.parity]
  const wanted = baudRates
    ? baudRates.flatMap((baudRate) => parities.map((parity) => ({ ...own, baudRate, parity })))
    : [
        own,
        ...(type.addressed ? BUS_SETTINGS : []).map(([baudRate, parity]) => ({ ...own, baudRate, parity })),
      ]
  const seen = new Map(wanted.map((settings) => [JSON.stringify(settings), settings]))
  return [...seen.values()]
}

/** `9600 8N1`. */
export function settingsText({ baudRate, dataBits, parity, stopBits }: LineSettings): string {
  return `${baudRate} ${dataBits}${parity.charAt(0).toUpperCase()}${stopBits}`
}
