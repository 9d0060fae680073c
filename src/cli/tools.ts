/** `baudway tools`: what may be called. */
import type { ToolView } from '../tool/shapes.ts'
import { DONE, defineCommand } from './command.ts'
import { findGateway, GATEWAY_OPTIONS, listOf } from './gateway-client.ts'
import { printableJson } from './printable.ts'
import { table } from './table.ts'

export const tools = defineCommand({
  options: { json: { type: 'boolean', help: 'print what HTTP answers' }, ...GATEWAY_OPTIONS },
  positionals: { min: 0, max: 0, names: [] },
  run: async (values, _positionals, terminal) => {
    const gateway = await findGateway(values, terminal)
    const body = await gateway.get('/v1/tools')
    if (values.json) {
      terminal.print(printableJson(body))
      return DONE
    }
    const list = listOf<ToolView>(body, 'tools', gateway.url)
    if (list.length === 0) terminal.complain('The gateway has no tools.')
    else for (const line of table(COLUMNS, list.map(row), terminal)) terminal.print(line)
    return DONE
  },
})

const COLUMNS = [
  { title: 'TOOL' },
  { title: 'EFFECT' },
  { title: 'RUNS' },
  { title: 'NOW' },
  { title: 'TITLE', cut: true },
]

function row(tool: ToolView) {
  const effect = tool.dangerous ? `${tool.effect}!` : tool.effect
  const runs = RUNS[tool.declared] ?? tool.declared
  const now = tool.available
    ? { text: 'available', colour: 'green' as const }
    : { text: 'unavailable', colour: 'red' as const }
  return [
    tool.name,
    { text: effect, colour: tool.dangerous ? ('red' as const) : undefined },
    runs,
    now,
    tool.title,
  ]
}

const RUNS: Readonly<Record<string, string>> = {
  parallelSafe: 'parallel',
  conditional: 'depends',
  serial: 'serial',
  undeclared: 'serial?',
}
