/** Tells of a run that went against an invariant: all that somebody needs to see it again. */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Plan } from './plan.ts'
import { planLines } from './plan-lines.ts'
import type { Failure } from './tally.ts'

const VIOLATIONS_TOLD = 5
const FOLDER = join(tmpdir(), 'baudway-simulation')

export async function failureLines({ subject, plan, hash, violations }: Failure): Promise<readonly string[]> {
  const isDrawn = /^seed ([0-9]+)$/.exec(subject)
  const repeat = isDrawn ? `--seed ${isDrawn[1]}` : `--plan ${await writePlan(plan)}`
  const more = violations.length - VIOLATIONS_TOLD
  return [
    `FAILED: ${subject}, commit ${commit()}, event log ${hash}`,
    ...violations.slice(0, VIOLATIONS_TOLD).map(({ invariant, message }) => `  ${invariant}: ${message}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...planLines(plan).map((line) => `  ${line}`),
    `  again: npm run simulate -- ${repeat}`,
    `  smaller: npm run simulate -- ${repeat} --shrink`,
  ]
}

/** Resolves with the path of the file that `--plan` takes. */
export async function writePlan(plan: Plan): Promise<string> {
  await mkdir(FOLDER, { recursive: true })
  const path = join(FOLDER, `${plan.seed.replaceAll(/[^a-z0-9-]/gi, '-')}-${process.pid}.json`)
  await writeFile(path, `${JSON.stringify(plan, null, 2)}\n`)
  return path
}

/** The commit of the working copy, and whether it is what is run. */
export function commit(): string {
  try {
    const head = git('rev-parse', '--short', 'HEAD')
    return git('status', '--porcelain') === '' ? head : `${head} with uncommitted changes`
  } catch {
    // Not a working copy, or no git.
    return 'unknown'
  }
}

function git(...args: string[]): string {
  const folder = import.meta.dirname
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
