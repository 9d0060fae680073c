/** The OpenAPI document, made from the schemas of the routes when somebody asks for it. */
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { open } from './access.ts'
import { json } from './schemas/answers.ts'
import { anyObject, type Documented, NoQuery } from './schemas/parts.ts'

const TAGS = {
  tools: 'What may be called',
  calls: 'Calls, batches and plans',
  devices: 'Devices and their types',
  ports: 'Serial ports',
  events: 'What happens, as it happens',
  stop: 'The emergency stop',
  configuration: 'The configuration file',
  gateway: 'The gateway itself',
}

const DESCRIPTION =
  'A gateway that makes serial devices safe, schedulable tools. What is no proper request is answered with a ' +
  'problem document (RFC 9457); whatever happens to a call is a result with status 200. The roles of a token are ' +
  'read, control and admin, and each may do all that the one before it may.'

/** Has to be registered before the routes, which it watches being added. */
export function describeRoutes(app: FastifyInstance, version: string): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Baudway',
        version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'An API token of the gateway' },
        },
      },
    },
    transform: ({ schema, url }) => ({ schema: asDocumented(schema), url }),
    transformObject: (document) => ('openapiObject' in document ? named(document.openapiObject) : {}),
  })
}

export function addDocumentRoute(app: FastifyInstance): void {
  app.get(
    '/openapi.json',
    open({
      operationId: 'getOpenApiDocument',
      tags: ['gateway'],
      summary: 'This document',
      querystring: NoQuery,
      response: { 200: json(anyObject(), 'An OpenAPI 3.1 document') },
    }),
    async () => app.swagger(),
  )
}

function asDocumented({ documented, ...schema }: FastifySchema & { readonly documented?: Documented }) {
  return { ...schema, ...documented }
}

/**
 * Every schema with a title becomes a component of that name, so that a generated client has types with names. A
 * choice of words is said to be text, without which many generators take it for anything.
 */
function named<T extends { paths?: object; components?: object }>(document: T): T {
  const schemas: Record<string, unknown> = {}
  const paths = referring(document.paths ?? {}, schemas)
  return { ...document, paths, components: { ...document.components, schemas } }
}

function referring(part: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(part)) return part.map((element) => referring(element, schemas))
  if (typeof part !== 'object' || part === null) return part
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, referring(value, schemas)]),
  )
  const isChoice = Array.isArray(copy.enum)
  if (isChoice) copy.type ??= 'string'
  const { title } = copy
  // A property may be called "title"; then it is a schema and no text.
  if (typeof title !== 'string' || (copy.type !== 'object' && !isChoice)) return copy
  schemas[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}
