/** The published schema: what editors complete and check with. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ConfigurableTypes } from '../../src/config/configurable-type.ts'
import { formatFault } from '../../src/config/fault.ts'
import { loadConfiguration, validateConfiguration } from '../../src/config/load.ts'
import { jsonSchema, jsonSchemaText } from '../../src/config/schema.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import { fakeTypes } from './fake-types.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLE = join(ROOT, 'baudway.example.yaml')

async function catalogue(): Promise<ConfigurableTypes> {
  return configurableTypes(await loadCatalogue())
}

/** Ajv as an editor uses a schema: strict about the schema itself, and with the meta-schema of its draft. */
function published(types: ConfigurableTypes) {
  return new Ajv2020({
    strictSchema: true,
    allowUnionTypes: true,
    allErrors: true,
    validateFormats: false,
  }).compile(jsonSchema(types))
}

/** Keys of the schema's objects, and whether something is said about each. */
function* keysOf(schema: unknown, path: string): Generator<[path: string, described: boolean]> {
  if (typeof schema !== 'object' || schema === null) return
  const { properties, additionalProperties, items, ...rest } = schema as Record<string, unknown>
  for (const [key, value] of Object.entries(properties ?? {})) {
    yield [`${path}/${key}`, typeof value.description === 'string' && value.description.endsWith('.')]
    yield* keysOf(value, `${path}/${key}`)
  }
  yield* keysOf(additionalProperties, `${path}/*`)
  yield* keysOf(items, `${path}/*`)
  for (const keyword of ['then', 'else'] as const) yield* keysOf(rest[keyword], path)
}

describe('the published schema', () => {
  // `npx vitest run --project unit test/config/schema.test.ts -u` writes it anew.
  it('is baudway.schema.json', async () => {
    await expect(jsonSchemaText(await catalogue())).toMatchFileSnapshot(join(ROOT, 'baudway.schema.json'))
  })

  it('is a valid schema of its draft', async () => {
    expect(jsonSchema(await catalogue()).$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(published(await catalogue())).toBeTypeOf('function')
  })

  it('explains every key of the file in a sentence', () => {
    const keys = [...keysOf(jsonSchema(new Map()), '')]
    expect(keys.length).toBeGreaterThan(60)
    expect(keys.filter(([, described]) => !described)).toEqual([])
  })

  it('has the keys of the contract at the top', () => {
    expect(Object.keys(jsonSchema(new Map()).properties as object)).toEqual([
      ...['http', 'state', 'devicesDir', 'scheduler', 'ports', 'devices', 'never', 'mqtt', 'history', 'mcp'],
    ])
  })

  it('leaves a device the keys of its type and the common ones', () => {
    const validate = published(fakeTypes)
    const device = { id: 'a', type: 'meter', port: 'bus1', address: 1 }
    expect(validate({ devices: [{ ...device, model: 'sdm120', poll: '1s' }] })).toBe(true)
    expect(validate({ devices: [{ ...device, relays: [] }] })).toBe(false)
    expect(validate({ devices: [{ ...device, type: 'relay', relays: [] }] })).toBe(true)
    expect(validate({ devices: [{ ...device, type: 'relay', relays: [{ name: 'x', colour: 1 }] }] })).toBe(
      false,
    )
    expect(validate({ devices: [{ ...device, type: 'metre' }] })).toBe(false)
  })

  it('refuses a type that takes a key of every device for its own', () => {
    const type = fakeTypes.get('co2')
    if (!type) throw new Error('no such type')
    const wrong = { ...type, options: { type: 'object', properties: { poll: { type: 'string' } } } }
    expect(() => jsonSchema(new Map([['co2', wrong]]))).toThrow('device type co2: the key "poll"')
  })
})

describe('the example', () => {
  it('has neither faults nor warnings', async () => {
    const { faults, warnings, configuration } = await loadConfiguration(EXAMPLE, await catalogue())
    expect([...faults, ...warnings].map(formatFault)).toEqual([])
    expect(configuration?.devices.map(({ id, type }) => [id, type])).toEqual([
      ['boiler', 'modbus'],
      ['office_co2', 'mh-z19'],
      ['amp', 'line'],
    ])
  })

  it('fits the published schema, and says where it is', async () => {
    const text = readFileSync(EXAMPLE, 'utf8')
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./baudway.schema.json')
    const validate = published(await catalogue())
    validate(parse(text))
    expect(validate.errors).toBeNull()
  })
})

describe('the samples of the catalogue', () => {
  it('are devices without faults', async () => {
    const deviceTypes = await loadCatalogue()
    const devices = Array.from(deviceTypes.values(), ({ type, sample }, index) => ({
      id: `device_${index}`,
      type,
      port: { path: `/dev/${index}` },
      ...sample,
    }))
    const { faults } = validateConfiguration({ devices }, await catalogue())
    expect(faults.map(formatFault)).toEqual([])
    expect(devices.length).toBeGreaterThan(0)
  })
})
