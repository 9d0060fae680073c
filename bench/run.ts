/** `npm run bench`: every figure, and an exit code that says whether all goals hold. */
import { run as concurrency } from './concurrency.ts'

const results = [await concurrency()]
process.exitCode = results.every(Boolean) ? 0 : 1
