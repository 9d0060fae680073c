/**
 * The form that every route behind a token has: the role that it needs, the body that it takes or does not take,
 * and the answers that follow from these. What lets a request in is checked before its body is read.
 */
import type { FastifyRequest, FastifySchema } from 'fastify'
import type { Home, Principal, Role } from '../../tool/home.ts'
import { bearerToken, hasRole } from '../principal.ts'
import { Problem } from './problem.ts'
import { type Answers, problemAnswers } from './schemas/answers.ts'
import type { Documented } from './schemas/parts.ts'

export type Check = (request: FastifyRequest) => Promise<void>

/** What a route says of itself, in the words of OpenAPI. */
export interface Described extends FastifySchema {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly documented?: Documented
  readonly response: Answers
}

/** Statuses that any route may answer with. */
const ALWAYS = [400, 403, 422, 500, 503] as const

export interface Guarded<S> {
  readonly onRequest: Check[]
  readonly schema: S & { readonly security: readonly { readonly token: readonly string[] }[] }
}

export type Guard = <const S extends Described>(role: Role, schema: S, ...checks: Check[]) => Guarded<S>

/** Makes the options of a route that needs a token with that role. */
export function routeGuard(home: Home): Guard {
  return (role, schema, ...checks) => {
    const statuses = [...ALWAYS, 401, ...(schema.params ? [404] : []), ...(schema.body ? [413, 415] : [])]
    return {
      onRequest: [needs(home, role), schema.body ? jsonOnly : noBody, ...checks],
      schema: {
        ...schema,
        security: [{ token: [role] }],
        response: { ...problemAnswers(statuses), ...schema.response },
      },
    }
  }
}

/** The schema of a route without a token. */
export function open<const S extends Described>(schema: S) {
  return { schema: { ...schema, security: [], response: { ...problemAnswers(ALWAYS), ...schema.response } } }
}

/** Lets in who has the role, and remembers who it is. */
export function needs(home: Home, role: Role): Check {
  return async (request) => {
    const principal = authenticate(home, request.headers.authorization)
    if (!hasRole(principal, role)) {
      throw new Problem('role-not-allowed', `This needs the role ${role}; the token has ${principal.role}.`, {
        headers: {
          'www-authenticate': `Bearer realm="baudway", error="insufficient_scope", scope="${role}"`,
        },
      })
    }
    request.setDecorator('principal', principal)
  }
}

function authenticate(home: Home, authorization: string | undefined): Principal {
  if (authorization === undefined) {
    throw new Problem('unauthorized', 'Send the header "Authorization: Bearer <token>".', {
      headers: { 'www-authenticate': 'Bearer realm="baudway"' },
    })
  }
  const token = bearerToken(authorization)
  const principal = token === undefined ? undefined : home.authenticate(token)
  if (principal) return principal
  throw new Problem('unauthorized', 'The token is not valid.', {
    headers: { 'www-authenticate': 'Bearer realm="baudway", error="invalid_token"' },
  })
}

export function principalOf(request: FastifyRequest): Principal {
  return request.getDecorator<Principal>('principal')
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i

const jsonOnly: Check = async ({ headers }) => {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Problem('media-type', 'A body is taken as it is, without Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new Problem('media-type', 'Send the body as "Content-Type: application/json", in UTF-8.', {
      headers: { accept: 'application/json' },
    })
  }
}

/** A body that nobody looks at would be dropped in silence. */
const noBody: Check = async ({ headers }) => {
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0)) return
  throw new Problem('invalid-request', 'This request takes no body; nothing was done.', {
    errors: [{ in: 'body', field: '', message: 'is not expected' }],
  })
}

export function nothing(kind: string, id: string): never {
  throw new Problem('not-found', `There is no ${kind} "${id}".`)
}
