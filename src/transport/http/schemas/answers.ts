/** The answers of a route, by status, in the form from which Fastify's OpenAPI plug-in makes the document. */
import { STATUS_CODES } from 'node:http'
import { type TSchema, Type } from 'typebox'
import { PROBLEM_MEDIA_TYPE } from '../problem.ts'
import { ProblemDocument } from './problem.ts'

export interface Answer {
  readonly description: string
  readonly headers?: Readonly<Record<string, TSchema>>
  readonly content: Readonly<Record<string, { readonly schema: TSchema }>>
}

/** By status. */
export type Answers = Readonly<Record<string, Answer>>

export function json(schema: TSchema, description: string, headers?: Answer['headers']): Answer {
  return { description, ...(headers && { headers }), content: { 'application/json': { schema } } }
}

export function text(mediaType: string, description: string): Answer {
  return { description, content: { [mediaType]: { schema: Type.String() } } }
}

/** What a problem of that status always brings. */
const PROBLEM_HEADERS: Readonly<Record<number, Answer['headers']>> = {
  401: { 'WWW-Authenticate': Type.String({ description: 'Bearer, and what is wrong with the token' }) },
  503: { 'Retry-After': Type.String({ description: 'After so many seconds it is worth trying again' }) },
}

export function problemAnswers(statuses: readonly number[]): Answers {
  return Object.fromEntries(
    statuses.map((status) => {
      const headers = PROBLEM_HEADERS[status]
      return [
        String(status),
        {
          description: STATUS_CODES[status] ?? String(status),
          ...(headers && { headers }),
          content: { [PROBLEM_MEDIA_TYPE]: { schema: ProblemDocument } },
        },
      ]
    }),
  )
}

/** The same answer may also be a problem document. */
export function orProblem({ description, content, ...rest }: Answer): Answer {
  return { ...rest, description, content: { ...content, [PROBLEM_MEDIA_TYPE]: { schema: ProblemDocument } } }
}
