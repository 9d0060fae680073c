/** The history check for minutes: `npm run soak:blackbox -- --minutes 10 --seed mine`. Exit code 1: something was found. */
import { parseArgs } from 'node:util'
import { countsText, runBlackBox } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    'restart-after-ms': { type: 'string' },
    late: { type: 'string' },
    mute: { type: 'string' },
  },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0')
const seed = values.seed ?? `${process.hrtime.bigint()}`
process.stdout.write(`seed ${seed}, ${minutes} minutes\n`)
const restartAfterMs = values['restart-after-ms']
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
process.once('SIGTERM', () => interrupted.abort())
const report = await runBlackBox({
  seed,
  loadMs: minutes * 60_000,
  signal: interrupted.signal,
  ...(restartAfterMs !== undefined && { restartAfterMs: Number(restartAfterMs) }),
  ...(values.late !== undefined && { late: Number(values.late) }),
  ...(values.mute !== undefined && { mute: Number(values.mute) }),
})
process.stdout.write(`${countsText(report)}\n`)
for (const { rule, text } of report.findings.slice(0, 50)) process.stdout.write(`${rule}: ${text}\n`)
for (const fault of report.faults.slice(0, 50)) process.stdout.write(`${fault}\n`)
if (report.findings.length + report.faults.length > 0 || report.exitCode !== 0) process.exitCode = 1
