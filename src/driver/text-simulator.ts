/**
 * A simulated device of text lines. It answers the commands of its tools with texts of their patterns, and remembers:
 * what a tool sets is what a tool reads, by the name of the parameter or by what the read-back expects.
 */
import { type LineOptions, lines } from '../port/framer/lines.ts'
import type { DeviceSimulator, SimulatedReply, SimulatedWorld } from './device-type.ts'
import { textCommand } from './text-command.ts'
import { fieldOf } from './text-field.ts'
import { type Bindings, textOf, usablePattern } from './text-pattern.ts'
import { sampleText } from './text-sample.ts'
import { NO_REPLY, type TextToolSpec, type TextTools } from './text-tool.ts'

export interface SimulatedTextDevice {
  readonly tools: TextTools
  /** Queries that are no tools, with the patterns of their replies: the probe, the identity. */
  readonly queries: readonly { readonly command: string; readonly reply: string }[]
  /** Appended to every command; not empty. */
  readonly send: string
  /** Appended to every reply. */
  readonly ending: string
}

/** What the far end takes for the end of a command. */
function commandFraming(send: string) {
  const terminator = (['\r\n', '\r', '\n'] as const).find((end) => send.endsWith(end))
  const options: LineOptions = terminator === undefined ? { terminator: '\n', prompt: send } : { terminator }
  return lines(options)
}

export function textSimulator(device: SimulatedTextDevice, world: SimulatedWorld): DeviceSimulator {
  const state: Record<string, string> = {}
  // "MV?" is also what "MV{level}" looks like: a command without parameters is recognised first.
  const tools = Object.entries(device.tools).sort(([, one], [, other]) => arity(one) - arity(other))
  const suffix = device.send.replace(/[\r\n]+$/, '')
  const answer = (text: string): SimulatedReply => ({
    bytes: Buffer.from(text + device.ending),
    afterMs: 5 + 10 * world.random(),
  })
  return {
    framing: commandFraming(device.send),
    receive(frame) {
      const line = textOf(frame)
      const text = suffix !== '' && line.endsWith(suffix) ? line.slice(0, -suffix.length) : line
      for (const [name, tool] of tools) {
        const bindings = argumentsOf(tool, text)
        if (!bindings) continue
        remember(state, tool, bindings)
        world.executed(name, bindings)
        if (tool.reply === NO_REPLY) return undefined
        return answer(sampleText(usablePattern(tool.reply), { bindings, groups: state }))
      }
      const query = device.queries.find(({ command }) => command === text)
      return query && answer(sampleText(usablePattern(query.reply)))
    },
  }
}

function remember(state: Record<string, string>, tool: TextToolSpec, bindings: Bindings): void {
  if (tool.effect === 'read') return
  Object.assign(state, bindings)
  for (const [field, expected] of Object.entries(tool.readBack?.expect ?? {})) {
    state[field] = textCommand(String(expected)).text(bindings)
  }
}

function arity(tool: TextToolSpec): number {
  return Object.keys(tool.parameters ?? {}).length
}

/** Undefined: the text is not this command, or an argument in it is not what the command takes. */
function argumentsOf(tool: TextToolSpec, text: string): Bindings | undefined {
  const bindings = textCommand(tool.command).recognise(text)
  const fits = Object.entries(bindings ?? {}).every(
    ([name, argument]) => fieldOf(argument, tool.parameters?.[name]?.type ?? 'string') !== undefined,
  )
  return fits ? bindings : undefined
}
