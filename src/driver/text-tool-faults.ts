/** What is wrong, or looks unsafe, in tools of text that a configuration describes. Fields are JSON pointers. */
import { declarationFaults } from './declaration-faults.ts'
import { NAME_PATTERN } from './define-device.ts'
import type { OptionFault } from './device-type.ts'
import { patternsOverlap } from './pattern-overlap.ts'
import { textCommand } from './text-command.ts'
import { readPattern, type TextPattern } from './text-pattern.ts'
import { NO_REPLY, type TextToolSpec, type TextTools } from './text-tool.ts'

const FIELD_NAME = new RegExp(NAME_PATTERN)

/** A pattern that must be usable, and any parameters that it may name. */
export function* patternFaults(
  field: string,
  source: string,
  parameters: readonly string[] = [],
): Generator<OptionFault, TextPattern | undefined> {
  const read = readPattern(source)
  if ('fault' in read) {
    yield { field, message: `the pattern cannot be used: ${read.fault}` }
    return undefined
  }
  for (const name of read.pattern.parameters) {
    if (!parameters.includes(name)) yield { field, message: `there is no parameter ${name}` }
  }
  for (const name of read.pattern.groups) {
    if (!FIELD_NAME.test(name)) {
      yield { field, message: `the group ${name} is a field: lower-case words joined by underscores` }
    }
  }
  return read.pattern
}

export function* toolFaults(tools: TextTools): Generator<OptionFault> {
  for (const [name, tool] of Object.entries(tools)) {
    const field = `/tools/${name}`
    yield* textFaults(field, tool)
    yield* readBackFaults(field, tool, tools)
    yield* declarationFaults(field, tool)
    yield* proofFaults(field, tool)
  }
}

/** A probe is what tells a device that is there from a late reply: it must not look like the reply of a tool. */
export function* probeFaults(field: string, probeReply: string, tools: TextTools): Generator<OptionFault> {
  const probe = readPattern(probeReply)
  if ('fault' in probe) return
  for (const [name, tool] of Object.entries(tools)) {
    const reply = tool.reply === NO_REPLY ? undefined : readPattern(tool.reply)
    if (reply && 'pattern' in reply && patternsOverlap(probe.pattern, reply.pattern)) {
      yield { field, message: `a reply to ${name} could match it as well: a probe's reply must be its own` }
    }
  }
}

function* textFaults(field: string, tool: TextToolSpec): Generator<OptionFault> {
  const parameters = Object.keys(tool.parameters ?? {})
  const { parameters: inserted } = textCommand(tool.command)
  for (const name of inserted) {
    if (!parameters.includes(name)) {
      yield { field: `${field}/command`, message: `there is no parameter ${name}` }
    }
  }
  for (const name of parameters) {
    if (!inserted.includes(name)) {
      yield { field: `${field}/parameters/${name}`, message: 'the command does not contain it' }
    }
  }
  if (tool.reply === NO_REPLY) {
    for (const key of ['refuse', 'returns'] as const) {
      if (tool[key] !== undefined)
        yield { field: `${field}/${key}`, message: 'there is no reply to wait for' }
    }
    return
  }
  const reply = yield* patternFaults(`${field}/reply`, tool.reply, parameters)
  if (tool.refuse !== undefined) yield* patternFaults(`${field}/refuse`, tool.refuse, parameters)
  for (const name of Object.keys(tool.returns ?? {})) {
    if (reply && !reply.groups.includes(name)) {
      yield { field: `${field}/returns/${name}`, message: `the reply has no group (?<${name}>…)` }
    }
  }
}

function* readBackFaults(field: string, tool: TextToolSpec, tools: TextTools): Generator<OptionFault> {
  const { readBack } = tool
  if (!readBack) return
  const shown = Object.hasOwn(tools, readBack.tool) ? tools[readBack.tool] : undefined
  if (shown?.effect !== 'read' || shown.reply === NO_REPLY) {
    yield { field: `${field}/readBack/tool`, message: `${readBack.tool} is no tool that reads` }
    return
  }
  const parameters = Object.keys(tool.parameters ?? {})
  for (const name of Object.keys(shown.parameters ?? {})) {
    if (!parameters.includes(name)) {
      yield { field: `${field}/readBack/tool`, message: `${readBack.tool} needs a parameter ${name}` }
    }
  }
  if (Object.keys(readBack.expect).length === 0) {
    yield { field: `${field}/readBack/expect`, message: 'nothing expected proves nothing' }
  }
  const reply = readPattern(shown.reply)
  for (const [name, expected] of Object.entries(readBack.expect)) {
    const pointer = `${field}/readBack/expect/${name}`
    if ('pattern' in reply && !reply.pattern.groups.includes(name)) {
      yield { field: pointer, message: `${readBack.tool} returns no ${name}` }
    }
    for (const wanted of textCommand(String(expected)).parameters) {
      if (!parameters.includes(wanted)) yield { field: pointer, message: `there is no parameter ${wanted}` }
    }
  }
}

function* proofFaults(field: string, { effect, reply, readBack }: TextToolSpec): Generator<OptionFault> {
  const bound = reply === NO_REPLY ? undefined : readPattern(reply)
  if (effect === 'set' && bound && 'pattern' in bound && bound.pattern.parameters.length === 0 && !readBack) {
    const message = 'its reply does not show what was set: bind a parameter in it, or give a "readBack"'
    yield { field: `${field}/reply`, severity: 'warning', message }
  }
}
