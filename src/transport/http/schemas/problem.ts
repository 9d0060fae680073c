/** The problem document of RFC 9457 as a JSON Schema. */
import { Type } from 'typebox'

export const ProblemDocument = Type.Object(
  {
    type: Type.String({ description: 'urn:baudway:problem:<kind>' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            in: Type.Enum(['body', 'query', 'path', 'header', 'configuration']),
            field: Type.String({ description: 'JSON pointer; /name for a parameter or a header' }),
            message: Type.String(),
            hint: Type.Optional(Type.String()),
            file: Type.Optional(Type.String()),
            line: Type.Optional(Type.Integer()),
            column: Type.Optional(Type.Integer()),
          },
          { title: 'RequestFault' },
        ),
        { description: 'Every fault of the request' },
      ),
    ),
  },
  { title: 'Problem' },
)
