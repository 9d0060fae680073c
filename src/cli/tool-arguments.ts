/**
 * The arguments of a call as they are typed on a command line: `name=value`, the value meant as the tool's schema
 * says. Only the kind of a value is judged here; its bounds are the gateway's business.
 */
import { JSON_DEPTH_MAX } from '../limits.ts'
import { nearest } from '../tool/nearest.ts'
import { readJson } from '../transport/http/json-reader.ts'

export type ArgumentReading =
  | { readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly faults: readonly string[] }

type Schema = Readonly<Record<string, unknown>>
type Typed = { readonly value: unknown } | { readonly fault: string }

const INTEGER = /^[+-]?[0-9]+$/
const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/

/** Reads `name=value` pairs; without a schema (an unknown tool) every value is text. Every fault is named. */
export function readArguments(pairs: readonly string[], schema: Schema | undefined): ArgumentReading {
  const faults: string[] = []
  const read = new Map<string, unknown>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1) {
      faults.push(`"${pair}" is not of the form name=value`)
      continue
    }
    const name = pair.slice(0, at)
    if (read.has(name)) faults.push(`${name} is given twice`)
    const typed = schema ? readOne(name, pair.slice(at + 1), schema) : { value: pair.slice(at + 1) }
    if ('fault' in typed) faults.push(typed.fault)
    else read.set(name, typed.value)
  }
  return faults.length > 0 ? { faults } : { arguments: Object.fromEntries(read) }
}

function readOne(name: string, text: string, schema: Schema): Typed {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (isSchema(property)) {
    const typed = readValue(text, property)
    return 'fault' in typed ? { fault: `${name}: ${typed.fault}` } : typed
  }
  if (property === undefined && schema.additionalProperties === false)
    return { fault: unknownName(name, properties) }
  return readValue(text, {})
}

function unknownName(name: string, properties: Schema): string {
  const known = Object.keys(properties)
  if (known.length === 0) return `${name}: the tool takes no arguments`
  const [near] = nearest(name, known)
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  return `${name}: the tool has no such parameter${meant} It has ${known.join(', ')}`
}

function readValue(text: string, schema: Schema): Typed {
  const members = membersOf(schema)
  if (members) {
    const found = members.find((member) => spelling(member) === text)
    return found === undefined
      ? { fault: `"${text}" is none of ${members.map(spelling).join(', ')}` }
      : { value: found }
  }
  const choices = choicesOf(schema)
  if (!choices) return readPlain(text, schema.type)
  const typed = choices.map((choice) => readValue(text, choice))
  const fits = typed.find((choice) => 'value' in choice)
  if (fits) return fits
  return { fault: typed.map((choice) => ('fault' in choice ? choice.fault : '')).join(', or ') }
}

/** The values that a schema lists, if it does. */
function membersOf(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum
  if ('const' in schema) return [schema.const]
  const alternatives = schema.anyOf ?? schema.oneOf
  if (!Array.isArray(alternatives)) return undefined
  const members = alternatives.map((choice) => (isSchema(choice) ? membersOf(choice) : undefined))
  return members.every((list) => list !== undefined) ? members.flat() : undefined
}

function choicesOf(schema: Schema): readonly Schema[] | undefined {
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return alternatives.filter(isSchema)
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ type })) : undefined
}

function readPlain(text: string, type: unknown): Typed {
  switch (type) {
    case 'string':
      return { value: text }
    case 'integer': {
      const value = Number(text)
      if (INTEGER.test(text) && Number.isSafeInteger(value)) return { value }
      return { fault: `"${text}" is not an integer` }
    }
    case 'number': {
      const value = Number(text)
      return NUMBER.test(text) && Number.isFinite(value) ? { value } : { fault: `"${text}" is not a number` }
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' }
      return { fault: `"${text}" is neither true nor false` }
    case 'null':
      return text === 'null' ? { value: null } : { fault: `"${text}" is not null` }
    case 'object':
    case 'array':
      return readStructure(text, type)
    default:
      return readAnything(text)
  }
}

function readStructure(text: string, type: 'object' | 'array'): Typed {
  const typed = readJsonText(text)
  if ('fault' in typed) return { fault: `"${text}" is not JSON: ${typed.fault}` }
  const fits = type === 'array' ? Array.isArray(typed.value) : isSchema(typed.value)
  return fits ? typed : { fault: `"${text}" is not a JSON ${type}` }
}

/** A schema that says nothing: JSON where the text is JSON, else text. */
function readAnything(text: string): Typed {
  const typed = readJsonText(text)
  return 'fault' in typed ? { value: text } : typed
}

/** JSON as the gateway takes it in a body. */
function readJsonText(text: string): Typed {
  const reading = readJson(new TextEncoder().encode(text), JSON_DEPTH_MAX)
  return 'value' in reading ? reading : { fault: reading.faults.map(({ message }) => message).join('; ') }
}

/** The value of `--args`. */
export function readArgumentObject(text: string): ArgumentReading {
  const typed = readStructure(text, 'object')
  if ('fault' in typed) return { faults: [`--args: ${typed.fault}`] }
  return { arguments: isSchema(typed.value) ? typed.value : {} }
}

function spelling(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
