/** The guide is followed to the letter: its device type is loaded, tested with its own test, run and called. */
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
const DEVICE = 'devices/pond-gauge.ts'
const TEST = 'test/devices/pond-gauge.test.ts'
const CONFIG = `${ROOT}/vitest.config.ts`

const workspace = createWorkspace()
const blockOf = (start: string) => {
  const found = page(PATH).blocks.find(({ text }) => text.includes(start))
  if (!found) throw new Error(`the guide has no block with ${start}`)
  return found.text
}
let types: ReadonlyMap<string, DeviceType>

beforeAll(async () => {
  workspace.write(DEVICE, blockOf(`// ${DEVICE}`))
  workspace.write(TEST, blockOf(`// ${TEST}`))
  types = (await readCatalogue(`${workspace.folder}/devices`)).types
})
afterAll(() => workspace.remove())

describe('the type of the guide', () => {
  it('is found by its file alone', () => {
    expect([...types.keys()]).toEqual(['pond-gauge'])
  })

  it('passes its own test', { timeout: 120_000 }, async () => {
    const args = ['run', '--root', '.', '--config', CONFIG, '--project', 'unit', '--reporter', 'json', TEST]
    const { code, said } = await runTool(workspace.folder, 'vitest/vitest.mjs', args)
    expect(code, said).toBe(0)
    const { numPassedTests, numTotalTests } = JSON.parse(said.slice(said.indexOf('{')))
    expect([numPassedTests, numTotalTests]).toEqual([4, 4])
  })

  it('is called through a gateway, on its own simulator', async () => {
    const text = blockOf('type: pond-gauge, port:')
    const { configuration, faults } = parseConfiguration(text, PATH, configurableTypes(types))
    if (!configuration) throw new Error(JSON.stringify(faults))
    const clock = new VirtualClock({ seed: 1 })
    const gateway = await Gateway.start({ configuration, types, clock })
    await clock.advance(100)
    const level = gateway.call({ name: 'pond__read_level' })
    await clock.advance(1_000)
    expect(await level).toMatchObject({ status: 'ok', outcome: 'executed', value: { level: 740 } })
    const alarm = gateway.call({ name: 'pond__set_alarm_level', arguments: { level: 900 } })
    await clock.advance(1_000)
    expect(await alarm).toMatchObject({ status: 'ok', outcome: 'executed', value: { alarm_level: 900 } })
    const closed = gateway.close()
    await clock.advance(5_000)
    await closed
  })
})

describe('the grades of the guide', () => {
  it('are those of the rules', async () => {
    const [type] = types.values()
    const grades = new Set((type ? await contractFindings(type) : []).map(({ grade }) => grade))
    expect(tableBelow(PATH, '4. The test (4 minutes)').map(([grade]) => grade)).toEqual([...grades])
  })
})
