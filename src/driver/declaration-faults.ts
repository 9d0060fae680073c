/** What looks unsafe, or is without effect, in what a tool of the configuration declares of itself. */
import type { Effect } from '../errors.ts'
import type { OptionFault } from './device-type.ts'

interface Declared {
  readonly effect: Effect
  readonly serial?: boolean
  readonly parallelSafe?: boolean
}

/** Warnings; `field` is the JSON pointer of the tool. */
export function* declarationFaults(
  field: string,
  { effect, serial, parallelSafe }: Declared,
): Generator<OptionFault> {
  const severity = 'warning'
  if (effect === 'read' && serial === undefined && parallelSafe === undefined) {
    const message =
      'it runs alone. If it changes nothing and depends on no order, say "parallelSafe: true"; else "serial: true"'
    yield { field, severity, message }
  }
  if (parallelSafe && (effect !== 'read' || serial)) {
    yield { field: `${field}/parallelSafe`, severity, message: 'without effect: the tool is serial' }
  }
}
