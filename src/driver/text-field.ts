/** The fields of a line of text: named groups, each of the type that was declared for it. */
import { type TProperties, Type } from 'typebox'
import type { Groups } from './text-pattern.ts'

export type FieldType = 'string' | 'number' | 'integer' | 'boolean'
export type FieldValue = string | number | boolean

const INTEGER = /^[+-]?\d+$/
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const TRUE = new Set(['1', 'true', 'on', 'yes'])
const FALSE = new Set(['0', 'false', 'off', 'no'])

/** Undefined: the text is no such value. Blanks around a value are no part of it. */
export function fieldOf(text: string, type: FieldType): FieldValue | undefined {
  const trimmed = text.trim()
  switch (type) {
    case 'string':
      return text
    case 'integer':
      return INTEGER.test(trimmed) && Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) + 0 : undefined
    case 'number':
      return NUMBER.test(trimmed) && Number.isFinite(Number(trimmed)) ? Number(trimmed) + 0 : undefined
    case 'boolean': {
      const word = trimmed.toLowerCase()
      return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined
    }
  }
}

/** Undefined: one of the groups is not what its field was declared to be. */
export function fieldsOf(
  groups: Groups,
  types: Readonly<Record<string, FieldType>>,
): Record<string, FieldValue> | undefined {
  const fields: Record<string, FieldValue> = {}
  for (const [name, text] of Object.entries(groups)) {
    const field = fieldOf(text, types[name] ?? 'string')
    if (field === undefined) return undefined
    fields[name] = field
  }
  return fields
}

export function fieldSchema(type: FieldType): TProperties[string] {
  switch (type) {
    case 'string':
      return Type.String()
    case 'number':
      return Type.Number()
    case 'integer':
      return Type.Integer()
    case 'boolean':
      return Type.Boolean()
  }
}
