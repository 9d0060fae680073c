/**
 * Whether the arguments of a call fit the schema of its tool: every fault is named, nothing is dropped, defaulted
 * or coerced, but for one thing that models do: a boolean may come as "true" or "false".
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type ErrorDetail, GatewayError } from '../errors.ts'
import { ARGUMENTS_BYTES_MAX } from '../limits.ts'
import { nearest } from './nearest.ts'
import type { Arguments, JsonSchema } from './tool.ts'

/** `strict: false` lets schemas say more than the standard knows; a number that is none stays a fault. */
const ajv = new Ajv({ allErrors: true, strict: false, strictNumbers: true, verbose: true, logger: false })

export interface ArgumentCheck {
  /** The arguments as the tool gets them, or the fault of the call. */
  check(args: Arguments): Arguments | GatewayError
}

/** A house has many devices of few types: tools with the same parameters share one validator, which is slow to make. */
const validators = new Map<string, ValidateFunction>()
const VALIDATORS_MAX = 256

/** Throws what Ajv throws if the schema is none. */
function validatorOf(schema: JsonSchema): ValidateFunction {
  const key = JSON.stringify(schema)
  const known = validators.get(key)
  if (known) return known
  const validate = ajv.compile(schema)
  // Ajv would remember every schema for ever, and refuse a second one of the same `$id`.
  ajv.removeSchema(schema)
  if (validators.size >= VALIDATORS_MAX) validators.clear()
  validators.set(key, validate)
  return validate
}

export function argumentCheck(toolName: string, schema: JsonSchema): ArgumentCheck {
  const validate = validatorOf(schema)
  const booleans = booleanProperties(schema)
  return {
    check: (given) => {
      const size = jsonBytes(given)
      if (size === undefined) return wholeFault(`the arguments of ${toolName} are no JSON data`)
      if (size > ARGUMENTS_BYTES_MAX) {
        return wholeFault(
          `the arguments of ${toolName} are ${size} bytes of JSON, more than ${ARGUMENTS_BYTES_MAX}`,
        )
      }
      const args = withBooleans(given, booleans)
      return validate(args) ? args : fault(toolName, validate, schema)
    },
  }
}

/** Undefined: it cannot be written as JSON. */
function jsonBytes(given: Arguments): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(given))
  } catch {
    return undefined
  }
}

function wholeFault(message: string): GatewayError {
  return new GatewayError('invalid_arguments', message, { field: '', details: [{ field: '', message }] })
}

function booleanProperties(schema: JsonSchema): readonly string[] {
  const { properties } = schema
  if (typeof properties !== 'object' || properties === null) return []
  return Object.entries(properties).flatMap(([name, property]) =>
    property?.type === 'boolean' ? [name] : [],
  )
}

function withBooleans(given: Arguments, names: readonly string[]): Arguments {
  const spelled = names.filter(
    (name) => Object.hasOwn(given, name) && (given[name] === 'true' || given[name] === 'false'),
  )
  if (spelled.length === 0) return given
  return { ...given, ...Object.fromEntries(spelled.map((name) => [name, given[name] === 'true'])) }
}

function fault(toolName: string, validate: ValidateFunction, schema: JsonSchema): GatewayError {
  const known = Object.keys((schema.properties as object | undefined) ?? {})
  const details = (validate.errors ?? []).map((error) => detail(error, known))
  const first = details[0]
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  return new GatewayError('invalid_arguments', `${toolName}: ${first?.message ?? 'bad arguments'}${more}`, {
    details,
    ...(first?.field === undefined ? {} : { field: first.field }),
    ...(first?.hint === undefined ? {} : { hint: first.hint }),
  })
}

function detail(error: ErrorObject, known: readonly string[]): ErrorDetail {
  const at = error.instancePath
  const name = at === '' ? 'the arguments' : `"${at.slice(1)}"`
  switch (error.keyword) {
    case 'required': {
      const missing = String(error.params.missingProperty)
      return { field: `${at}/${escapePointer(missing)}`, message: `"${missing}" is missing` }
    }
    case 'additionalProperties': {
      const extra = String(error.params.additionalProperty)
      const near = nearest(extra, known)
      const fault = { field: `${at}/${escapePointer(extra)}`, message: `"${extra}" is not a parameter` }
      return near.length === 0 ? fault : { ...fault, hint: `did you mean ${near.join(' or ')}?` }
    }
    case 'type':
      return {
        field: at,
        message: `${name} must be of type ${error.params.type}, not ${typeName(error.data)}`,
      }
    case 'enum':
      return { field: at, message: `${name} must be one of ${error.params.allowedValues.join(', ')}` }
    default:
      return { field: at, message: `${name} ${error.message ?? 'is not right'}` }
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return `${typeof value} ${(JSON.stringify(value) ?? '').slice(0, 40)}`
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
