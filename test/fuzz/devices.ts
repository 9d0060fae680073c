/** The sample of every type of the catalogue, and further devices of it. */
import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import type { DeviceDescription, Example, SimulatedWorld } from '../../src/driver/device-type.ts'
import { DEVICE_VARIANTS } from './device-variants.ts'

/** In which nothing moves: what a simulator does is its answer alone. */
export const STILL_WORLD: SimulatedWorld = {
  now: () => 0,
  random: () => 0.5,
  executed: () => {},
  send: () => {},
  every: () => {},
}

export interface FuzzDevice {
  readonly name: string
  readonly device: DeviceDescription
  /** Of one tool. Those of a sample do not fit other options. */
  examplesOf(tool: string): readonly Example[]
}

export async function fuzzDevices(): Promise<readonly FuzzDevice[]> {
  const ajv = new Ajv({ strict: false })
  const devices: FuzzDevice[] = []
  for (const type of (await loadCatalogue()).values()) {
    const sample = type.describe(type.sample)
    const examplesOf = (tool: string) => [
      ...(sample.tools[tool]?.examples ?? []),
      ...(type.sampleExamples?.[tool] ?? []),
    ]
    devices.push({ name: type.type, device: sample, examplesOf })
    for (const [variant, options] of Object.entries(DEVICE_VARIANTS[type.type] ?? {})) {
      const name = `${type.type} ${variant}`
      assert.ok(ajv.validate(type.options, options), `${name}: ${ajv.errorsText()}`)
      const faults = (type.faults?.(options) ?? []).filter(({ severity }) => severity !== 'warning')
      assert.deepEqual(faults, [], name)
      devices.push({ name, device: type.describe(options), examplesOf: () => [] })
    }
  }
  return devices
}
