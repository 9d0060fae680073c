/**
 * Data against the schema: every fault of it, each once, as a sentence about the key in question. Ajv finds them;
 * its own words are for programmers, and it tells of each way in which a value could have been right.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ConfigurableTypes } from './configurable-type.ts'
import type { Finding } from './fault.ts'
import { childOf } from './pointer.ts'
import { jsonSchema } from './schema.ts'
import { type SchemaError, sentenceOf } from './schema-sentence.ts'

export function validateSchema(data: unknown, types: ConfigurableTypes): Finding[] {
  const validate = validatorOf(usedTypes(data, types))
  if (validate(data)) return []
  const errors = withoutDoubles(collapse(validate.errors ?? []))
  return errors.map((error) => sentenceOf(error, data))
}

/** A catalogue has many types and a house few: only their schemas are worth the compiling. */
function usedTypes(data: unknown, types: ConfigurableTypes): ConfigurableTypes {
  const devices = childOf(data, 'devices')
  const names = Array.isArray(devices) ? devices.map((device) => childOf(device, 'type')) : []
  const used = new Set(names)
  return new Map([...types].filter(([name]) => used.has(name)))
}

/** Compiling takes tens of milliseconds, and a reload or a test validates again and again with the same types. */
const validators = new Map<string, ValidateFunction>()
const VALIDATORS_MAX = 8

function validatorOf(types: ConfigurableTypes): ValidateFunction {
  const { $schema: _, ...schema } = jsonSchema(types)
  const key = JSON.stringify(schema)
  const known = validators.get(key)
  if (known) return known
  // `verbose` gives each error its schema, of which the sentences are made. Not strict: a device type may annotate.
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  })
  const validate = ajv.compile(schema)
  if (validators.size >= VALIDATORS_MAX) validators.clear()
  validators.set(key, validate)
  return validate
}

/** Leaves one error where Ajv gives several for one cause. It lists those of a nested schema before its own. */
function collapse(errors: readonly ErrorObject[]): SchemaError[] {
  const collapsed: SchemaError[] = []
  for (const error of errors) {
    switch (error.keyword) {
      case 'if':
      case 'propertyNames':
        // What failed inside has been told.
        break
      case 'anyOf':
      case 'oneOf': {
        const start = startOfNested(collapsed, error)
        const nested = collapsed.splice(start)
        collapsed.push(...nearestBranch(error, nested))
        break
      }
      default:
        collapsed.push(error)
    }
  }
  return collapsed
}

function startOfNested(errors: readonly SchemaError[], parent: ErrorObject): number {
  let start = errors.length
  while (start > 0 && errors[start - 1]?.schemaPath.startsWith(`${parent.schemaPath}/`)) start -= 1
  return start
}

/**
 * Of the ways in which a value could have been right, the one that it was most likely meant to be: of those whose
 * kind and marks fit, the one with the fewest errors. Where none fits, all kinds and marks are named.
 */
function nearestBranch(parent: ErrorObject, nested: readonly SchemaError[]): SchemaError[] {
  const branches = new Map<string, SchemaError[]>()
  for (const error of nested) {
    const branch = error.schemaPath.slice(parent.schemaPath.length + 1).split('/', 1)[0] ?? ''
    const errors = branches.get(branch)
    if (errors) errors.push(error)
    else branches.set(branch, [error])
  }
  const all = [...branches.values()]
  const isWrongKind = (error: SchemaError) =>
    error.keyword === 'type' && error.instancePath === parent.instancePath
  const fitting = all.filter((errors) => !errors.some((error) => isWrongKind(error) || isMark(error)))
  const best = fitting.toSorted((one, other) => one.length - other.length)[0]
  if (best) return best

  const marks = nested.filter(isMark)
  const kinds = all
    .filter((errors) => !errors.some(isMark))
    .flatMap((errors) => errors.filter(isWrongKind))
    .flatMap(({ params }) => params.type)
  const { message: _, ...place } = marks[0] ?? parent
  if (marks.length === 0) return [{ ...place, keyword: 'type', params: { type: [...new Set(kinds)] } }]
  return [{ ...place, keyword: 'enum', params: { allowedValues: marks.flatMap(allowedValues), kinds } }]
}

function allowedValues({ keyword, params }: SchemaError): unknown[] {
  if (keyword === 'const') return [params.allowedValue]
  return keyword === 'enum' ? [...params.allowedValues] : []
}

/** An error of a value that is one of few: the mark by which a form is told from the others. */
function isMark({ keyword }: SchemaError): boolean {
  return keyword === 'const' || keyword === 'enum'
}

/** A value of the wrong kind is not one of the allowed values either, and that need not be said. */
function withoutDoubles(errors: readonly SchemaError[]): SchemaError[] {
  const wrongKind = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map((error) => error.instancePath),
  )
  const seen = new Set<string>()
  return errors.filter((error) => {
    if (isMark(error) && wrongKind.has(error.instancePath)) return false
    const key = JSON.stringify([error.instancePath, error.keyword, error.params, error.propertyName])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
