/** The gateway from outside, while it is killed, its cables are pulled and its devices stop. */
import { describe, expect, it } from 'vitest'
import { countsText, runBlackBox } from './run.ts'

const SEED = 'black box 1'
const LOAD_MS = 20_000

describe('eight clients of a gateway that is killed again and again', () => {
  it('see one order of what the devices did, and are told nothing that is not in the logs of the devices', async () => {
    const report = await runBlackBox({ seed: SEED, loadMs: LOAD_MS })
    process.stdout.write(`${countsText(report)}\n`)
    expect(report.findings).toEqual([])
    expect(report.faults).toEqual([])
    expect(report.exitCode, report.gatewayErrors).toBe(0)
    // The run was one that could have found something.
    expect(report.broken.gateway_killed).toBeGreaterThanOrEqual(3)
    expect(report.broken.port_removed).toBeGreaterThanOrEqual(1)
    expect(report.broken.device_killed).toBeGreaterThanOrEqual(1)
    expect(report.outcomes.ok).toBeGreaterThan(50)
    expect(report.outcomes.unknown).toBeGreaterThan(5)
    for (const count of Object.values(report.frames)) expect(count).toBeGreaterThan(10)
    for (const fate of ['prompt', 'late', 'mute']) expect(report.fates[fate], fate).toBeGreaterThan(0)
  })
})
