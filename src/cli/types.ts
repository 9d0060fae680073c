/** `baudway types`: what the catalogue can speak to. It needs no running gateway. */
import { loadCatalogue } from '../driver/catalogue.ts'
import type { DeviceType, ReadingSpec, ToolSpec } from '../driver/device-type.ts'
import { declaredAs } from '../scheduler/declaration.ts'
import { DONE, defineCommand } from './command.ts'
import { printableJson } from './printable.ts'
import { table } from './table.ts'

export const types = defineCommand({
  options: { json: { type: 'boolean', help: 'print everything that a type declares' } },
  positionals: { min: 0, max: 0, names: [] },
  run: async (values, _positionals, terminal) => {
    const views = Array.from((await loadCatalogue()).values(), typeView)
    if (values.json) terminal.print(printableJson({ types: views }))
    else for (const line of table(COLUMNS, views.map(row), terminal)) terminal.print(line)
    return DONE
  },
})

const COLUMNS = [
  { title: 'TYPE' },
  { title: 'TITLE', cut: true },
  { title: 'TOOLS', cut: true },
  { title: 'READINGS', cut: true },
]

type TypeView = ReturnType<typeof typeView>

/** Where tools and readings depend on the options of a device, they are those of the type's own sample. */
function typeView(type: DeviceType) {
  const { tools, readings } = type.describe(type.sample)
  return {
    type: type.type,
    title: type.title,
    description: type.description ?? null,
    /** The tools are written in the configuration; those listed are of a sample. */
    toolsConfigured: type.toolsConfigured ?? false,
    addressed: type.addressed,
    uart: type.uart,
    options: type.options,
    tools: Object.entries(tools).map(([command, spec]) => toolView(command, spec, type.serial)),
    readings: Object.entries(readings).map(([field, spec]) => readingView(field, spec)),
  }
}

function toolView(command: string, spec: ToolSpec, serialType: boolean) {
  const { effect, parallelSafe = false } = spec
  const serial = spec.serial === true || (serialType && effect !== 'read')
  return {
    command,
    description: spec.description,
    effect,
    declared: declaredAs({ effect, serial, parallelSafe }),
    dangerous: spec.dangerous ?? false,
    parameters: spec.parameters ?? null,
    returns: spec.returns ?? null,
  }
}

function readingView(field: string, { unit, deviceClass, stateClass }: ReadingSpec) {
  return { field, unit: unit ?? null, deviceClass: deviceClass ?? null, stateClass: stateClass ?? null }
}

function row({ type, title, toolsConfigured, tools, readings }: TypeView) {
  const commands = tools.map(({ command, dangerous }) => (dangerous ? `${command}!` : command)).join(', ')
  const fields = readings.map(({ field }) => field).join(', ')
  return [
    type,
    title,
    toolsConfigured ? `as configured: ${commands}` : commands,
    toolsConfigured && fields !== '' ? `as configured: ${fields}` : fields,
  ]
}
