/** What a bundled simulator does: runs the seeds that its arguments name, and prints a report as JSON. */
import { runSeeds } from './seeds.ts'

const [from = '1', count = '1', stopAt] = process.argv.slice(2)
const report = await runSeeds({
  from: Number(from),
  count: Number(count),
  ...(stopAt === undefined ? {} : { stopAt }),
})
process.stdout.write(`${JSON.stringify(report)}\n`)
