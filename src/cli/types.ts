/** `baudway types`: what the catalogue can speak to. It needs no running gateway. */
import { loadCatalogue } from '../driver/catalogue.ts'
import type { TypeView } from '../tool/home.ts'
import { typeView } from '../type-view.ts'
import { DONE, defineCommand } from './command.ts'
import { printableJson } from './printable.ts'
import { table } from './table.ts'

export const types = defineCommand({
  options: { json: { type: 'boolean', help: 'print everything that a type declares' } },
  positionals: { min: 0, max: 0, names: [] },
  notes: [
    'The grade is what the type passes of the tests that every type is held to:',
    'bronze, silver, gold, platinum. A ! marks a dangerous tool.',
  ],
  run: async (values, _positionals, terminal) => {
    const views = await Promise.all(Array.from((await loadCatalogue()).values(), typeView))
    if (values.json) terminal.print(printableJson({ types: views }))
    else for (const line of table(COLUMNS, views.map(row), terminal)) terminal.print(line)
    return DONE
  },
})

const COLUMNS = [
  { title: 'TYPE' },
  { title: 'GRADE' },
  { title: 'TITLE', cut: true },
  { title: 'TOOLS', cut: true },
  { title: 'READINGS', cut: true },
]

function row({ type, grade, title, toolsConfigured, tools, readings }: TypeView) {
  const commands = tools.map(({ command, dangerous }) => (dangerous ? `${command}!` : command)).join(', ')
  const fields = readings.map(({ field }) => field).join(', ')
  return [
    type,
    grade ?? 'none',
    title,
    toolsConfigured ? `as configured: ${commands}` : commands,
    toolsConfigured && fields !== '' ? `as configured: ${fields}` : fields,
  ]
}
