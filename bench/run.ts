/** `npm run bench [NAME …]`: the figures, and an exit code that says whether all goals hold. */
import { run as concurrency } from './concurrency.ts'
import { run as unplug } from './unplug.ts'

/** `unplug` needs socat and Debian's python3-serial. */
const BENCHES = { concurrency, unplug } as const

const wanted = process.argv.slice(2)
const names = Object.keys(BENCHES) as (keyof typeof BENCHES)[]
const unknown = wanted.filter((name) => !names.some((known) => known === name))
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${names.join(', ')}.`)
  process.exitCode = 2
} else {
  let holds = true
  for (const name of names) {
    if (wanted.length === 0 || wanted.includes(name)) holds = (await BENCHES[name]()) && holds
  }
  process.exitCode = holds ? 0 : 1
}
