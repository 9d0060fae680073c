/** `baudway batch`: the calls of a file, in order. */
import type { BatchResponse, CallResult } from '../tool/shapes.ts'
import { BATCH_FILE_NOTES, readBatchFile } from './batch-file.ts'
import { DONE, defineCommand, FAILED } from './command.ts'
import { findGateway, GATEWAY_OPTIONS } from './gateway-client.ts'
import { printableJson } from './printable.ts'
import { OUTCOME_COLOURS, valueText } from './result-text.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'

export const batch = defineCommand({
  options: { json: { type: 'boolean', help: 'print what HTTP answers' }, ...GATEWAY_OPTIONS },
  positionals: { min: 1, max: 1, names: ['FILE'] },
  notes: BATCH_FILE_NOTES,
  run: async (values, [file = ''], terminal) => {
    const request = await readBatchFile(file, terminal)
    const gateway = await findGateway(values, terminal)
    const response = (await gateway.post('/v1/batches', request)) as BatchResponse
    if (values.json) terminal.print(printableJson(response))
    else printBatch(response, terminal)
    return response.results.every(({ status }) => status === 'ok') ? DONE : FAILED
  },
})

const COLUMNS = [
  { title: '#', align: 'right' },
  { title: 'CALL' },
  { title: 'TOOL', cut: true },
  { title: 'STATUS' },
  { title: 'OUTCOME' },
  { title: 'RESULT', cut: true },
] as const

function printBatch(response: BatchResponse, terminal: Terminal): void {
  const { results, executed, shared } = response
  for (const line of table(COLUMNS, results.map(row), terminal)) terminal.print(line)
  const failed = results.filter(({ status }) => status === 'error').length
  const unknown = results.filter(({ outcome }) => outcome === 'unknown').length
  const calls = results.length === 1 ? '1 call' : `${results.length} calls`
  terminal.print(`${calls}: ${executed} executed, ${shared} shared, ${failed} failed`)
  if (unknown > 0) {
    terminal.print(`Of ${unknown} it is unknown whether they were done: look at the device before a repeat.`)
  }
}

function row(result: CallResult, index: number) {
  const text = result.error ? `${result.error.code}: ${result.error.message}` : fieldsText(result.value)
  const outcome = result.shared ? 'shared' : result.outcome
  return [
    String(index + 1),
    result.id,
    result.name,
    { text: result.status, colour: result.status === 'ok' ? ('green' as const) : ('red' as const) },
    { text: outcome, colour: OUTCOME_COLOURS[result.outcome] },
    text,
  ]
}

function fieldsText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object' || Array.isArray(value)) return valueText(value)
  return Object.entries(value)
    .map(([name, field]) => `${name} ${valueText(field)}`)
    .join(', ')
}
