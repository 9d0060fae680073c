/** `baudway probe`: asks what answers on a port. It opens the port itself, and only where nobody else has it. */
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import type { DeviceType } from '../driver/device-type.ts'
import { createSystemBinding } from '../port/binding.ts'
import type { BindingInterface } from '../port/binding-interface.ts'
import { enumeratePorts, type FoundPort } from '../port/enumeration.ts'
import { type Host, type Inspection, linuxHost } from '../port/host.ts'
import { holderText } from '../port/obstacle.ts'
import { type Command, CommandFault, DONE, defineCommand, FAILED, WRONG_USAGE } from './command.ts'
import { findType, loadTypes, OWN_TYPES_OPTION } from './device-types.ts'
import { isAlive, readGatewayFile } from './gateway-file.ts'
import { printable, printableJson } from './printable.ts'
import { type Answer, openProbeLine, type ProbePlace } from './probe-line.ts'
import {
  type Attempt,
  type ProbeRound,
  planProbe,
  probeBoundMs,
  probeCommand,
  selfDescribed,
  settingsText,
} from './probe-plan.ts'
import { valueText } from './result-text.ts'
import { stateDirectories } from './state-directory.ts'
import { coloured, type Terminal } from './terminal.ts'

export interface ProbeHost {
  readonly binding: () => BindingInterface
  readonly host: Host
  readonly clock: Clock
  readonly enumerate: () => Promise<readonly FoundPort[]>
}

const ADDRESSES_DEFAULT = '1-8'
const ADDRESS_MAX = 247
/** `115200 8N1`. */
const SETTINGS_WIDTH = 11

export function probeCommandOn(place: ProbeHost): Command {
  return defineCommand({
    options: {
      type: { type: 'string', value: 'TYPE', help: 'ask for this device type only' },
      baud: { type: 'string', value: 'RATES', help: 'such as 9600,19200; default what is plausible' },
      address: {
        type: 'string',
        value: 'RANGE',
        help: `addresses on a bus, such as 1-32; default ${ADDRESSES_DEFAULT}`,
      },
      ...OWN_TYPES_OPTION,
      json: { type: 'boolean', help: 'print everything that was tried as JSON' },
    },
    positionals: { min: 1, max: 1, names: ['PORT'] },
    notes: [
      'PORT is a path; see "baudway ports". It asks only with commands that are',
      'declared as pure reads and parallel-safe. Ends with Ctrl-C.',
    ],
    run: async (values, [port = ''], terminal) => {
      const types = await loadTypes(values.dir, terminal)
      const wanted =
        values.type === undefined ? selfDescribed(types.values()) : [findType(types, values.type)]
      const rounds = planProbe({
        types: wanted,
        baudRates: values.baud === undefined ? undefined : baudRatesOf(values.baud),
        addresses: addressesOf(values.address ?? ADDRESSES_DEFAULT),
      })
      if (rounds.length === 0) throw nothingToAsk(wanted)
      const path = resolve(terminal.directory, port)
      await checkPort(path, place, terminal)
      return probeAll(rounds, path, place, terminal, values.json ?? false)
    },
  })
}

export const probe = probeCommandOn({
  binding: createSystemBinding,
  host: linuxHost,
  clock: systemClock,
  enumerate: async () => (await enumeratePorts()).ports,
})

interface Tried {
  readonly attempt: Attempt
  readonly round: ProbeRound
  readonly answer: Answer
}

async function probeAll(
  rounds: readonly ProbeRound[],
  path: string,
  { binding, host, clock }: ProbeHost,
  terminal: Terminal,
  asJson: boolean,
): Promise<number> {
  const end = new AbortController()
  const forget = terminal.onSignal(() => {
    if (end.signal.aborted) terminal.exit(FAILED)
    end.abort()
  })
  const questions = rounds.reduce((sum, { attempts }) => sum + attempts.length, 0)
  const seconds = Math.ceil(probeBoundMs(rounds) / 1_000)
  terminal.complain(
    `${questions === 1 ? '1 question' : `${questions} questions`} on ${printable(path)}, at most ${seconds} s. Ctrl-C ends it.`,
  )
  const tried: Tried[] = []
  try {
    const place = { path, binding: binding(), host, clock, signal: end.signal }
    for (const round of rounds) {
      if (end.signal.aborted || answered(tried, round)) continue
      const found = await askRound(place, round)
      tried.push(...found)
      if (!asJson) for (const line of roundLines(round, found, terminal)) terminal.print(line)
    }
  } finally {
    forget()
  }
  const hits = tried.filter(isAnswer)
  if (asJson) terminal.print(printableJson({ port: path, tried: tried.map(view) }))
  else for (const line of verdictLines(hits, tried, path)) terminal.print(line)
  return hits.length > 0 ? DONE : FAILED
}

/** A line has one speed: what answered at one ends all others; a device without an address has its line to itself. */
function answered(tried: readonly Tried[], round: ProbeRound): boolean {
  return tried.filter(isAnswer).some(({ attempt, round: { settings } }) => {
    return attempt.address === null || settingsText(settings) !== settingsText(round.settings)
  })
}

function isAnswer({ answer }: Tried): boolean {
  return answer.kind === 'value' || answer.kind === 'refused'
}

async function askRound(place: ProbePlace, round: ProbeRound): Promise<Tried[]> {
  const line = await openProbeLine(place, round)
  const tried: Tried[] = []
  try {
    for (const attempt of round.attempts) {
      if (place.signal.aborted) break
      tried.push({ attempt, round, answer: await line.ask(attempt) })
    }
    return tried
  } finally {
    await line.close()
  }
}

/** A row for the settings with the addresses that were silent, and one for each answer. */
function roundLines({ settings }: ProbeRound, tried: readonly Tried[], terminal: Terminal): string[] {
  const silent = new Map<string, (number | null)[]>()
  const lines: string[] = []
  for (const { attempt, answer } of tried) {
    const name = attempt.type.type
    if (answer.kind === 'silence') silent.set(name, [...(silent.get(name) ?? []), attempt.address])
    else lines.push(`  ${answerText(attempt, answer, terminal)}`)
  }
  const quiet = Array.from(silent, ([name, addresses]) => name + addressText(addresses)).join(', ')
  if (quiet === '') return [settingsText(settings), ...lines]
  const head = settingsText(settings).padEnd(SETTINGS_WIDTH)
  return [`${head} ${coloured(terminal, 'dim', `silent: ${quiet}`)}`, ...lines]
}

function addressText(addresses: readonly (number | null)[]): string {
  const numbers = addresses.filter((address) => address !== null)
  const [first] = numbers
  const last = numbers.at(-1)
  if (first === undefined || last === undefined) return ''
  const isRun = last - first === numbers.length - 1 && numbers.length > 2
  return ` ${isRun ? `${first}-${last}` : numbers.join('+')}`
}

function answerText({ type, command, address }: Attempt, answer: Answer, terminal: Terminal): string {
  const who = address === null ? type.type : `${type.type} at address ${address}`
  switch (answer.kind) {
    case 'value':
      return (
        printable(`${who}: `) + coloured(terminal, 'green', printable(`${command} ${fieldsOf(answer.value)}`))
      )
    case 'refused':
      return printable(`${who}: something answers, and refuses ${command}: `) + printable(answer.message)
    case 'garbled':
      return coloured(
        terminal,
        'yellow',
        `${who}: bytes came that are no reply; the speed or the type is another`,
      )
    case 'silence':
      return `${who}: silent`
  }
}

function fieldsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return valueText(value)
  return Object.entries(value)
    .map(([name, field]) => `${name} ${valueText(field)}`)
    .join(', ')
}

function verdictLines(hits: readonly Tried[], tried: readonly Tried[], path: string): readonly string[] {
  const good = hits.filter(({ answer }) => answer.kind === 'value')
  if (good.length > 0) {
    return [
      '',
      'In baudway.yaml, the models and keys as yours are:',
      ...good.map(({ attempt: { type, address }, round: { settings } }) => {
        const { baudRate, parity } = settings
        const line = `path: ${path}, baudRate: ${baudRate}${parity === 'none' ? '' : `, parity: ${parity}`}`
        const at = address === null ? '' : `, address: ${address}`
        const id = `${type.type.replaceAll('-', '_')}${address === null ? '' : `_${address}`}`
        return `  - { id: ${id}, type: ${type.type}${at}, port: { ${line} } }`
      }),
    ]
  }
  if (hits.length > 0) return ['', 'Something is there, and it is of another type: see "baudway types".']
  if (tried.some(({ answer }) => answer.kind === 'garbled')) {
    return ['', 'Bytes came, and no answer: try other speeds with --baud, or one type with --type.']
  }
  return [
    '',
    'Nothing answered. See that it has power, that A and B or RX and TX are not',
    'crossed, and whether its speed or address is another (--baud, --address).',
  ]
}

function view({ attempt, round, answer }: Tried) {
  const { type, command, address } = attempt
  return { settings: round.settings, type: type.type, command, address, answer }
}

async function checkPort(path: string, { host, enumerate }: ProbeHost, terminal: Terminal): Promise<void> {
  const found = await host.inspect(path)
  const sentence = await obstacleText(path, found, terminal)
  if (sentence) throw new CommandFault(FAILED, ...sentence)
  const resolved = found.kind === 'present' ? found.resolvedPath : path
  const known = (await enumerate()).find((port) => port.path === resolved)
  const obstacle = known?.obstacles.find(({ blocking }) => blocking)
  if (obstacle) throw new CommandFault(FAILED, `${path}: ${obstacle.reason}.`, obstacle.cure)
}

async function obstacleText(
  path: string,
  found: Inspection,
  terminal: Terminal,
): Promise<readonly string[] | undefined> {
  switch (found.kind) {
    case 'present':
      return undefined
    case 'absent':
      return [`${path} does not exist.`, 'PORT is the path of a serial port: see "baudway ports".']
    case 'denied':
    case 'unfit':
      return [`${found.reason}.`, 'See "baudway ports" for what to do about it.']
    case 'busy': {
      if (await isGateway(found.holder.pid, terminal)) {
        return [
          `The running gateway holds ${path}, and two that talk at once garble each other.`,
          'Let it give up the port first: baudway release PORT --for 5m (PORT as in its configuration).',
        ]
      }
      return [`${path} is held by ${holderText(found.holder)}.`, 'End that program first.']
    }
  }
}

async function isGateway(pid: number | null, terminal: Terminal): Promise<boolean> {
  for (const directory of stateDirectories(terminal)) {
    const file = await readGatewayFile(directory).catch(() => undefined)
    if (file && isAlive(file) && file.pid === pid) return true
  }
  return false
}

function nothingToAsk(types: readonly DeviceType[]): CommandFault {
  const [type] = types
  if (types.length !== 1 || !type) return new CommandFault(WRONG_USAGE, 'No device type can be asked for.')
  const device = type.describe(type.sample)
  if (probeCommand(device) !== undefined) {
    return new CommandFault(WRONG_USAGE, `--address: ${type.type} has no address in that range`)
  }
  const why = device.pushed
    ? 'speaks of its own accord and is never asked. Configure it, and look with "baudway monitor".'
    : 'has no command that is declared as a pure read and parallel-safe.'
  return new CommandFault(WRONG_USAGE, `--type: ${type.type} ${why}`)
}

function baudRatesOf(text: string): readonly number[] {
  const rates = text.split(',').map((part) => (/^[0-9]{2,7}$/.test(part.trim()) ? Number(part) : 0))
  if (rates.every((rate) => rate >= 50 && rate <= 4_000_000)) return [...new Set(rates)]
  throw new CommandFault(WRONG_USAGE, `--baud: "${text}" is not a list of speeds such as 9600,19200`)
}

/** `1-32`, `3` or `1,5-8`. */
function addressesOf(text: string): readonly number[] {
  const addresses = text.split(',').flatMap((part) => {
    const [, first = '', last = first] = /^\s*([0-9]{1,3})(?:\s*-\s*([0-9]{1,3}))?\s*$/.exec(part) ?? []
    const [from, to] = [Number(first), Number(last)]
    const fits = first !== '' && from >= 1 && to <= ADDRESS_MAX && from <= to
    return fits ? Array.from({ length: to - from + 1 }, (_, index) => from + index) : [0]
  })
  if (!addresses.includes(0)) return [...new Set(addresses)]
  throw new CommandFault(
    WRONG_USAGE,
    `--address: "${text}" is not a range within 1-${ADDRESS_MAX}, such as 1-32`,
  )
}
