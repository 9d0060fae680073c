/**
 * The configuration file as something that is read and replaced whole. A new text is written beside the old one and
 * takes its place at once, so that a power cut leaves one of them; the old one stays beside it as `<file>.previous`.
 */
import { createHash } from 'node:crypto'
import { copyFile, open, readFile, rename, stat } from 'node:fs/promises'

export const PREVIOUS_SUFFIX = '.previous'

export interface StoredText {
  readonly text: string
  readonly path: string
  /** Of the text: equal texts have equal versions. */
  readonly version: string
}

export class ConfigurationStore {
  readonly path: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.path = path
  }

  /** One after the other: what reads a version and then writes must not be interrupted by another that does. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => {})
    return next
  }

  /** Rejects with the file system's error. */
  async read(): Promise<StoredText> {
    const text = await readFile(this.path, 'utf8')
    return { text, path: this.path, version: versionOf(text) }
  }

  /** Keeps the mode of the file. Rejects with the file system's error; the old file is untouched then. */
  async write(text: string): Promise<StoredText> {
    const { mode } = await stat(this.path)
    const draft = `${this.path}.new`
    const handle = await open(draft, 'w', mode & 0o777)
    try {
      await handle.chmod(mode & 0o777)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await copyFile(this.path, `${this.path}${PREVIOUS_SUFFIX}`)
    await rename(draft, this.path)
    return { text, path: this.path, version: versionOf(text) }
  }
}

function versionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
