/** What Ajv found, as faults that a person can act on: one for each place, the place as a JSON pointer. */
import type { FastifyRequest } from 'fastify'
import { BATCH_CALLS_MAX } from '../../limits.ts'
import { pointerSegment } from './json-reader.ts'
import type { RequestFault } from './problem.ts'

/** The part of an Ajv error that is used; `data` and `parentSchema` are there because Ajv is set to `verbose`. */
interface AjvError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  readonly data?: unknown
  readonly parentSchema?: { readonly properties?: object }
}

const PARTS = [
  ['params', 'path'],
  ['querystring', 'query'],
  ['body', 'body'],
] as const

/** Faults that one answer lists; a body has room for any number of them. */
const FAULTS_MAX = 1_000

export interface SchemaFaults {
  readonly count: number
  /** The first of them, in the order path, query, body. */
  readonly listed: readonly RequestFault[]
}

/** Every fault in every part of a request. Fastify itself stops at the first part that has one. */
export function schemaFaults(request: FastifyRequest): SchemaFaults {
  const values = { params: request.params, querystring: request.query, body: request.body ?? null }
  const found = PARTS.flatMap(([part, shown]) => {
    const validate = request.getValidationFunction(part)
    if (!validate || validate(values[part])) return []
    return ((validate.errors ?? []) as readonly AjvError[]).map((error) => ({ error, shown }))
  })
  const listed = found.slice(0, FAULTS_MAX).map(({ error, shown }) => faultOf(error, shown))
  return { count: found.length, listed }
}

/**
 * A batch of far too many calls, told before its schema looks at each of them: Ajv would list a fault for every
 * element, and a body has room for half a million.
 */
export function tooManyCalls(body: unknown): RequestFault | undefined {
  const calls = (body as { calls?: unknown } | null | undefined)?.calls
  if (!Array.isArray(calls) || calls.length <= BATCH_CALLS_MAX) return undefined
  return { in: 'body', field: '/calls', message: `has ${calls.length} calls; at most ${BATCH_CALLS_MAX}` }
}

function faultOf(error: AjvError, part: RequestFault['in']): RequestFault {
  const { keyword, instancePath, params } = error
  const at = (name: unknown) => `${instancePath}/${pointerSegment(String(name))}`
  switch (keyword) {
    case 'required':
      return { in: part, field: at(params.missingProperty), message: 'is missing' }
    case 'additionalProperties':
      return { in: part, field: at(params.additionalProperty), message: unknownName(error) }
    case 'type':
      return {
        in: part,
        field: instancePath,
        message: `must be ${params.type}, is ${kindOf(error.data)}`,
      }
    case 'enum':
      return { in: part, field: instancePath, message: `must be one of ${list(params.allowedValues)}` }
    default:
      return { in: part, field: instancePath, message: error.message ?? `fails ${keyword}` }
  }
}

function unknownName(error: AjvError): string {
  const known = Object.keys(error.parentSchema?.properties ?? {})
  return known.length === 0 ? 'is not known' : `is not known; known here: ${known.join(', ')}`
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(', ') : String(values)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
