/**
 * The OpenAPI document for people: Swagger UI out of its package, so that it works without the Internet. Its files
 * are read when somebody asks for them. The page may load nothing that this server does not serve, and has no script
 * of its own in it.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { Problem } from './problem.ts'

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Baudway API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<div id="api"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  validatorUrl: null,
})
`

const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The icons of the style sheet are in it.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Files of the package that are served, and nothing else. */
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

export function addDocsPage(app: FastifyInstance): void {
  const schema = { hide: true }
  app.get('/docs', { schema }, async (_request, reply) =>
    reply.header('content-security-policy', PAGE_CSP).type('text/html; charset=utf-8').send(PAGE),
  )
  app.get('/docs/start.js', { schema }, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(START),
  )
  app.get<{ Params: { file: string } }>('/docs/:file', { schema }, async ({ params: { file } }, reply) => {
    const type = Object.hasOwn(PACKAGE_FILES, file) ? PACKAGE_FILES[file] : undefined
    if (type === undefined) throw new Problem('not-found', 'There is no such file.')
    const path = createRequire(import.meta.url).resolve(`@fastify/swagger-ui/static/${file}`)
    // It changes with the version of the gateway only.
    return reply
      .header('cache-control', 'private, max-age=3600')
      .type(type)
      .send(await readFile(path))
  })
}
