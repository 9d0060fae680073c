/** The page at `/`: what answers here, and where to go on. It loads nothing and runs nothing. */
import { createHash } from 'node:crypto'

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}' +
  'code{font-family:ui-monospace,monospace}dt{margin-top:.75rem}dd{margin-left:1.5rem}'

export const LANDING_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Baudway</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Baudway</h1>
<p>This is a gateway for serial devices. It offers them as tools that agents and automations can call.</p>
<p>The API speaks JSON below <code>/v1</code> and needs a bearer token. The first start writes an admin token to the
file <code>admin.token</code> in the state directory.</p>
<dl>
<dt><code>GET /v1/tools</code></dt><dd>the tools that may be called</dd>
<dt><code>POST /v1/calls</code></dt><dd>one call</dd>
<dt><code>POST /v1/batches</code></dt><dd>calls in order, run together where that is safe</dd>
<dt><code>POST /v1/plan</code></dt><dd>what a batch would do</dd>
<dt><code>GET /v1/devices</code>, <code>GET /v1/ports</code></dt><dd>what is connected, and how it is</dd>
<dt><code>GET /v1/events</code></dt><dd>what happens, as it happens</dd>
<dt><a href="/docs"><code>GET /docs</code></a>, <a href="/openapi.json"><code>GET /openapi.json</code></a></dt>
<dd>the whole API, to read and for programs, without a token</dd>
<dt><code>GET /metrics</code></dt><dd>metrics for Prometheus</dd>
<dt><a href="/healthz"><code>GET /healthz</code></a>, <a href="/readyz"><code>GET /readyz</code></a></dt>
<dd>whether the gateway lives and is ready, without a token</dd>
</dl>
</body>
</html>
`

const styleHash = createHash('sha256').update(STYLE).digest('base64')

export const LANDING_PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
