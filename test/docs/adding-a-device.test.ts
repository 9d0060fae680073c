/** The guide is followed to the letter: its device types are loaded, tested with their own tests, run and called. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { readCatalogue } from '../../src/driver/catalogue.ts'
import { contractFindings } from '../../src/driver/contract.ts'
import type { DeviceType } from '../../src/driver/device-type.ts'
import { Gateway } from '../../src/gateway.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { page, ROOT, tableBelow } from './pages.ts'
import { createWorkspace, runTool } from './workspace.ts'

const PATH = 'docs/adding-a-device.md'
const TYPES = ['pond-gauge', 'barn-meter']
const testOf = (type: string) => `test/devices/${type}.test.ts`
const CONFIG = `${ROOT}/vitest.config.ts`

const workspace = createWorkspace()
const blockOf = (start: string) => {
  const found = page(PATH).blocks.find(({ text }) => text.includes(start))
  if (!found) throw new Error(`the guide has no block with ${start}`)
  return found.text
}
let types: ReadonlyMap<string, DeviceType>

beforeAll(async () => {
  for (const file of TYPES.flatMap((type) => [`devices/${type}.ts`, testOf(type)])) {
    workspace.write(file, blockOf(`// ${file}`))
  }
  types = (await readCatalogue(`${workspace.folder}/devices`)).types
})
afterAll(() => workspace.remove())

describe('the types of the guide', () => {
  it('are found by their files alone', () => {
    expect([...types.keys()].toSorted()).toEqual(TYPES.toSorted())
  })

  it('pass their own tests', { timeout: 120_000 }, async () => {
    const files = TYPES.map(testOf)
    const args = [
      'run',
      '--root',
      '.',
      '--config',
      CONFIG,
      '--project',
      'unit',
      '--reporter',
      'json',
      ...files,
    ]
    const { code, said } = await runTool(workspace.folder, 'vitest/vitest.mjs', args)
    expect(code, said).toBe(0)
    const { numPassedTests, numTotalTests } = JSON.parse(said.slice(said.indexOf('{')))
    expect([numPassedTests, numTotalTests]).toEqual([7, 7])
  })

  /** Runs the configuration, and gives what a call results in. */
  async function withGateway(
    text: string,
    use: (call: (name: string, args?: Record<string, unknown>) => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    const { configuration, faults } = parseConfiguration(text, PATH, configurableTypes(types))
    if (!configuration) throw new Error(JSON.stringify(faults))
    const clock = new VirtualClock({ seed: 1 })
    const gateway = await Gateway.start({ configuration, types, clock })
    await clock.advance(100)
    await use(async (name, args = {}) => {
      const result = gateway.call({ name, arguments: args })
      await clock.advance(1_000)
      return result
    })
    const closed = gateway.close()
    await clock.advance(5_000)
    await closed
  }

  const done = (value: unknown) => ({ status: 'ok', outcome: 'executed', value })

  it('are called through a gateway: the gauge, on its own simulator', async () => {
    await withGateway(blockOf('type: pond-gauge, port:'), async (call) => {
      expect(await call('pond__read_level')).toMatchObject(done({ level: 740 }))
      expect(await call('pond__set_alarm_level', { level: 900 })).toMatchObject(done({ alarm_level: 900 }))
    })
  })

  it('are called through a gateway: two meters on one line, each with an energy of its own', async () => {
    const text = blockOf('type: barn-meter, port:').replace(/path: \/dev\/[^,]+/, 'path: simulated')
    const measured = (energy: number) => done({ voltage: 230, energy, power_factor: 0.95 })
    await withGateway(text, async (call) => {
      expect(await call('mill__read_measurements')).toMatchObject(measured(100))
      expect(await call('mill__set_alarm_power', { power: 2200 })).toMatchObject(done({ alarm_power: 2200 }))
      expect(await call('mill__reset_energy')).toMatchObject(done({ energy: 0 }))
      expect(await call('mill__read_measurements')).toMatchObject(measured(0))
      expect(await call('barn__read_measurements')).toMatchObject(measured(100))
    })
  })
})

describe('the grades of the guide', () => {
  it('have all the rules of the contract, in their order', async () => {
    const [type] = types.values()
    const rules = (type ? await contractFindings(type) : []).map(({ grade, rule }) => [grade, rule])
    const rows = tableBelow(PATH, 'The rules of the grades')
    expect(rules.length).toBeGreaterThan(10)
    expect(rows.map(([grade, rule]) => [grade, rule])).toEqual(rules)
  })
})
