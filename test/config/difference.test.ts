import { describe, expect, it } from 'vitest'
import type { Configuration } from '../../src/config/configuration.ts'
import { configurationDifference } from '../../src/config/difference.ts'
import { validateConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

function configuration(object: object): Configuration {
  const { configuration: valid, faults } = validateConfiguration(object, fakeTypes)
  if (!valid) throw new Error(JSON.stringify(faults))
  return valid
}

const meter = (id: string, address: number, more: object = {}) => ({
  id,
  type: 'meter',
  port: 'bus1',
  address,
  ...more,
})
const home = (devices: object[], more: object = {}) =>
  configuration({ ports: { bus1: { path: '/dev/bus1' }, bus2: { path: '/dev/bus2' } }, devices, ...more })

const difference = (before: Configuration, after: Configuration, framingOf = () => 'modbus-rtu') =>
  configurationDifference(before, after, framingOf)

describe('the difference between two configurations', () => {
  it('of one with itself is nothing', () => {
    const same = home([meter('one', 1), meter('two', 2)])
    expect(difference(same, same)).toEqual({
      ports: { added: [], changed: [], removed: [], untouched: ['bus1', 'bus2'] },
      devices: { added: [], changed: [], removed: [], untouched: ['one', 'two'] },
      needsRestart: [],
    })
  })

  it('is not the order of keys or of devices', () => {
    const before = home([meter('one', 1, { name: 'One', area: 'Cellar' }), meter('two', 2)])
    const after = home([
      meter('two', 2),
      { area: 'Cellar', name: 'One', address: 1, port: 'bus1', type: 'meter', id: 'one' },
    ])
    expect(difference(before, after).devices).toMatchObject({ added: [], changed: [], removed: [] })
  })

  it('names what was added, changed and removed', () => {
    const before = home([meter('stays', 1), meter('changes', 2), meter('goes', 3)])
    const after = home([meter('stays', 1), meter('changes', 2, { timeoutMs: 700 }), meter('comes', 4)])
    expect(difference(before, after).devices).toEqual({
      added: ['comes'],
      changed: ['changes'],
      removed: ['goes'],
      untouched: ['stays'],
    })
  })

  it('makes the devices of a port that changes anew, and leaves those of other ports alone', () => {
    const devices = [meter('one', 1), meter('two', 2, { port: 'bus2' })]
    const before = configuration({ ports: { bus1: { path: '/dev/a' }, bus2: { path: '/dev/b' } }, devices })
    const after = configuration({ ports: { bus1: { path: '/dev/c' }, bus2: { path: '/dev/b' } }, devices })
    expect(difference(before, after)).toMatchObject({
      ports: { changed: ['bus1'], untouched: ['bus2'] },
      devices: { changed: ['one'], untouched: ['two'] },
    })
  })

  it('takes a port whose devices frame their bytes in another way for another port', () => {
    const same = home([meter('one', 1)])
    const framings = ['lines', 'modbus-rtu']
    const framed = configurationDifference(same, same, (_of, id) =>
      id === 'bus1' ? (framings.shift() ?? '') : 'none',
    )
    expect(framed.ports.changed).toEqual(['bus1'])
  })

  it('takes a disabled device for one that is not there', () => {
    const before = home([meter('one', 1), meter('two', 2)])
    const after = home([meter('one', 1), meter('two', 2, { enabled: false })])
    expect(difference(before, after).devices.removed).toEqual(['two'])
    expect(difference(after, before).devices.added).toEqual(['two'])
  })

  it('says which keys count only from the next start on', () => {
    const before = home([])
    const after = home([], { http: { port: 8080 }, state: '/var/lib/other', scheduler: { policy: 'batch' } })
    expect([...difference(before, after).needsRestart].sort()).toEqual(['http', 'scheduler', 'state'])
  })
})
