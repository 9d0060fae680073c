/**
 * `gateway.json` in the state directory: where the running gateway is, for the commands that talk to it. `start`
 * writes it once it serves and takes it away at the end. A gateway that was killed leaves it behind, so a reader
 * looks whether the process lives.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface GatewayFile {
  readonly url: string
  readonly pid: number
}

const NAME = 'gateway.json'

export async function writeGatewayFile(stateDir: string, content: GatewayFile): Promise<void> {
  const draft = join(stateDir, `${NAME}.new`)
  await rm(draft, { force: true })
  await writeFile(draft, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(draft, join(stateDir, NAME))
}

/** Undefined: there is none, or it is not one. Rejects if it may not be read. */
export async function readGatewayFile(stateDir: string): Promise<GatewayFile | undefined> {
  let text: string
  try {
    text = await readFile(join(stateDir, NAME), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
  return parse(text)
}

/** Takes the file away, unless another gateway has written it since. */
export async function removeGatewayFile(stateDir: string, pid: number): Promise<void> {
  const content = await readGatewayFile(stateDir)
  if (content?.pid === pid) await rm(join(stateDir, NAME), { force: true })
}

export function isAlive({ pid }: GatewayFile): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function parse(text: string): GatewayFile | undefined {
  try {
    const content: unknown = JSON.parse(text)
    if (typeof content !== 'object' || content === null) return undefined
    const { url, pid } = content as Record<string, unknown>
    return typeof url === 'string' && typeof pid === 'number' && pid > 0 ? { url, pid } : undefined
  } catch {
    return undefined
  }
}
