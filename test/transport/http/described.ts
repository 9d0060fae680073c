/** What the OpenAPI document says of an answer, as a validator. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** Where the schema of an answer stands in the document. */
export interface AnswerPlace {
  readonly method: string
  /** In the notation of OpenAPI. */
  readonly path: string
  readonly status: number
  readonly mediaType: string
}

export class DescribedAnswers {
  readonly #ajv = new Ajv2020({ allErrors: true, strict: false })

  constructor(document: object) {
    addFormats.default(this.#ajv)
    this.#ajv.addSchema({ $id: 'baudway:api', ...(closed(document) as object) })
  }

  /** Undefined: the document has no such answer. */
  faultsOf(
    { method, path, status, mediaType }: AnswerPlace,
    body: unknown,
  ): readonly ErrorObject[] | undefined {
    const place = ['paths', path, method.toLowerCase(), 'responses', status, 'content', mediaType, 'schema']
    const pointer = place.map((segment) => `/${String(segment).replaceAll('/', '~1')}`).join('')
    const validate = this.#ajv.getSchema(`baudway:api#${encodeURI(pointer)}`)
    if (!validate) return undefined
    validate(body)
    return validate.errors ?? []
  }
}

/** The document, its objects closed: a field that it does not name is a fault. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]))
  return copy.type === 'object' && copy.properties && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy
}
