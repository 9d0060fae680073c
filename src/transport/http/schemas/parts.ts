/** What the schemas of requests and responses are made of. */
import { type TSchema, Type } from 'typebox'

/** For requests: a name that is not known is a fault. Responses stay open for names of a later version. */
export const strict = { additionalProperties: false }

export const anyObject = (options: { description?: string } = {}) =>
  Type.Record(Type.String(), Type.Unknown(), options)

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** ISO 8601 in UTC with milliseconds. */
export function time(options: { nullable?: boolean; description?: string } = {}) {
  const { nullable: mayBeNull, ...shown } = options
  const schema = Type.String({ format: 'date-time', ...shown })
  return mayBeNull ? nullable(schema) : schema
}

export const claim = () =>
  Type.Object(
    { resource: Type.String(), mode: Type.Enum(['shared', 'exclusive']) },
    { title: 'Claim', description: 'A resource that a call needs' },
  )

/** Values of a query are text; a handler turns them into what they mean, in the open. */
export const NoQuery = Type.Object({}, strict)

export const idPath = (description: string) => Type.Object({ id: Type.String({ description }) }, strict)
