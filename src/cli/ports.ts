/** `baudway ports`: the serial ports of this machine, and what is in their way. It needs no running gateway. */
import { type Enumeration, enumeratePorts, type FoundPort } from '../port/enumeration.ts'
import { holderText, type Obstacle } from '../port/obstacle.ts'
import { type Command, DONE, defineCommand } from './command.ts'
import { printable, printableJson } from './printable.ts'
import { type Cell, table } from './table.ts'
import type { Colour, Terminal } from './terminal.ts'
import { labelled } from './wrapped.ts'

/** `enumerate`: how the ports are found. */
export function portsCommand(enumerate: () => Promise<Enumeration>): Command {
  return defineCommand({
    options: { json: { type: 'boolean', help: 'print everything that is known of each port' } },
    positionals: { min: 0, max: 0, names: [] },
    notes: ['No port is opened for it.'],
    run: async (values, _positionals, terminal) => {
      const found = await enumerate()
      if (values.json) terminal.print(printableJson({ ports: found.ports }))
      else if (found.ports.length > 0)
        for (const line of portLines(found.ports, terminal)) terminal.print(line)
      else terminal.complain(NOTHING_FOUND)
      if (!values.json && found.unseenProcesses > 0) terminal.complain(SOME_UNSEEN)
      return DONE
    },
  })
}

export const ports = portsCommand(() => enumeratePorts())

const NOTHING_FOUND =
  'No serial port was found. An adapter that is plugged in should show up in `sudo dmesg`; a container sees those it was given.'
const SOME_UNSEEN =
  'The open files of some processes could not be seen: with sudo, every holder of a port is found.'

const COLUMNS = [{ title: 'PORT' }, { title: 'WHAT', cut: true }, { title: 'STATE', cut: true }]
const INDENT = '  '

type Screen = Pick<Terminal, 'colour' | 'columns'>

/**
 * A row for each port, and below it the link to configure and what to do about each obstacle. These are not cut, and
 * what is the same for several ports is said at the first.
 */
export function portLines(found: readonly FoundPort[], screen: Screen): string[] {
  const [titles = '', ...rows] = table(COLUMNS, found.map(row), screen)
  const said = new Set<string>()
  const lines = [titles]
  for (const [index, { stablePath, obstacles }] of found.entries()) {
    lines.push(rows[index] ?? '')
    if (stablePath !== null) lines.push(`${INDENT}path: ${printable(stablePath)}`)
    for (const obstacle of obstacles) {
      const text = `${obstacle.reason}. ${obstacle.cure}`
      if (!said.has(text)) lines.push(...adviceLines(obstacle, text, screen))
      said.add(text)
    }
  }
  return lines
}

function row({ path, what, holder, obstacles }: FoundPort): Cell[] {
  const blocked = obstacles.some(({ blocking }) => blocking)
  const colour: Colour = blocked ? 'red' : obstacles.length > 0 ? 'yellow' : 'green'
  const words = obstacles.map(({ kind }) => STATES[kind])
  const state = words.length === 0 ? 'free' : words.join(', ')
  const isHeld = holder !== null && obstacles.some(({ kind }) => kind === 'locked' || kind === 'in_use')
  return [path, what, { text: isHeld ? `${state}: ${holderText(holder)}` : state, colour }]
}

const STATES: Readonly<Record<Obstacle['kind'], string>> = {
  no_node: 'no device node',
  no_permission: 'no permission',
  radio_stick: 'radio stick',
  locked: 'locked',
  in_use: 'in use',
  serial_console: 'serial console',
  modem_manager: 'ModemManager',
  shared_link: 'shared by-id link',
  mini_uart: 'speed not fixed',
}

function adviceLines({ kind, blocking }: Obstacle, text: string, screen: Screen): string[] {
  const label = STATES[kind]
  return labelled(label, text, INDENT, screen, blocking ? 'red' : 'yellow')
}
