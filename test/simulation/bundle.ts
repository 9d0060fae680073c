/**
 * Makes one module of the simulator and the gateway in it, as they are or with a bug planted. A planted bug is a change of
 * a place in the source; a place that is not there exactly once is an error, so that no bug is planted in nothing.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

export interface PlantedBug {
  /** In kebab-case, as its file. */
  readonly name: string
  /** What it breaks, in a sentence. */
  readonly breaks: string
  /** The invariant that has to find it. */
  readonly invariant: string
  readonly changes: readonly SourceChange[]
  /** A seed at which, or shortly after which, it is found; default: 1. So that the test of all of them is short. */
  readonly from?: number
}

export interface SourceChange {
  /** From the root of the repository. */
  readonly file: string
  /** The place: it occurs once. */
  readonly find: string
  readonly replace: string
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Inside of `node_modules`, so that the module finds the packages. */
const OUTPUT = `${ROOT}node_modules/.cache/baudway-simulation`

/** Resolves with the path of a module that runs `entry`, a file of this folder. */
export async function bundle(entry: string, bug?: PlantedBug): Promise<string> {
  await mkdir(OUTPUT, { recursive: true })
  const outfile = `${OUTPUT}/${bug?.name ?? 'as-is'}-${basename(entry, '.ts')}-${process.pid}.mjs`
  await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    conditions: ['source'],
    sourcemap: 'inline',
    logLevel: 'error',
    plugins: [admissionBeside, ...(bug ? [planting(bug)] : [])],
  })
  return outfile
}

/** The scheduler's parts that are watched, and what stands before each. */
const BESIDE = { './admission.ts': 'admission-beside.ts', './lane.ts': 'lane-beside.ts' } as const

/** Lets the admission model run beside the scheduler, which knows nothing of it. */
const admissionBeside: Plugin = {
  name: 'admission-beside',
  setup(setup) {
    setup.onResolve({ filter: /^\.\/(admission|lane)\.ts$/ }, ({ path, importer }) => {
      if (importer !== `${ROOT}src/scheduler/scheduler.ts`) return undefined
      return { path: fileURLToPath(new URL(BESIDE[path as keyof typeof BESIDE], import.meta.url)) }
    })
  },
}

function planting(bug: PlantedBug): Plugin {
  return {
    name: 'planting',
    setup(setup) {
      const unplanted = new Set(bug.changes.map((change) => change.file))
      setup.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const changes = bug.changes.filter((change) => path === `${ROOT}${change.file}`)
        if (changes.length === 0) return undefined
        let contents = await readFile(path, 'utf8')
        for (const { file, find, replace } of changes) {
          const times = contents.split(find).length - 1
          if (times !== 1) throw new Error(`${bug.name}: its place is ${times} times in ${file}`)
          contents = contents.replace(find, () => replace)
          unplanted.delete(file)
        }
        return { contents, loader: 'ts' }
      })
      setup.onEnd(() => {
        if (unplanted.size > 0)
          throw new Error(`${bug.name}: ${[...unplanted].join(', ')} is not in the module`)
      })
    },
  }
}
