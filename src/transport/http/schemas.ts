/**
 * The requests of this transport as JSON Schemas. They hold the form of a request; what the arguments of a tool may
 * be is the tool's own schema and is judged further in, where a fault becomes the result of that call.
 */
import { type Static, Type } from 'typebox'
import { BATCH_CALLS_MAX, DEADLINE_MAX_MS } from '../../limits.ts'

const NAME_LENGTH_MAX = 256

const anyObject = () => Type.Record(Type.String(), Type.Unknown())

const CALL = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
  name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
  arguments: Type.Optional(anyObject()),
  confirmation: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
}

const OPTIONS = {
  policy: Type.Optional(Type.Enum(['partition', 'batch', 'resource'])),
  priority: Type.Optional(Type.Enum(['interactive', 'automation'])),
  deadlineMs: Type.Optional(Type.Number({ minimum: 0, maximum: DEADLINE_MAX_MS })),
  maxAgeMs: Type.Optional(Type.Number({ minimum: 0 })),
  onError: Type.Optional(Type.Enum(['continue', 'abort'])),
  context: Type.Optional(anyObject()),
}

const strict = { additionalProperties: false }

export const CallBody = Type.Object({ ...CALL, ...OPTIONS }, strict)
export const BatchBody = Type.Object(
  {
    calls: Type.Array(Type.Object(CALL, strict), { minItems: 1, maxItems: BATCH_CALLS_MAX }),
    ...OPTIONS,
  },
  strict,
)
export type BatchBody = Static<typeof BatchBody>

/** Values of a query are text; a handler turns them into what they mean, in the open. */
export const NoQuery = Type.Object({}, strict)
export const TraceQuery = Type.Object({ last: Type.Optional(Type.String()) }, strict)
export const ToolsQuery = Type.Object({ format: Type.Optional(Type.String()) }, strict)
export const IdPath = Type.Object({ id: Type.String() }, strict)
