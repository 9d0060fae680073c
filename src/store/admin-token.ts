/** The first admin token: made at the first start, kept in the state directory for nobody but the gateway's user. */
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'

export const ADMIN_TOKEN_FILE = 'admin.token'
const SECRET_BYTES = 32
const TOKEN_PATTERN = /^bw_[0-9a-f]{64}$/

/**
 * Reads `<directory>/admin.token`, or makes it (mode 0600) together with the directory (mode 0700). Rejects with
 * the file system's error, or when the file holds something else: replacing it would lock somebody out.
 */
export async function adminToken(clock: Clock, directory: string): Promise<string> {
  const file = join(directory, ADMIN_TOKEN_FILE)
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (TOKEN_PATTERN.test(known.trim())) {
    await chmod(file, 0o600)
    return known.trim()
  }
  if (known.trim() !== '') {
    throw new Error(`${file} holds no token of this gateway; remove it, and the next start makes a new one`)
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const token = newToken(clock)
  await writeWhole(file, `${token}\n`)
  return token
}

export function newToken(clock: Clock): string {
  return `bw_${Buffer.from(clock.randomBytes(SECRET_BYTES)).toString('hex')}`
}

/** A crash leaves the old file or the new one. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.new`
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
