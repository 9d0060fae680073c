/** The problem document of RFC 9457 as a JSON Schema. */
import { Type } from 'typebox'
import { choice, text } from './parts.ts'

export const ProblemDocument = Type.Object(
  {
    type: Type.String({
      description: 'The kind of the problem: urn:baudway:problem:<kind>',
      examples: ['urn:baudway:problem:invalid-request'],
    }),
    title: text('What every problem of this kind is called'),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the response' }),
    detail: text('What happened to this request, and what it means for what was asked'),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            in: choice(['body', 'query', 'path', 'header', 'configuration'], {
              description: 'The part of the request that field points into',
            }),
            field: text('JSON pointer; /name for a parameter or a header'),
            message: text('What is wrong there'),
            hint: Type.Optional(text('What to do about it')),
            file: Type.Optional(text('Of a configuration: the file that it stands in')),
            line: Type.Optional(Type.Integer({ minimum: 1, description: 'Its line in the file' })),
            column: Type.Optional(Type.Integer({ minimum: 1, description: 'Its column in that line' })),
          },
          { title: 'RequestFault', description: 'One fault of a request' },
        ),
        { description: 'Every fault of the request' },
      ),
    ),
  },
  { title: 'Problem', description: 'Why a request was not taken (RFC 9457)' },
)
