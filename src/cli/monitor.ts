/** `baudway monitor`: the bytes on the wire, live. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import type { TraceEntry } from '../port/status.ts'
import type { PortView } from '../tool/home.ts'
import { nearest } from '../tool/nearest.ts'
import { type Command, CommandFault, DONE, defineCommand, FAILED, WRONG_USAGE } from './command.ts'
import { findGateway, GATEWAY_OPTIONS, type GatewayClient, listOf } from './gateway-client.ts'
import { printable } from './printable.ts'
import { coloured, type Terminal } from './terminal.ts'
import { readFilter, type TraceFilter } from './trace-filter.ts'
import { traceText } from './trace-text.ts'
import { watchTrace } from './trace-watch.ts'

export function monitorCommand(clock: Clock): Command {
  return defineCommand({
    options: {
      filter: { type: 'string', value: 'WHAT', help: 'show only tx, rx, HEX bytes, or /text/' },
      record: { type: 'string', value: 'FILE', help: 'also write all of it to a new FILE, as JSON lines' },
      json: { type: 'boolean', help: 'print JSON lines' },
      ...GATEWAY_OPTIONS,
    },
    positionals: { min: 0, max: 1, names: ['[PORT]'] },
    notes: [
      'PORT is the id of a port of the running gateway (admin); default all of them.',
      'Each line has the time, the milliseconds since the line before on that port,',
      '→ sent or ← received, and the bytes in hex and as text. Ends with Ctrl-C.',
      'What --record writes, "baudway replay" reads.',
    ],
    run: async (values, [port], terminal) => {
      const filter = filterOf(values.filter)
      const gateway = await findGateway(values, terminal)
      const ports = await portsOf(gateway, port)
      const record = recorderOf(values.record, terminal)
      try {
        const show = values.json ? printJson(terminal) : printText(terminal, ports)
        await follow({ gateway, ports, clock, terminal, record, filter, show })
        return DONE
      } finally {
        record.close()
      }
    },
  })
}

export const monitor = monitorCommand(systemClock)

interface PortEntry extends TraceEntry {
  readonly port: string
}

type Show = (entry: PortEntry, gapMs: number | undefined) => void

interface Following {
  readonly gateway: GatewayClient
  readonly ports: readonly string[]
  readonly clock: Clock
  readonly terminal: Terminal
  readonly record: Recorder
  readonly filter: TraceFilter
  readonly show: Show
}

/** Until a signal comes. A port that cannot be followed ends all of it. */
async function follow({ gateway, ports, clock, terminal, record, filter, show }: Following): Promise<void> {
  const end = new AbortController()
  const forget = terminal.onSignal(() => {
    if (end.signal.aborted) terminal.exit(FAILED)
    end.abort()
  })
  const note = (text: string) => terminal.complain(coloured(terminal, 'dim', printable(text)))
  const watches = ports.map((port) => {
    let lastAt: number | undefined
    return watchTrace({
      gateway,
      port,
      clock,
      signal: end.signal,
      onNote: note,
      onEntry: (entry, missed) => {
        if (missed > 0) note(`${port}: ${missed} entries were missed`)
        const at = Date.parse(entry.at)
        const gapMs = lastAt === undefined || missed > 0 ? undefined : at - lastAt
        lastAt = at
        const { seq, at: time, direction, hex, text, callId } = entry
        const own = { port, seq, at: time, direction, hex, text, ...(callId !== undefined && { callId }) }
        record.write(own)
        if (filter(own)) show(own, gapMs)
      },
    })
  })
  try {
    await Promise.all(watches)
  } finally {
    end.abort()
    forget()
    await Promise.allSettled(watches)
  }
}

function printText(terminal: Terminal, ports: readonly string[]): Show {
  const lines = traceText(terminal, ports)
  return (entry, gapMs) => {
    for (const line of lines({ ...entry, gapMs })) terminal.print(line)
  }
}

function printJson(terminal: Terminal): Show {
  return (entry) => terminal.print(JSON.stringify(entry))
}

function filterOf(text: string | undefined): TraceFilter {
  if (text === undefined) return () => true
  const filter = readFilter(text)
  if (typeof filter === 'function') return filter
  throw new CommandFault(WRONG_USAGE, `--filter: ${filter.fault}`)
}

async function portsOf(gateway: GatewayClient, named: string | undefined): Promise<readonly string[]> {
  const listed = listOf<PortView>(await gateway.get('/v1/ports'), 'ports', gateway.url).map(({ id }) => id)
  if (named === undefined) {
    if (listed.length > 0) return listed
    throw new CommandFault(FAILED, 'The gateway has no ports.')
  }
  if (listed.includes(named)) return [named]
  const near = nearest(named, listed)
  const meant =
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `It has ${listed.join(', ') || 'none'}.`
  throw new CommandFault(FAILED, `The gateway has no port "${printable(named)}". ${printable(meant)}`)
}

interface Recorder {
  write(entry: PortEntry): void
  close(): void
}

/** A line for each entry, written at once: a recording that is cut short is whole up to there. */
function recorderOf(file: string | undefined, terminal: Terminal): Recorder {
  if (file === undefined) return { write: () => {}, close: () => {} }
  let descriptor: number
  try {
    descriptor = openSync(resolve(terminal.directory, file), 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CommandFault(WRONG_USAGE, `${file} is there already: name another file.`)
    throw new CommandFault(FAILED, `${file} cannot be written (${code ?? 'no reason given'}).`)
  }
  return {
    write: (entry) => void writeSync(descriptor, `${JSON.stringify(entry)}\n`),
    close: () => closeSync(descriptor),
  }
}
