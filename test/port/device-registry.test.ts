import { describe, expect, it } from 'vitest'
import { DeviceRegistry } from '../../src/port/device-registry.ts'

describe('the registry of kernel devices', () => {
  it('gives a device to the first port, and names that port to every other', () => {
    const registry = new DeviceRegistry()
    expect(registry.claim('device:1', 'bus1')).toBeUndefined()
    expect(registry.claim('device:1', 'bus2')).toBe('bus1')
    expect(registry.claim('device:2', 'bus2')).toBeUndefined()
  })

  it('gives a device to its owner as often as it asks', () => {
    const registry = new DeviceRegistry()
    registry.claim('device:1', 'bus1')
    expect(registry.claim('device:1', 'bus1')).toBeUndefined()
  })

  it('gives a device to another port once its owner has let go', () => {
    const registry = new DeviceRegistry()
    registry.claim('device:1', 'bus1')
    registry.release('device:1', 'bus1')
    expect(registry.claim('device:1', 'bus2')).toBeUndefined()
    expect(registry.claim('device:1', 'bus1')).toBe('bus2')
  })

  it('lets nobody but the owner let go', () => {
    const registry = new DeviceRegistry()
    registry.claim('device:1', 'bus1')
    registry.release('device:1', 'bus2')
    expect(registry.claim('device:1', 'bus2')).toBe('bus1')
  })
})
