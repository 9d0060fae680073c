/** Reads a file that somebody named, whatever it turns out to be: never more than `bytesMax`, never an exception. */
import { open } from 'node:fs/promises'
import { messageOf } from '../errors.ts'

export type FileContent =
  | {
      readonly bytes: Uint8Array /** Anybody on this machine may read it. */
      readonly worldReadable: boolean
    }
  | { readonly fault: string; readonly hint?: string }

const OTHERS_MAY_READ = 0o004

export async function readBoundedFile(path: string, bytesMax: number): Promise<FileContent> {
  try {
    const file = await open(path, 'r')
    try {
      const { mode } = await file.stat()
      const buffer = new Uint8Array(bytesMax + 1)
      let length = 0
      // A pipe gives what it has; only a read of nothing is its end.
      while (length <= bytesMax) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, null)
        if (bytesRead === 0) break
        length += bytesRead
      }
      if (length > bytesMax) return { fault: `the file is larger than ${bytesMax} bytes` }
      return { bytes: buffer.slice(0, length), worldReadable: (mode & OTHERS_MAY_READ) !== 0 }
    } finally {
      await file.close()
    }
  } catch (error) {
    return unreadable(error)
  }
}

function unreadable(error: unknown): FileContent {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
      return { fault: 'the file does not exist' }
    case 'ENOTDIR':
      return { fault: 'the file does not exist', hint: 'a part of its path is no directory' }
    case 'EISDIR':
      return { fault: 'this is a directory, not a file' }
    case 'EACCES':
    case 'EPERM':
      return { fault: 'the file may not be read', hint: 'the user of this process has no permission' }
    default:
      return { fault: `the file cannot be read: ${messageOf(error)}` }
  }
}
