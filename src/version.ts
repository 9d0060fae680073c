/** The version in package.json, which lies beside `src` in a checkout and above `dist` in an installed package. */
import { readFileSync } from 'node:fs'

function read(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'))
      if (manifest.name === 'baudway') return String(manifest.version)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return 'unknown'
}

export const VERSION = read()
