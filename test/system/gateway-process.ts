/** The built gateway as a process of its own, with a configuration file, as a user starts it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')
export const MAIN = join(ROOT, 'dist', 'src', 'main.js')

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command to its end. */
export function baudway(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return new Promise<Finished>((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { cwd: options.cwd ?? ROOT, env: { ...process.env, ...options.env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

export interface GatewayProcess {
  readonly url: string
  readonly token: string
  readonly pid: number
  readonly directory: string
  stderr(): string
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
  /** A command of the client, pointed at this gateway. */
  command(...args: string[]): Promise<Finished>
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; tookMs: number }>
  remove(): Promise<void>
}

export async function startGateway(config: string): Promise<GatewayProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'baudway-system-'))
  const file = join(directory, 'baudway.yaml')
  await writeFile(file, config)
  const state = join(directory, 'state')
  const child = spawn(
    process.execPath,
    [MAIN, 'start', '--config', file, '--port', '0', '--state-dir', state],
    { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const url = await listening(child, () => stderr)
  const token = (await readFile(join(state, 'admin.token'), 'utf8')).trim()
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { ...init, headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status} ${text}`)
    return JSON.parse(text) as T
  }
  return {
    url,
    token,
    pid: child.pid ?? 0,
    directory,
    stderr: () => stderr,
    get: (path) => ask(path),
    post: (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) }),
    command: (...args) => baudway(args, { cwd: directory, env: { BAUDWAY_URL: url, BAUDWAY_TOKEN: token } }),
    stop: (signal = 'SIGTERM') => stop(child, signal),
    remove: async () => {
      await stop(child, 'SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function listening(child: ChildProcess, stderr: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      const url = /baudway listening on (\S+)/.exec(stdout)?.[1]
      if (url) resolve(url)
    })
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${stdout}${stderr()}`)))
  })
}

async function stop(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return { code: child.exitCode, tookMs: 0 }
  const startMs = performance.now()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  await ended
  return { code: child.exitCode, tookMs: performance.now() - startMs }
}

/** Asks again until the answer fits; rejects when it does not within `timeoutMs`. */
export async function until<T>(
  ask: () => Promise<T> | T,
  fits: (answer: T) => boolean,
  timeoutMs = 10_000,
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (fits(answer)) return answer
    if (performance.now() > endMs)
      throw new Error(`it did not happen within ${timeoutMs} ms: ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
