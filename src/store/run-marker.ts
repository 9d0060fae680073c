/**
 * Whether the process before this one ended cleanly. A process that was killed may have left requests on its lines whose
 * replies nobody expects any more, and the next one would take them for its own.
 */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

export const RUN_MARKER_FILE = 'running'

/**
 * Marks that a process runs, in a directory that exists. True: the mark of another one is still there. Rejects with the
 * file system's error.
 */
export async function beginRun(directory: string): Promise<boolean> {
  const file = join(directory, RUN_MARKER_FILE)
  try {
    const handle = await open(file, 'wx', 0o600)
    await handle.sync()
    await handle.close()
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return true
  }
}

/** The process ends, and nothing that it asked for may still be answered. */
export async function endRun(directory: string): Promise<void> {
  await rm(join(directory, RUN_MARKER_FILE), { force: true })
}
