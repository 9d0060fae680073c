/**
 * Looks for a planted bug as it would be looked for in earnest: the gateway with the bug in it runs seed after seed, in a
 * process of its own, until the invariant that has to find it does.
 */
import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { bundle, type PlantedBug } from './bundle.ts'
import type { SeedsReport } from './seeds.ts'

/** So many seeds a planted bug may take. */
export const SEEDS_MAX = 2_000
const REPORT_BYTES_MAX = 256 * 1024 * 1024
const PLANTED = new URL('planted/', import.meta.url)

const run = promisify(execFile)

export interface Find {
  /** Undefined: its invariant did not find it. */
  readonly seed: string | undefined
  /** What the invariant said first. */
  readonly message: string | undefined
  readonly seeds: number
}

/** All of the folder, by name. */
export async function plantedBugs(): Promise<readonly PlantedBug[]> {
  const files = (await readdir(PLANTED)).sort()
  return Promise.all(
    files.map(async (file) => {
      const { default: bug } = (await import(new URL(file, PLANTED).href)) as { default: PlantedBug }
      if (`${bug.name}.ts` !== file) throw new Error(`the bug of ${file} calls itself ${bug.name}`)
      return bug
    }),
  )
}

/** Rejects if the bug has no place in the source, or if its process ends before it has reported. */
export async function hunt(bug: PlantedBug, from: number, timeoutMs: number): Promise<Find> {
  const path = await bundle('worker.ts', bug)
  try {
    const args = [path, String(from), String(SEEDS_MAX), bug.invariant]
    const options = { maxBuffer: REPORT_BYTES_MAX, timeout: timeoutMs }
    const { stdout } = await run(process.execPath, args, options)
    const { failures, seeds } = JSON.parse(stdout) as SeedsReport
    const isFind = ({ invariant }: { readonly invariant: string }) => invariant === bug.invariant
    const found = failures.find(({ violations }) => violations.some(isFind))
    return { seed: found?.seed, message: found?.violations.find(isFind)?.message, seeds }
  } finally {
    await rm(path, { force: true })
  }
}
