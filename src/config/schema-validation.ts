/**
 * Data against the schema: every fault of it, each once, as a sentence about the key in question. Ajv finds them;
 * its own words are for programmers, and it tells of each way in which a value could have been right.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ConfigurableTypes } from './configurable-type.ts'
import type { Finding } from './fault.ts'
import { jsonSchema } from './schema.ts'
import { type SchemaError, sentenceOf } from './schema-sentence.ts'

export function validateSchema(data: unknown, types: ConfigurableTypes): Finding[] {
  const validate = validatorOf(types)
  if (validate(data)) return []
  const errors = withoutDoubles(collapse(validate.errors ?? []))
  return errors.map((error) => sentenceOf(error, data))
}

/** Compiling takes tens of milliseconds, and a test or a reload validates again and again with the same types. */
const validators = new WeakMap<ConfigurableTypes, ValidateFunction>()

function validatorOf(types: ConfigurableTypes): ValidateFunction {
  const known = validators.get(types)
  if (known) return known
  // `verbose` gives each error its schema, of which the sentences are made. Not strict: a device type may annotate.
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, validateFormats: false })
  const validate = ajv.compile(jsonSchema(types))
  validators.set(types, validate)
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
 * Of the ways in which a value could have been right, the one that it was most likely meant to be: the one whose
 * kind and marks fit and that has the fewest errors. Where no kind fits, all kinds are named.
 */
function nearestBranch(parent: ErrorObject, nested: readonly SchemaError[]): SchemaError[] {
  const here = nested.filter((error) => error.instancePath === parent.instancePath)
  const constants = here.flatMap(allowedValues)
  const wrongKind = new Set(here.filter(({ keyword }) => keyword === 'type').map(branchOf))
  const wrongMark = new Set(nested.filter((error) => allowedValues(error).length > 0).map(branchOf))
  function branchOf(error: SchemaError): string {
    return error.schemaPath.slice(parent.schemaPath.length + 1).split('/', 1)[0] ?? ''
  }
  const branches = [...Map.groupBy(nested, branchOf)].map(([branch, errors]) => ({ branch, errors }))
  const fitting = branches.filter(({ branch }) => !wrongKind.has(branch) && !wrongMark.has(branch))
  const candidates = fitting.length > 0 ? fitting : branches.filter(({ branch }) => !wrongKind.has(branch))
  const best = candidates.toSorted((one, other) => one.errors.length - other.errors.length)[0]
  const { instancePath, schemaPath, data, parentSchema } = parent
  const place = { instancePath, schemaPath, data, parentSchema }
  if (constants.length > 0 && (best === undefined || candidates.every(({ errors }) => errors.every(isConstant)))) {
    return [{ ...place, keyword: 'enum', params: { allowedValues: constants } }]
  }
  if (best) return best.errors
  const kinds = here.flatMap(({ keyword, params }) => (keyword === 'type' ? [params.type].flat() : []))
  return [{ ...place, keyword: 'type', params: { type: [...new Set(kinds)] } }]
}

function allowedValues({ keyword, params }: SchemaError): unknown[] {
  if (keyword === 'const') return [params.allowedValue]
  return keyword === 'enum' ? [...params.allowedValues] : []
}

function isConstant(error: SchemaError): boolean {
  return allowedValues(error).length > 0
}

/** A value of the wrong kind is not one of the allowed values either, and that need not be said. */
function withoutDoubles(errors: readonly SchemaError[]): SchemaError[] {
  const wrongKind = new Set(errors.filter(({ keyword }) => keyword === 'type').map((error) => error.instancePath))
  const seen = new Set<string>()
  return errors.filter((error) => {
    if (isConstant(error) && wrongKind.has(error.instancePath)) return false
    const key = JSON.stringify([error.instancePath, error.keyword, error.params, error.propertyName])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
