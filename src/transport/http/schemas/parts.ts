/** What the schemas of requests and responses are made of. */
import { type TObject, type TSchema, Type } from 'typebox'

/** For requests: a name that is not known is a fault. Responses stay open for names of a later version. */
export const strict = { additionalProperties: false }

export const anyObject = (options: { description?: string } = {}) =>
  Type.Record(Type.String(), Type.Unknown(), options)

/** The description belongs to the whole: a client generator does not look for it in one half of a union. */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], { ...(description !== undefined && { description }) })

export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const milliseconds = (description: string) => Type.Number({ minimum: 0, description })

/**
 * One of several words; with a title it becomes a named component. The document says its type as well: here that
 * would be a second fault for the same wrong value.
 */
export const choice = <const V extends readonly string[]>(
  values: readonly [...V],
  options: { title?: string; description?: string } = {},
) => Type.Unsafe<V[number]>({ enum: [...values], ...options })

/** ISO 8601 in UTC with milliseconds. */
export const time = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) })

export const claim = () =>
  Type.Object(
    {
      resource: text('port:<id> of a line, or a name of the author of a tool'),
      mode: choice(['shared', 'exclusive'], {
        description:
          'Calls that share a resource may overlap; one that has it to itself may not be overlapped',
      }),
    },
    { title: 'Claim', description: 'A resource that a call needs' },
  )

/** Values of a query are text; a handler turns them into what they mean, in the open. */
export const NoQuery = Type.Object({}, strict)

export const idPath = (description: string) => Type.Object({ id: Type.String({ description }) }, strict)

/** What the document says of a request that the server does not judge by a schema: what it reads by itself. */
export interface Documented {
  readonly headers?: TObject
  /** In place of the server's own, which knows nothing but text. */
  readonly querystring?: TObject
}

export const optionalHeader = (name: string, description: string, example: string) =>
  Type.Object({ [name]: Type.Optional(Type.String({ description, examples: [example] })) })
