/** `baudway plan`: what a batch would do, call by call. Nothing is run. */
import type { PlannedCall, PlanResponse } from '../tool/shapes.ts'
import { BATCH_FILE_NOTES, readBatchFile } from './batch-file.ts'
import { DONE, defineCommand } from './command.ts'
import { findGateway, GATEWAY_OPTIONS } from './gateway-client.ts'
import { printableJson } from './printable.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { wrapped } from './wrapped.ts'

export const plan = defineCommand({
  options: { json: { type: 'boolean', help: 'print what HTTP answers' }, ...GATEWAY_OPTIONS },
  positionals: { min: 1, max: 1, names: ['FILE'] },
  notes: [...BATCH_FILE_NOTES, 'Nothing is sent to a device.'],
  run: async (values, [file = ''], terminal) => {
    const request = await readBatchFile(file, terminal)
    const gateway = await findGateway(values, terminal)
    const response = (await gateway.post('/v1/plan', request)) as PlanResponse
    if (values.json) terminal.print(printableJson(response))
    else for (const line of planLines(response, terminal)) terminal.print(line)
    return DONE
  },
})

const COLUMNS = [
  { title: 'PART', align: 'right' },
  { title: 'CALL' },
  { title: 'TOOL', cut: true },
  { title: 'HOLDS', cut: true },
  { title: 'STARTS' },
] as const
const INDENT = '      '

/** A row for each call, and below it what it waits for and why, what it may overlap, and what is in its way. */
export function planLines(response: PlanResponse, screen: Pick<Terminal, 'colour' | 'columns'>): string[] {
  const { policy, partitions, calls } = response
  if (calls.length === 0) return ['There are no calls in it.']
  const [titles = '', ...rows] = table(COLUMNS, calls.map(row), screen)
  const below = calls.map((call) => remarks(call).flatMap((remark) => wrapped(remark, INDENT, screen)))
  const counted = partitions.length === 1 ? '1 partition' : `${partitions.length} partitions`
  const many = calls.length === 1 ? '1 call' : `${calls.length} calls`
  return [
    titles,
    ...rows.flatMap((line, index) => [line, ...(below[index] ?? [])]),
    `${many} in ${counted}, policy ${policy}`,
  ]
}

function row(call: PlannedCall) {
  const { id, name, partition, claims } = call
  const held = claims.map(({ resource, mode }) => (mode === 'shared' ? `${resource} (shared)` : resource))
  return [String(partition + 1), id, name, held.join(', ') || 'nothing', starts(call)]
}

function starts({ waitsFor, error }: PlannedCall) {
  if (error) return { text: 'never', colour: 'red' as const }
  return waitsFor.length === 0 ? { text: 'at once', colour: 'green' as const } : 'later'
}

function remarks({ waitsFor, overlaps, earlyStart, confirmation, available, error }: PlannedCall): string[] {
  if (error) return [`${error.code}: ${error.message}${error.hint === undefined ? '' : ` (${error.hint})`}`]
  return [
    ...waitsFor.map(({ id, reason }) => `after ${id}: ${reason}`),
    ...(overlaps.length > 0 ? [`may overlap or pass ${overlaps.join(', ')}`] : []),
    ...(earlyStart.yes ? [] : [`not before a stream has ended: ${earlyStart.reason}`]),
    ...(confirmation ? ['a person has to confirm it first'] : []),
    ...(available ? [] : ['its device is not available now']),
  ]
}
