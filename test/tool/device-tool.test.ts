import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import type { ToolSpec } from '../../src/driver/device-type.ts'
import { deviceTools } from '../../src/tool/device-tool.ts'
import { driverBench, pump, readLevel } from '../driver/driver-bench.ts'

const read: ToolSpec = { description: 'The level.', effect: 'read', exchange: readLevel }
const set: ToolSpec = { description: 'The pump.', effect: 'set', exchange: () => pump(true) }

async function toolsOf(tools: Record<string, ToolSpec>, serialType = true) {
  const { driver, wire, clock } = await driverBench({ tools })
  return { tools: deviceTools(driver, serialType), wire, clock }
}

describe('a command as a tool', () => {
  it('is named after device and command, and needs the whole port', async () => {
    const { tools } = await toolsOf({
      read_level: { ...read, title: 'The level of the tank', parallelSafe: true, returns: Type.Object({}) },
    })
    expect(tools).toHaveLength(1)
    expect(tools[0]).toMatchObject({
      name: 'tank__read_level',
      device: 'tank',
      command: 'read_level',
      title: 'The level of the tank',
      description: 'The level.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'read',
      dangerous: false,
      timeoutMs: 500,
      claims: [{ resource: 'port:bus1', mode: 'exclusive' }],
      ports: ['bus1'],
      serial: false,
      parallelSafe: true,
      declared: 'parallelSafe',
    })
  })

  it('has a title made of its name where the type gives none', async () => {
    const { tools } = await toolsOf({ read_upper_level: read })
    expect(tools[0]?.title).toBe('Read upper level')
  })

  it('claims beside its port what its type says', async () => {
    const claim = { resource: 'water', mode: 'shared' } as const
    const { tools } = await toolsOf({ set_pump: { ...set, claims: [claim] } })
    expect(tools[0]?.claims).toEqual([{ resource: 'port:bus1', mode: 'exclusive' }, claim])
  })

  it('takes no arguments beyond those of its type', async () => {
    const { tools } = await toolsOf({ set_pump: { ...set, parameters: Type.Object({ on: Type.Boolean() }) } })
    expect(tools[0]?.parameters).toMatchObject({ properties: { on: {} }, additionalProperties: false })
  })

  it('is serial where it changes something and the type says so of all of those', async () => {
    const commands = { read_level: { ...read, parallelSafe: true }, read_log: read, set_pump: set }
    const declared = (made: Awaited<ReturnType<typeof toolsOf>>) => made.tools.map((tool) => tool.declared)
    expect(declared(await toolsOf(commands))).toEqual(['parallelSafe', 'undeclared', 'serial'])
    expect(declared(await toolsOf(commands, false))).toEqual(['parallelSafe', 'undeclared', 'undeclared'])
    const serialRead = {
      read_queue: { ...read, serial: true, parallelSafe: true, because: 'it empties a queue' },
    }
    expect((await toolsOf(serialRead)).tools[0]).toMatchObject({
      declared: 'serial',
      because: 'it empties a queue',
    })
  })

  it('is refused exactly as long as its port cannot be used', async () => {
    const { tools, wire, clock } = await toolsOf({ read_level: read })
    expect(tools[0]?.refusal?.()).toBeUndefined()
    wire.unplug()
    await clock.advance(300)
    expect(tools[0]?.refusal?.()).toMatchObject({ code: 'device_unavailable', details: { port: 'bus1' } })
  })

  it('may not start before a reply that is still to come could no longer be taken for its own', async () => {
    const { tools, wire, clock } = await toolsOf({ read_level: read })
    const prepared = tools[0]?.prepare({})
    expect(prepared?.notBefore?.()).toBe(0)
    const run = { signal: new AbortController().signal, context: {}, progress: { sent: false, wireMs: 0 } }
    const ended = expect(prepared?.run(run)).rejects.toMatchObject({ code: 'timeout' })
    await clock.advance(501)
    await ended
    expect(wire.counters.bytesToFarEnd).toBe(8)
    expect(prepared?.notBefore?.()).toBeGreaterThan(clock.now())
  })
})
