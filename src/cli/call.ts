/** `baudway call`: one call, its arguments typed by the tool's own schema. */
import type { CallResult, ToolView } from '../tool/shapes.ts'
import { CommandFault, DONE, defineCommand, FAILED, WRONG_USAGE } from './command.ts'
import { findGateway, GATEWAY_OPTIONS, listOf } from './gateway-client.ts'
import { printableJson } from './printable.ts'
import { resultLines } from './result-text.ts'
import { readArgumentObject, readArguments } from './tool-arguments.ts'

export const call = defineCommand({
  options: {
    args: { type: 'string', value: 'JSON', help: 'the arguments as a JSON object; name=value adds to it' },
    confirmation: { type: 'string', value: 'ID', help: 'the confirmation that a person has approved' },
    json: { type: 'boolean', help: 'print the result as HTTP answers it' },
    ...GATEWAY_OPTIONS,
  },
  positionals: { min: 1, max: Number.POSITIVE_INFINITY, names: ['TOOL', '[name=value …]'] },
  notes: [
    'A value is read as the tool wants it: a number, true or false, text, or JSON',
    'for objects and arrays.',
  ],
  run: async (values, positionals, terminal) => {
    const [name = '', ...pairs] = positionals
    const gateway = await findGateway(values, terminal)
    const listed = listOf<ToolView>(await gateway.get('/v1/tools'), 'tools', gateway.url)
    // A tool that is not listed is asked for all the same: the gateway knows which names come near.
    const tool = listed.find((candidate) => candidate.name === name)
    const args = argumentsOf(values.args, pairs, tool)
    const { confirmation } = values
    const request = { name, arguments: args, ...(confirmation !== undefined && { confirmation }) }
    const result = (await gateway.post('/v1/calls', request)) as CallResult
    if (values.json) terminal.print(printableJson(result))
    else for (const line of resultLines(result, tool, terminal)) terminal.print(line)
    return result.status === 'ok' ? DONE : FAILED
  },
})

function argumentsOf(json: string | undefined, pairs: readonly string[], tool: ToolView | undefined) {
  const whole = json === undefined ? { arguments: {} } : readArgumentObject(json)
  const single = readArguments(pairs, tool?.parameters)
  const faults = [whole, single].flatMap((reading) => ('faults' in reading ? reading.faults : []))
  if ('faults' in whole || 'faults' in single) throw new CommandFault(WRONG_USAGE, ...faults)
  const twice = Object.keys(single.arguments).filter((name) => Object.hasOwn(whole.arguments, name))
  if (twice.length > 0) {
    throw new CommandFault(WRONG_USAGE, ...twice.map((name) => `${name} is given twice, also in --args`))
  }
  return { ...whole.arguments, ...single.arguments }
}
