/** `baudway types`: what the catalogue can speak to. It needs no running gateway. */
import { loadCatalogue } from '../driver/catalogue.ts'
import type { TypeView } from '../tool/home.ts'
import { typeView } from '../type-view.ts'
import { DONE, defineCommand } from './command.ts'
import { printableJson } from './printable.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { labelled } from './wrapped.ts'

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
    else for (const line of typeLines(views, terminal)) terminal.print(line)
    return DONE
  },
})

const COLUMNS = [{ title: 'TYPE' }, { title: 'GRADE' }, { title: 'TITLE', cut: true }]
const INDENT = '  '

/** A row for each type, and its tools and readings whole below it: what a line has no room for goes into the next. */
function typeLines(views: readonly TypeView[], screen: Pick<Terminal, 'colour' | 'columns'>): string[] {
  const [titles = '', ...rows] = table(COLUMNS, views.map(row), screen)
  const lines = [titles]
  for (const [index, { toolsConfigured, tools, readings }] of views.entries()) {
    const names = tools.map(({ command, dangerous }) => (dangerous ? `${command}!` : command))
    const fields = readings.map(({ field }) => field)
    const origin = toolsConfigured ? 'as configured, such as ' : ''
    lines.push(rows[index] ?? '')
    if (names.length > 0) lines.push(...labelled('tools', origin + names.join(', '), INDENT, screen))
    if (fields.length > 0) lines.push(...labelled('readings', origin + fields.join(', '), INDENT, screen))
  }
  return lines
}

function row({ type, grade, title }: TypeView): string[] {
  return [type, grade ?? 'none', title]
}
