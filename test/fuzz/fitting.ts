/** Values that fit a JSON Schema, as the parameters of tools use it. */
import fc, { type Arbitrary } from 'fast-check'

export interface ValueSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly multipleOf?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
}

export interface ParametersSchema extends ValueSchema {
  readonly type: 'object'
}

/** Of a tool that has none. */
export const NO_PARAMETERS: ParametersSchema = { type: 'object' }

/** Throws for a schema that it does not know: a new kind of parameter must not go untried. */
export function fitting(schema: ParametersSchema): Arbitrary<Record<string, unknown>>
export function fitting(schema: ValueSchema): Arbitrary<unknown>
export function fitting(schema: ValueSchema): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return integers(schema)
    case 'number': {
      const { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE } = schema
      const ends = fc.constantFrom(minimum, maximum)
      return fc.oneof({ weight: 4, arbitrary: fc.double({ min: minimum, max: maximum, noNaN: true }) }, ends)
    }
    case 'string': {
      const { maxLength = 300 } = schema
      const units = [
        undefined,
        'binary',
        fc.constantFrom('a', ' ', '>', '\r', '\n', '\0', '\u001b', '\u009b'),
      ] as const
      const texts = units.map((unit) => fc.string({ maxLength, ...(unit && { unit }) }))
      return fc.oneof(...texts).filter(isShort(maxLength))
    }
    case 'object': {
      const entries = Object.entries(schema.properties ?? {}).map(
        ([key, one]) => [key, fitting(one)] as const,
      )
      return fc.record(Object.fromEntries(entries), {
        requiredKeys: [...(schema.required ?? [])],
        noNullPrototype: true,
      })
    }
    default:
      throw new Error(`a schema that is not known here: ${JSON.stringify(schema)}`)
  }
}

/** A multiple, the ends of the range among them; beyond 2^53 the nearest double. */
function integers({
  minimum = -(2 ** 53),
  maximum = 2 ** 53,
  multipleOf = 1,
}: ValueSchema): Arbitrary<number> {
  const [least, most] = [Math.ceil(minimum / multipleOf), Math.floor(maximum / multipleOf)]
  const isSafe = Number.isSafeInteger(least) && Number.isSafeInteger(most)
  const inside = isSafe
    ? fc.integer({ min: least, max: most })
    : fc.double({ min: least, max: most, noNaN: true }).map(Math.trunc)
  return fc
    .oneof({ weight: 4, arbitrary: inside }, fc.constantFrom(least, most))
    .map((one) => one * multipleOf)
}

/** JSON Schema counts characters, not code units. */
function isShort(lengthMax: number): (text: string) => boolean {
  return (text) => [...text].length <= lengthMax
}
