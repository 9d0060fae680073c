/** The commands, in the order of the help. Each is loaded when it is asked for: a client needs no gateway. */
import type { CommandEntry } from './command.ts'

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
    name: 'probe',
    summary: 'ask what answers on a port, by reading only',
    load: async () => (await import('./probe.ts')).probe,
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
  {
    name: 'plan',
    summary: 'show what a batch would do, and run nothing',
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    name: 'monitor',
    summary: 'show the bytes on the wire, live',
    load: async () => (await import('./monitor.ts')).monitor,
  },
  {
    name: 'send',
    summary: 'send raw bytes through a port',
    load: async () => (await import('./send.ts')).send,
  },
  {
    name: 'release',
    summary: 'give up a port for a while',
    load: async () => (await import('./release.ts')).release,
  },
  {
    name: 'stop',
    summary: 'stop everything that moves, or release the stop',
    load: async () => (await import('./stop.ts')).stop,
  },
  {
    name: 'replay',
    summary: 'play a recorded trace against a device type',
    load: async () => (await import('./replay.ts')).replay,
  },
  {
    name: 'new-device',
    summary: 'write a device file to start from, and its test',
    load: async () => (await import('./new-device.ts')).newDevice,
  },
  {
    name: 'completion',
    summary: 'print the completion script for a shell',
    load: async () => (await import('./completion.ts')).completionCommand(COMMANDS),
  },
]

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name)
}
