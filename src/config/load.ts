/**
 * From a file, a text or an object to a configuration, or to all that is wrong with it. Nothing here throws: an
 * invalid file is an everyday event that a reload must survive.
 */

import { dirname, resolve } from 'node:path'
import type { ConfigurableTypes } from './configurable-type.ts'
import { type Configuration, configurationOf } from './configuration.ts'
import { deferredKeyWarnings } from './deferred-keys.ts'
import { deviceFindings } from './device-checks.ts'
import { parseText } from './document.ts'
import { draftOf } from './draft.ts'
import type { DataFault, Fault, Finding } from './fault.ts'
import { fileFindings } from './file-checks.ts'
import { plainData } from './plain-data.ts'
import { valueAt } from './pointer.ts'
import { portFindings } from './port-checks.ts'
import { offsetOf } from './position.ts'
import { validateSchema } from './schema-validation.ts'
import { CONFIGURATION_BYTES_MAX, readSource } from './source.ts'

/** `configuration` is there exactly if there are no faults. */
export interface Checked<F extends DataFault> {
  readonly configuration?: Configuration
  readonly faults: readonly F[]
  readonly warnings: readonly F[]
}

export interface ParseOptions {
  /** Anybody on this machine may read the file: secrets in it are warned of. */
  readonly worldReadable?: boolean
}

/** The configuration of a file. Faults and warnings come in the order of the text. */
export async function loadConfiguration(path: string, types: ConfigurableTypes): Promise<Checked<Fault>> {
  const source = await readSource(path)
  if ('fault' in source) return { faults: [{ ...source.fault, file: path, pointer: '' }], warnings: [] }
  return parseConfiguration(source.text, path, types, source)
}

/**
 * The folder of own device types that a file names, which must be known before the file can be checked; a relative one
 * counts from the file. Undefined: it names none, or cannot be read, which is said when it is loaded.
 */
export async function devicesDirOf(path: string): Promise<string | undefined> {
  const source = await readSource(path)
  if ('fault' in source || Buffer.byteLength(source.text) > CONFIGURATION_BYTES_MAX) return undefined
  const { root } = parseText(source.text.replace(/^\ufeff/, ''))
  const data = root?.located.data
  const named =
    typeof data === 'object' && data !== null && 'devicesDir' in data ? data.devicesDir : undefined
  return typeof named === 'string' && named !== '' ? resolve(dirname(path), named) : undefined
}

/** As `loadConfiguration`, for a text that is already here; `file` is only shown. */
export function parseConfiguration(
  text: string,
  file: string,
  types: ConfigurableTypes,
  { worldReadable = false }: ParseOptions = {},
): Checked<Fault> {
  if (Buffer.byteLength(text) > CONFIGURATION_BYTES_MAX) {
    const message = `the file is larger than ${CONFIGURATION_BYTES_MAX} bytes`
    return { faults: [{ file, line: 1, column: 1, pointer: '', message }], warnings: [] }
  }
  // A byte order mark belongs to the encoding, and editors count columns without it.
  const { root, faults: textFaults, position } = parseText(text.replace(/^\ufeff/, ''))
  const placed: Placed[] = textFaults.map(({ withoutValue: _, ...fault }) => ({
    ...fault,
    severity: 'error',
  }))
  const withoutValue = new Set(textFaults.flatMap((fault) => (fault.withoutValue ? [fault.offset] : [])))
  const checked = root ? check(root.located.data, types, worldReadable) : undefined
  for (const { at, ...finding } of checked?.findings ?? []) {
    const offset = root ? offsetOf(root, finding.pointer, at) : 0
    // Nothing more is to be said of a value that could not be read.
    if (!withoutValue.has(offset)) placed.push({ ...finding, offset })
  }
  placed.sort((one, other) => one.offset - other.offset)
  const seen = new Set<string>()
  const faults: Fault[] = []
  const warnings: Fault[] = []
  for (const { offset, severity, ...fault } of placed) {
    // What stands under an anchor has one fault, however often it is used.
    const key = `${offset} ${fault.message}`
    if (seen.has(key)) continue
    seen.add(key)
    const list = severity === 'error' ? faults : warnings
    list.push({ file, ...position(offset), ...fault })
  }
  return outcome(faults, warnings, checked)
}

/** The configuration of an object, for the library. Its faults are placed by their JSON pointers. */
export function validateConfiguration(object: unknown, types: ConfigurableTypes): Checked<DataFault> {
  const { data, findings } = plainData(object)
  const unreadable = new Set(findings.map(({ pointer }) => pointer))
  const checked = check(data, types, false)
  const further = checked.findings.filter(({ pointer }) => !unreadable.has(pointer))
  const faults: DataFault[] = []
  const warnings: DataFault[] = []
  for (const { at: _, severity, ...fault } of [...findings, ...further]) {
    const list = severity === 'error' ? faults : warnings
    list.push(fault)
  }
  return outcome(faults, warnings, checked)
}

type Placed = DataFault & { readonly offset: number; readonly severity: Finding['severity'] }

interface Check {
  readonly findings: readonly Finding[]
  readonly configuration: () => Configuration
}

function check(data: unknown, types: ConfigurableTypes, worldReadable: boolean): Check {
  const schemaFindings = validateSchema(data, types)
  const draft = draftOf(data, types, schemaFindings)
  const findings = [
    ...schemaFindings.filter(({ pointer }) => !isUnknownType(pointer, data)),
    ...draft.findings,
    ...deviceFindings(draft, types),
    ...portFindings(draft),
    ...fileFindings(draft, worldReadable),
    ...deferredKeyWarnings(data),
  ]
  return { findings, configuration: () => configurationOf(draft) }
}

/** The schema knows the types as a choice of words; `deviceFindings` says it better. */
function isUnknownType(pointer: string, data: unknown): boolean {
  return /^\/devices\/[0-9]+\/type$/.test(pointer) && typeof valueAt(data, pointer) === 'string'
}

function outcome<F extends DataFault>(
  faults: readonly F[],
  warnings: readonly F[],
  checked: Check | undefined,
): Checked<F> {
  if (!checked || faults.length > 0) return { faults, warnings }
  return { configuration: checked.configuration(), faults, warnings }
}
