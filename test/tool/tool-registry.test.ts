import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { defineTool, toolOf } from '../../src/tool/define-tool.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { ToolRegistry } from '../../src/tool/tool-registry.ts'
import { VirtualClock } from '../virtual-clock.ts'

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  ...toolOf(defineTool({ name, effect: 'read', run: () => 1 }), new VirtualClock()),
  ...more,
})

function registryOf(...tools: Tool[]): ToolRegistry {
  const registry = new ToolRegistry()
  for (const each of tools) registry.add(each)
  return registry
}

describe('the registry of tools', () => {
  it('knows a tool by its exact name, and nothing that every object has', () => {
    const known = tool('read_log')
    const registry = registryOf(known)
    expect(registry.get('read_log')?.tool).toBe(known)
    for (const name of ['READ_LOG', 'read_log ', '', 'constructor', '__proto__']) {
      expect(registry.get(name), name).toBeUndefined()
    }
  })

  it('has each name once', () => {
    expect(() => registryOf(tool('read_log'), tool('read_log'))).toThrow('two tools are called read_log')
  })

  it('takes only names that every model provider takes', () => {
    for (const name of ['', 'read log', 'read.log', 'x'.repeat(65), 'räum', 'a\n']) {
      expect(() => registryOf(tool('ok', { name })), name).toThrow()
    }
    expect(registryOf(tool('ok', { name: 'A-z_09'.padEnd(64, 'x') })).views()).toHaveLength(1)
  })

  it('cuts an unknown name short where it shows it', () => {
    const error = registryOf().unknown('x'.repeat(5_000))
    expect(error).toBeInstanceOf(GatewayError)
    expect(error.message.length).toBeLessThan(150)
  })
})

describe('a tool as it is listed', () => {
  it('has every field of the contract', () => {
    const listed = tool('office_co2__read_co2', {
      device: 'office_co2',
      command: 'read_co2',
      title: 'Read CO2',
      description: 'CO2 of the room air.',
      claims: [{ resource: 'port:office_co2', mode: 'exclusive' }],
      timeoutMs: 1_000,
      parallelSafe: true,
      declared: 'parallelSafe',
    })
    expect(registryOf(listed).views()).toEqual([
      {
        name: 'office_co2__read_co2',
        device: 'office_co2',
        command: 'read_co2',
        title: 'Read CO2',
        description: 'CO2 of the room air.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        returns: { type: 'object' },
        effect: 'read',
        parallelSafe: true,
        serial: false,
        declared: 'parallelSafe',
        dangerous: false,
        claims: [{ resource: 'port:office_co2', mode: 'exclusive' }],
        timeoutMs: 1_000,
        available: true,
      },
    ])
  })

  it('is not parallel-safe for sure where that depends on the arguments, and says so', () => {
    const [view] = registryOf(tool('read_log', { parallelSafe: () => true, declared: 'conditional' })).views()
    expect(view).toMatchObject({ parallelSafe: false, declared: 'conditional' })
  })

  it('says why it is serial, and belongs to no device where it has none', () => {
    const [view] = registryOf(
      tool('pop', { serial: true, declared: 'serial', because: 'it empties a queue' }),
    ).views()
    expect(view).toMatchObject({
      because: 'it empties a queue',
      device: null,
      command: null,
      timeoutMs: null,
    })
  })

  it('is available as long as nothing would refuse it now', () => {
    let refusal: GatewayError | undefined
    const registry = registryOf(tool('read_log', { refusal: () => refusal }))
    expect(registry.views()[0]?.available).toBe(true)
    refusal = new GatewayError('device_unavailable', 'the port is absent')
    expect(registry.views()[0]?.available).toBe(false)
  })
})
