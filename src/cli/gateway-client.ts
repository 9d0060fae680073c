/**
 * The running gateway as a command sees it: where it is, with which token it is asked, and a sentence for every way
 * in which it cannot be asked. The token of a state directory is only ever sent to the gateway of that directory.
 */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf } from '../errors.ts'
import { ADMIN_TOKEN_FILE } from '../store/admin-token.ts'
import { CommandFault, FAILED, type Option, WRONG_USAGE } from './command.ts'
import { isAlive, readGatewayFile } from './gateway-file.ts'
import { printable } from './printable.ts'
import { stateDirectories } from './state-directory.ts'
import type { Terminal } from './terminal.ts'

export const GATEWAY_OPTIONS = {
  url: { type: 'string', value: 'URL', help: 'default BAUDWAY_URL, else the local gateway' },
  token: { type: 'string', value: 'TOKEN', help: 'default BAUDWAY_TOKEN, else of the local gateway' },
  'state-dir': { type: 'string', value: 'DIR', help: 'the state directory of the local gateway' },
} as const satisfies Record<string, Option>

export interface GatewayOptions {
  readonly url?: string
  readonly token?: string
  readonly 'state-dir'?: string
}

export interface GatewayClient {
  readonly url: string
  get(path: string): Promise<unknown>
  post(path: string, body?: unknown): Promise<unknown>
  delete(path: string): Promise<unknown>
  /** The events of an answer that goes on until it is aborted, from behind the one of that id. Rejects as the others do. */
  stream(path: string, signal: AbortSignal, lastEventId?: string): Promise<ReadableStream<Uint8Array>>
}

const URL_DEFAULT = 'http://127.0.0.1:7373'
const FIND_IT = [
  'Start it with "baudway start". One of this machine with another state directory is found by',
  '--state-dir DIR, which gives its token too; one of another machine by --url URL --token TOKEN.',
]

export async function findGateway(options: GatewayOptions, terminal: Terminal): Promise<GatewayClient> {
  const { environment } = terminal
  const named = options.url ?? environment.BAUDWAY_URL
  const token = options.token ?? environment.BAUDWAY_TOKEN
  const given = options['state-dir']
  const directories = given === undefined ? stateDirectories(terminal) : [resolve(terminal.directory, given)]
  const local = await findLocal(directories, named === undefined)
  if (given !== undefined && named === undefined && !local) {
    throw new CommandFault(
      FAILED,
      `No gateway runs with the state directory ${printable(given)}.`,
      'Start it with "baudway start", or name the directory that it was started with.',
    )
  }
  const url = baseUrl(named ?? local?.url ?? URL_DEFAULT)
  const isLocal = local !== undefined && baseUrl(local.url) === url
  return client(url, token ?? (isLocal ? await localToken(local.directory) : undefined), terminal)
}

interface Local {
  readonly url: string
  readonly directory: string
}

/** The first directory whose gateway lives. A file that may not be read only matters if nothing else says where to go. */
async function findLocal(directories: readonly string[], needed: boolean): Promise<Local | undefined> {
  for (const directory of directories) {
    try {
      const file = await readGatewayFile(directory)
      if (file && isAlive(file)) return { url: file.url, directory }
    } catch (error) {
      if (needed) throw unreadable(directory, error)
    }
  }
  return undefined
}

async function localToken(directory: string): Promise<string> {
  try {
    return (await readFile(join(directory, ADMIN_TOKEN_FILE), 'utf8')).trim()
  } catch (error) {
    throw unreadable(directory, error)
  }
}

function unreadable(directory: string, error: unknown): CommandFault {
  const { code } = error as NodeJS.ErrnoException
  return new CommandFault(
    FAILED,
    `The state directory ${directory} cannot be read (${code ?? 'no reason given'}).`,
    'Run this as the user of the gateway, or set BAUDWAY_URL and BAUDWAY_TOKEN.',
  )
}

function baseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new CommandFault(WRONG_USAGE, `"${printable(text)}" is not an http:// or https:// URL`)
  }
  return text.replace(/\/+$/, '')
}

function client(url: string, token: string | undefined, terminal: Terminal): GatewayClient {
  const reach = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return terminal.fetch(`${url}${path}`, { ...init, headers, redirect: 'error' })
  }
  const refusal = (status: number, text: string) =>
    new CommandFault(FAILED, ...problemLines(status, parsed(text, url), token !== undefined))
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    let reply: Response
    let text: string
    try {
      reply = await reach(path, init)
      text = await reply.text()
    } catch (error) {
      throw unreachable(url, error, init.method !== 'GET')
    }
    if (!reply.ok) throw refusal(reply.status, text)
    return parsed(text, url)
  }
  return {
    url,
    get: (path) => ask(path, { method: 'GET' }),
    post: (path, body) => {
      if (body === undefined) return ask(path, { method: 'POST' })
      const headers = { 'content-type': 'application/json' }
      return ask(path, { method: 'POST', body: JSON.stringify(body), headers })
    },
    delete: (path) => ask(path, { method: 'DELETE' }),
    async stream(path, signal, lastEventId) {
      const resuming = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      let reply: Response
      try {
        const headers = { accept: 'text/event-stream', ...resuming }
        reply = await reach(path, { method: 'GET', signal, headers })
      } catch (error) {
        throw unreachable(url, error, false)
      }
      if (!reply.ok) throw refusal(reply.status, await reply.text())
      if (!reply.body) throw new CommandFault(FAILED, `What answers at ${url} is not a Baudway gateway.`)
      return reply.body
    },
  }
}

function parsed(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandFault(FAILED, `What answers at ${url} is not a Baudway gateway.`)
  }
}

/** The codes of Node for a connection that never was, so that nothing can have been asked. */
const NEVER_CONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens there.',
  ENOTFOUND: 'There is no such host.',
  EAI_AGAIN: 'The name of the host cannot be looked up now.',
  EHOSTUNREACH: 'There is no way to that host.',
  ENETUNREACH: 'There is no way to that network.',
  UND_ERR_CONNECT_TIMEOUT: 'The host does not answer.',
}

function unreachable(url: string, error: unknown, asked: boolean): CommandFault {
  const cause = error instanceof Error ? error.cause : undefined
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? ''
  const reason = NEVER_CONNECTED[code]
  if (reason !== undefined) return new CommandFault(FAILED, `No gateway at ${url}. ${reason}`, ...FIND_IT)
  const why = code === '' ? messageOf(cause ?? error) : code
  const lines = [`The connection to ${url} broke (${why}).`]
  if (asked) lines.push('What was asked may have been done, or may still run. Look before asking again.')
  return new CommandFault(FAILED, ...lines)
}

/** A problem document (RFC 9457), by line. */
function problemLines(status: number, body: unknown, hadToken: boolean): readonly string[] {
  const { title, detail, errors } = (body ?? {}) as { title?: unknown; detail?: unknown; errors?: unknown }
  const said = [title, detail].filter((part) => typeof part === 'string').map(printable)
  const lines = [said.length > 0 ? said.join(': ') : `The gateway answered with status ${status}.`]
  for (const fault of Array.isArray(errors) ? errors : []) {
    const { field, message } = (fault ?? {}) as { field?: unknown; message?: unknown }
    lines.push(`  ${printable(String(field ?? ''))}: ${printable(String(message ?? ''))}`)
  }
  if (status === 401 && hadToken) lines.push('The token was refused.')
  if (status === 401 && !hadToken) {
    lines.push('Give a token with --token or BAUDWAY_TOKEN.')
    lines.push('For a gateway of this machine, --state-dir DIR in the place of --url gives both.')
  }
  return lines
}

/** The list below `plural` in an answer of the gateway. */
export function listOf<T>(body: unknown, plural: string, url: string): readonly T[] {
  const list = (body as Record<string, unknown> | null)?.[plural]
  if (!Array.isArray(list)) throw new CommandFault(FAILED, `What answers at ${url} is not a Baudway gateway.`)
  return list
}
