/** Line settings that a device type has by its model. */
import { describe, expect, it } from 'vitest'
import { validateConfiguration } from '../src/config/load.ts'
import { configurableTypes } from '../src/configurable-types.ts'
import { loadCatalogue } from '../src/driver/catalogue.ts'

const types = configurableTypes(await loadCatalogue())
const meter = (id: string, address: number, model: string, port: unknown = { path: '/dev/a' }) => ({
  id,
  type: 'eastron-sdm',
  address,
  model,
  port,
})

describe('the baud rate of an Eastron meter', () => {
  it('is that of its model, as it leaves the factory, unless the port says otherwise', () => {
    const baud = (device: object) =>
      validateConfiguration({ devices: [device] }, types).configuration?.ports[0]?.settings.baudRate
    expect(baud(meter('m', 1, 'sdm120'))).toBe(2400)
    expect(baud(meter('m', 1, 'sdm630'))).toBe(9600)
    expect(baud(meter('m', 1, 'sdm120', { path: '/dev/a', baudRate: 4800 }))).toBe(4800)
  })

  it('has to be set on a bus whose meters differ', () => {
    const ports = { bus1: { path: '/dev/a' } }
    const devices = [meter('one', 1, 'sdm120', 'bus1'), meter('two', 2, 'sdm630', 'bus1')]
    const { faults } = validateConfiguration({ ports, devices }, types)
    expect(faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/must set "baudRate".*2400.*9600/),
    ])
    expect(
      validateConfiguration({ ports: { bus1: { path: '/dev/a', baudRate: 9600 } }, devices }, types).faults,
    ).toEqual([])
  })
})
