/** The configuration of the library: an object, its faults named by JSON pointers. */
import { describe, expect, it } from 'vitest'
import { formatFault } from '../../src/config/fault.ts'
import { validateConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

function faultsOf(object: unknown): string[] {
  const { faults, configuration } = validateConfiguration(object, fakeTypes)
  expect(configuration === undefined).toBe(faults.length > 0)
  return faults.map(formatFault)
}

const device = { id: 'a', type: 'co2', port: { path: '/dev/ROBOT' } }

describe('a configuration object', () => {
  it('may be empty', () => {
    expect(validateConfiguration({}, fakeTypes)).toMatchObject({ faults: [], warnings: [] })
  })

  it('may leave keys undefined', () => {
    const object = { state: undefined, devices: [{ ...device, poll: undefined, name: undefined }] }
    expect(validateConfiguration(object, fakeTypes).configuration?.devices[0]?.name).toBe('A')
  })

  it('is copied: a later change of it changes nothing', () => {
    const options = { ...device, type: 'relay', address: 1, relays: [{ name: 'one' }] }
    const { configuration } = validateConfiguration({ devices: [options] }, fakeTypes)
    options.relays.push({ name: 'two' })
    expect(configuration?.devices[0]?.options).toEqual({ address: 1, relays: [{ name: 'one' }] })
  })

  it('has its faults named by JSON pointers', () => {
    const object = {
      http: { 'a/b~c': 1 },
      ports: { bus1: { baudRate: '9600' } },
      devices: [device, { ...device, port: 'bus1', pol: 1 }],
    }
    expect(faultsOf(object).sort()).toEqual([
      '/devices/1/id: the id "a" is taken by item 1 of "devices"',
      '/devices/1/pol: unknown key "pol" (did you mean "poll"?)',
      '/http/a~1b~0c: unknown key "a/b~c"',
      '/ports/bus1/baudRate: "baudRate" must be a whole number, not "9600" (write 9600 without quotes)',
      '/ports/bus1: the key "path" is missing',
    ])
  })

  it.each([
    [undefined, '/: undefined is not data'],
    [null, '/: the configuration must be a mapping, not empty'],
    [[], '/: the configuration must be a mapping, not a list'],
    ['{}', '/: the configuration must be a mapping, not "{}"'],
    [() => ({}), '/: a function is not data'],
  ])('cannot be %s', (object, fault) => {
    expect(faultsOf(object)).toEqual([fault])
  })

  it('holds data only, each odd value named once', () => {
    const plain = 'only plain objects, lists, text, numbers, true, false and null are data'
    const object = {
      http: { port: Number.NaN, host: 5n },
      state: new Date(0),
      scheduler: new Map(),
      never: [{ tool: Symbol('x') }],
      devices: [{ ...device, poll: () => '10s' }],
    }
    expect(faultsOf(object).sort()).toEqual([
      '/devices/0/poll: a function is not data',
      '/http/host: a bigint is not data',
      '/http/port: NaN is not a number that can be used here',
      '/never/0/tool: a symbol is not data',
      `/scheduler: ${plain}`,
      `/state: ${plain}`,
    ])
  })

  it('cannot hold itself', () => {
    const loop: Record<string, unknown> = {}
    loop.http = loop
    const faults = faultsOf(loop)
    expect(faults.some((fault) => fault.endsWith('nested more than 32 levels deep, or within itself'))).toBe(
      true,
    )
  })

  it('cannot be a bomb of shared parts', () => {
    let part: unknown = 'x'
    for (let level = 0; level < 25; level += 1) part = [part, part]
    expect(faultsOf({ http: part }).some((fault) => fault.endsWith('more than 1000000 values'))).toBe(true)
  })

  it('cannot bring a prototype, nor read one', () => {
    const object = JSON.parse('{"__proto__": {"http": 1}, "ports": {"__proto__": {"path": "x"}}}')
    expect(faultsOf(object)).toEqual([
      '/__proto__: the key "__proto__" is not allowed',
      '/ports/__proto__: the key "__proto__" is not allowed',
    ])
    expect(faultsOf({ devices: [{ ...device, type: 'toString' }] })).toEqual([
      '/devices/0/type: unknown device type "toString" (`baudway types` lists them)',
    ])
  })

  it('survives a getter that throws', () => {
    const object = {
      get http(): never {
        throw new Error('not now')
      },
    }
    expect(faultsOf(object)).toEqual(['/: it cannot be read: not now'])
  })
})
