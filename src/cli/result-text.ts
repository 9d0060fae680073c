/** What happened to a call, in words. The outcome is said first: it is what a person must know before a repeat. */
import type { ErrorDetail, Outcome } from '../errors.ts'
import type { CallResult, ToolView } from '../tool/shapes.ts'
import { printable } from './printable.ts'
import { type Colour, coloured, type Terminal } from './terminal.ts'

export const OUTCOME_COLOURS: Readonly<Record<Outcome, Colour>> = {
  executed: 'green',
  not_executed: 'red',
  unknown: 'yellow',
}

function outcomeText(result: CallResult): string {
  switch (result.outcome) {
    case 'executed':
      if (result.shared) return 'answered by the reading of another call'
      return result.confirmedBy ? 'executed, confirmed by reading back' : 'executed'
    case 'not_executed':
      return 'not executed: nothing was done'
    case 'unknown':
      return result.sent
        ? 'sent: this device acknowledges nothing, so whether it was done is unknown'
        : 'unknown: it may have been done or not; look at the device before a repeat'
  }
}

/** The lines for one result; the tool, where it is known, gives the units. */
export function resultLines(
  result: CallResult,
  tool: ToolView | undefined,
  terminal: Terminal,
): readonly string[] {
  const outcome = coloured(terminal, OUTCOME_COLOURS[result.outcome], outcomeText(result))
  const lines = [`${printable(result.name)}  ${result.status}, ${outcome}`]
  if (result.error) lines.push(...errorLines(result))
  else lines.push(...valueLines(result.value, tool))
  if (result.outcome === 'not_executed') return lines
  const { queuedMs, runMs, wireMs } = result.timing
  const took = `queued ${milliseconds(queuedMs)}, ran ${milliseconds(runMs)}, on the wire ${milliseconds(wireMs)}`
  const measured = result.measuredAt === undefined ? '' : `measured ${result.measuredAt}; `
  return [...lines, coloured(terminal, 'dim', printable(`  ${measured}${took}`))]
}

function errorLines({ error }: CallResult): readonly string[] {
  if (!error) return []
  const { code, message, field, hint, retryable, details } = error
  const at = field === undefined ? '' : ` (at ${field === '' ? 'the arguments' : field})`
  const lines = [`  ${printable(`${code}: ${message}${at}`)}`]
  if (isList(details)) {
    // A single fault is what the message says.
    const faults = details.length > 1 ? details : []
    lines.push(...faults.map((fault) => `    ${printable(`${fault.field ?? ''}: ${fault.message}`)}`))
  } else if (details) {
    lines.push(...pairs(details, {}).map((line) => `  ${line}`))
  }
  if (hint !== undefined) lines.push(`  ${printable(hint)}`)
  lines.push(`  ${adviceOf(code, retryable)}`)
  return lines
}

function adviceOf(code: string, retryable: boolean): string {
  if (code === 'confirmation_required') return 'It runs only once somebody has confirmed it.'
  return retryable ? 'The same call may be sent again.' : 'Do not just send the same call again.'
}

/** `Array.isArray` does not tell a read-only array. */
function isList(details: NonNullable<CallResult['error']>['details']): details is readonly ErrorDetail[] {
  return Array.isArray(details)
}

function valueLines(value: unknown, tool: ToolView | undefined): readonly string[] {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object' || Array.isArray(value)) return [`  ${valueText(value)}`]
  return pairs(value, unitsOf(tool))
}

/** Names and values, aligned. */
function pairs(value: object, units: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(value).map(([name, field]) => {
    const unit = units[name]
    return [
      printable(name),
      unit === undefined ? valueText(field) : `${valueText(field)} ${printable(unit)}`,
    ] as const
  })
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
}

function unitsOf(tool: ToolView | undefined): Readonly<Record<string, string>> {
  const properties = tool?.returns.properties
  if (typeof properties !== 'object' || properties === null) return {}
  const units = Object.entries(properties).flatMap(([name, property]) =>
    typeof property?.unit === 'string' ? [[name, property.unit] as const] : [],
  )
  return Object.fromEntries(units)
}

/** A value on one line. */
export function valueText(value: unknown): string {
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))
}

function milliseconds(value: number): string {
  return `${Math.round(value * 10) / 10} ms`
}
