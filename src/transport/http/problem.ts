/**
 * What is answered to a request that is none: problem documents of RFC 9457. What happens to a call is never a
 * problem; it is a result.
 */
import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'

/** The kinds, by the last part of their `type`. */
const PROBLEMS = {
  'malformed-request': { status: 400, title: 'The request cannot be read' },
  'malformed-body': { status: 400, title: 'The body cannot be read' },
  unauthorized: { status: 401, title: 'A valid token is needed' },
  'host-not-allowed': { status: 403, title: 'The Host is not allowed' },
  'origin-not-allowed': { status: 403, title: 'The Origin is not allowed' },
  'role-not-allowed': { status: 403, title: 'The token may not do this' },
  'not-found': { status: 404, title: 'There is no such thing' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'media-type': { status: 415, title: 'The body has to be JSON' },
  'precondition-failed': { status: 412, title: 'It has been changed by somebody else' },
  'invalid-request': { status: 422, title: 'The request does not fit its schema' },
  'invalid-configuration': { status: 422, title: 'The configuration has faults' },
  'not-available': { status: 422, title: 'The request asks for what this gateway does not offer' },
  unavailable: { status: 503, title: 'The gateway is stopping' },
  'too-many-streams': { status: 503, title: 'Too many clients are listening' },
  internal: { status: 500, title: 'A fault of the gateway itself' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemKind = keyof typeof PROBLEMS

export interface RequestFault {
  /** Where `field` points into. */
  readonly in: 'body' | 'query' | 'path' | 'header' | 'configuration'
  /** JSON pointer; "/name" for a query parameter or a header. */
  readonly field: string
  readonly message: string
  /** Of a configuration: what to do about it, and where it stands in its file. */
  readonly hint?: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

export interface ProblemParts {
  readonly errors?: readonly RequestFault[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown by hooks and handlers; the error handler of the server sends it. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly kind: ProblemKind
  readonly errors: readonly RequestFault[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(kind: ProblemKind, detail: string, parts: ProblemParts = {}) {
    super(detail)
    this.kind = kind
    this.errors = parts.errors
    this.headers = parts.headers ?? {}
  }
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

function problemDocument(problem: Problem): Readonly<Record<string, unknown>> {
  const { status, title } = PROBLEMS[problem.kind]
  return {
    type: `urn:baudway:problem:${problem.kind}`,
    title,
    status,
    detail: problem.message,
    ...(problem.errors && { errors: problem.errors }),
  }
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(PROBLEMS[problem.kind].status)
    .headers(problem.headers)
    .type(PROBLEM_MEDIA_TYPE)
    .send(JSON.stringify(problemDocument(problem)))
}

/** A whole response for a connection on which no request could be read. */
export function rawProblemResponse(status: 400 | 408 | 431, detail: string): string {
  const title = STATUS_CODES[status]
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  return [
    `HTTP/1.1 ${status} ${title}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
