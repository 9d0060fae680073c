/** One sentence for one schema error: what stands there, what should, and what was probably meant. */
import type { ErrorObject } from 'ajv/dist/2020.js'
import { errorAt, type Finding, quoted } from './fault.ts'
import { didYouMean } from './near-names.ts'
import { expectedBy, ID, idLike } from './notation.ts'
import { childPointer, isMapping, pointerSegments, valueAt } from './pointer.ts'

/** What of an Ajv error the sentence is made of. */
export type SchemaError = Pick<
  ErrorObject,
  'instancePath' | 'schemaPath' | 'keyword' | 'params' | 'data' | 'parentSchema' | 'propertyName' | 'message'
>

const KINDS: ReadonlyMap<unknown, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['object', 'a mapping'],
  ['array', 'a list'],
  ['null', 'null'],
])

export function sentenceOf(error: SchemaError, data: unknown): Finding {
  const { keyword, params, instancePath: pointer } = error
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(pointer, params.additionalProperty, error)
    case 'required':
      return errorAt(pointer, `the key "${params.missingProperty}" is missing`, { at: 'key' })
    case 'type':
      return wrongKind(error, data)
    case 'enum':
    case 'const':
      return wrongChoice(error, data)
    default:
      return error.propertyName === undefined
        ? outOfBounds(error, data)
        : wrongKeyName(error, error.propertyName)
  }
}

function unknownKey(parent: string, key: string, error: SchemaError): Finding {
  const known = isMapping(error.parentSchema?.properties) ? Object.keys(error.parentSchema.properties) : []
  const hint = didYouMean(key, known)
  return errorAt(childPointer(parent, key), `unknown key ${quoted(key)}`, { at: 'key', hint })
}

function wrongKind({ instancePath, params, data: value, parentSchema }: SchemaError, data: unknown): Finding {
  const kinds: unknown[] = [params.type].flat()
  const expected =
    expectedBy(parentSchema?.pattern) ?? kinds.map((kind) => KINDS.get(kind) ?? kind).join(' or ')
  const subject = subjectOf(instancePath, data)
  const shown = shownValue(value, parentSchema)
  return errorAt(instancePath, `${subject} must be ${expected}, not ${shown}`, {
    hint: kindHint(kinds, value),
  })
}

/** YAML takes these for text, and people do not. */
function kindHint(kinds: readonly unknown[], value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (kinds.includes('boolean')) {
    if (/^(yes|on|true)$/i.test(value)) return 'write true, without quotes'
    if (/^(no|off|false)$/i.test(value)) return 'write false, without quotes'
  }
  const isNumber = /^-?[0-9]+(\.[0-9]+)?$/.test(value)
  if (isNumber && (kinds.includes('number') || kinds.includes('integer')))
    return `write ${value} without quotes`
  return undefined
}

function wrongChoice(error: SchemaError, data: unknown): Finding {
  const { instancePath, params, data: value, parentSchema } = error
  const allowed: unknown[] = error.keyword === 'const' ? [params.allowedValue] : params.allowedValues
  const kinds: unknown[] = params.kinds ?? []
  const choices = [...allowed.map(choiceText), ...kinds.map((kind) => KINDS.get(kind) ?? String(kind))]
  const expected = choices.length > 1 ? `one of ${choices.join(', ')}` : choices.join('')
  const hint = typeof value === 'string' ? didYouMean(value, allowed.filter(isText)) : undefined
  const shown = shownValue(value, parentSchema)
  return errorAt(instancePath, `${subjectOf(instancePath, data)} must be ${expected}, not ${shown}`, { hint })
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function choiceText(value: unknown): string {
  return typeof value === 'string' && value.trim() === value && value !== '' ? value : shownValue(value)
}

function wrongKeyName({ instancePath, keyword, params, parentSchema }: SchemaError, key: string): Finding {
  const at = { at: 'key', hint: nameHint(parentSchema?.pattern, key) } as const
  const pointer = childPointer(instancePath, key)
  if (keyword === 'maxLength')
    return errorAt(pointer, tooLong(`the key ${quoted(key)}`, key, params.limit), at)
  const expected = expectedBy(params.pattern) ?? `text that matches ${params.pattern}`
  return errorAt(pointer, `the key ${quoted(key)} must be ${expected}`, at)
}

function nameHint(pattern: unknown, name: unknown): string | undefined {
  if (pattern !== ID.pattern || typeof name !== 'string') return undefined
  const id = idLike(name)
  return id === undefined || id === name ? undefined : `${quoted(id)} would do`
}

function outOfBounds(error: SchemaError, data: unknown): Finding {
  const { instancePath, keyword, params, data: value, parentSchema } = error
  const subject = subjectOf(instancePath, data)
  const shown = shownValue(value, parentSchema)
  const fault = (message: string, hint?: string) => errorAt(instancePath, message, { hint })
  switch (keyword) {
    case 'minimum':
      return fault(`${subject} must be at least ${params.limit}, not ${shown}`)
    case 'maximum':
      return fault(`${subject} must be at most ${params.limit}, not ${shown}`)
    case 'exclusiveMinimum':
      return fault(`${subject} must be more than ${params.limit}, not ${shown}`)
    case 'exclusiveMaximum':
      return fault(`${subject} must be less than ${params.limit}, not ${shown}`)
    case 'multipleOf':
      return fault(`${subject} must be a multiple of ${params.multipleOf}, not ${shown}`)
    case 'minLength':
      return fault(
        `${subject} must not be ${value === '' ? 'empty' : `shorter than ${params.limit} characters`}`,
      )
    case 'maxLength':
      return fault(tooLong(subject, String(value), params.limit), nameHint(parentSchema?.pattern, value))
    case 'pattern': {
      const expected = expectedBy(params.pattern) ?? `text that matches ${params.pattern}`
      return fault(`${subject} must be ${expected}, not ${shown}`, nameHint(params.pattern, value))
    }
    case 'minItems':
    case 'minProperties':
      return fault(`${subject} needs at least ${entries(params.limit)}`)
    case 'maxItems':
    case 'maxProperties':
      return fault(`${subject} takes at most ${entries(params.limit)}`)
    case 'uniqueItems':
      return fault(`items ${params.j + 1} and ${params.i + 1} of ${subject} are the same`)
    default:
      return fault(`${subject} ${error.message ?? 'does not fit'}`)
  }
}

function entries(count: number): string {
  return count === 1 ? 'one entry' : `${count} entries`
}

function tooLong(subject: string, text: string, lengthMax: number): string {
  return `${subject} has ${[...text].length} characters; at most ${lengthMax} are allowed`
}

/** `"baudRate"`, `item 2 of "devices"`, `the configuration`. */
function subjectOf(pointer: string, data: unknown): string {
  const segments = pointerSegments(pointer)
  const last = segments.at(-1)
  if (last === undefined) return 'the configuration'
  const parentPointer = pointer.slice(0, pointer.lastIndexOf('/'))
  if (!Array.isArray(valueAt(data, parentPointer))) return quoted(last)
  return `item ${Number(last) + 1} of ${subjectOf(parentPointer, data)}`
}

function shownValue(value: unknown, schema?: ErrorObject['parentSchema']): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (schema?.writeOnly === true) return 'what stands there'
  return typeof value === 'string' ? quoted(value) : String(value)
}
