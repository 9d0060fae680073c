/** The version, from the package's own description: it is the only place that has it. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Walks up to the package: the built command lies deeper than its source. */
export function packageVersion(): string {
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const file = join(directory, 'package.json')
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
    if (directory === dirname(directory)) throw new Error('the package has no package.json')
  }
}
