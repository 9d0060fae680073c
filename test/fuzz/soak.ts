/**
 * The long run: every property in turn with new seeds until the time is over. `npm run soak:fuzz -- --minutes M`,
 * and with `--seed N` the seeds of an earlier run. Ends with 1 after the first failure, and prints its seed.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { CHECK_MS_MAX, type FuzzProperty } from './fuzz-property.ts'
import { fuzzProperties } from './properties.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
})
const minutes = Number(values.minutes)
const firstSeed = values.seed === undefined ? randomInt(2 ** 30) : Number(values.seed)
if (!(minutes > 0) || !Number.isInteger(firstSeed)) {
  process.stderr.write('usage: npm run soak:fuzz -- [--minutes M] [--seed N]\n')
  process.exit(2)
}

const { properties, close } = await fuzzProperties()
const inputs = new Map<string, number>()
const until = performance.now() + minutes * 60_000
process.stdout.write(`${properties.length} properties, ${minutes} minutes, seed ${firstSeed}\n`)

let hasFailed = false
for (let seed = firstSeed; performance.now() < until && !hasFailed; seed += 1) {
  for (const property of properties) {
    if (performance.now() >= until || hasFailed) break
    hasFailed = !(await holds(property, seed))
  }
}
for (const [name, count] of inputs) process.stdout.write(`${String(count).padStart(9)}  ${name}\n`)
const total = [...inputs.values()].reduce((sum, count) => sum + count, 0)
process.stdout.write(
  `${String(total).padStart(9)}  inputs; ${hasFailed ? 'one property FAILED' : 'all kept'}\n`,
)
await close()
process.exitCode = hasFailed ? 1 : 0

/** Says so where it does not. */
async function holds({ name, runs, check }: FuzzProperty, seed: number): Promise<boolean> {
  try {
    await check({ numRuns: runs, seed, interruptAfterTimeLimit: CHECK_MS_MAX })
  } catch (failure) {
    process.stdout.write(`FAILED with seed ${seed}: ${name}\n${messageOf(failure)}\n`)
    return false
  }
  inputs.set(name, (inputs.get(name) ?? 0) + runs)
  return true
}

function messageOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  return failure.cause === undefined ? failure.message : `${failure.message}\n${messageOf(failure.cause)}`
}
