/** The commands, in the order of the help. Each is loaded when it is asked for: a client needs no gateway. */
import type { Command } from './command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'start',
    summary: 'run the gateway in the foreground',
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'check',
    summary: 'validate a configuration and name every fault',
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'ports',
    summary: 'list the serial ports and what is in their way',
    load: async () => (await import('./ports.ts')).ports,
  },
  {
    name: 'types',
    summary: 'list the device types of the catalogue',
    load: async () => (await import('./types.ts')).types,
  },
  {
    name: 'tools',
    summary: 'list the tools of the running gateway',
    load: async () => (await import('./tools.ts')).tools,
  },
  {
    name: 'devices',
    summary: 'list the devices of the running gateway',
    load: async () => (await import('./devices.ts')).devices,
  },
  {
    name: 'call',
    summary: 'call one tool of the running gateway',
    load: async () => (await import('./call.ts')).call,
  },
  {
    name: 'batch',
    summary: 'run the calls of a file, in order',
    load: async () => (await import('./batch.ts')).batch,
  },
]

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name)
}
