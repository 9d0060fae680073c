/**
 * Makes one module of the simulator and the gateway in it, as they are or with a bug planted. A planted bug is a change of
 * a place in the source; a place that is not there exactly once is an error, so that no bug is planted in nothing.
 */
import { mkdir, readFile } from 'node:fs/promises'
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
  const outfile = `${OUTPUT}/${bug?.name ?? 'as-is'}-${process.pid}.mjs`
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
    plugins: bug ? [planting(bug)] : [],
  })
  return outfile
}

function planting(bug: PlantedBug): Plugin {
  return {
    name: 'planting',
    setup(setup) {
      for (const file of new Set(bug.changes.map((change) => change.file))) {
        const path = `${ROOT}${file}`
        setup.onLoad({ filter: new RegExp(`^${path.replaceAll(/[^\\w]/g, '\\$&')}$`) }, async () => {
          let contents = await readFile(path, 'utf8')
          for (const { find, replace } of bug.changes.filter((change) => change.file === file)) {
            const times = contents.split(find).length - 1
            if (times !== 1) throw new Error(`${bug.name}: its place is ${times} times in ${file}`)
            contents = contents.replace(find, () => replace)
          }
          return { contents, loader: 'ts' }
        })
      }
    },
  }
}
