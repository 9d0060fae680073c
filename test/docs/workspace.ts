/**
 * A folder inside the repository in which the code of the documentation stands as files: there the names `baudway`
 * and `#device` mean what they mean to a device file.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './pages.ts'

export interface Workspace {
  readonly folder: string
  write(file: string, text: string): string
  remove(): void
}

/** `dist` is ignored by everything that looks over the sources. */
export function createWorkspace(): Workspace {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'dist', 'docs-'))
  // For what a test of a device imports.
  symlinkSync(join(ROOT, 'src'), join(folder, 'src'))
  return {
    folder,
    write(file, text) {
      const path = join(folder, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      return path
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Runs a tool of this repository in the folder, and resolves with its exit code and all that it said. */
export function runTool(
  folder: string,
  file: string,
  args: readonly string[],
): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, 'node_modules', file), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', VITEST: undefined },
    })
    let said = ''
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}
