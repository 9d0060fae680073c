import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { type ErrorDetail, GatewayError } from '../../src/errors.ts'
import { argumentCheck } from '../../src/tool/arguments.ts'
import { closed } from '../../src/tool/define-tool.ts'
import type { Arguments, JsonSchema } from '../../src/tool/tool.ts'

const SCHEMA = closed(
  Type.Object({
    level: Type.Integer({ minimum: 0, maximum: 98 }),
    on: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Type.Enum(['heat', 'cool'])),
    zones: Type.Optional(Type.Array(Type.Object({ name: Type.String({ minLength: 1 }) }))),
    options: Type.Optional(Type.Object({ silent: Type.Boolean() })),
  }),
) as JsonSchema

const check = (args: Arguments, schema: JsonSchema = SCHEMA) => argumentCheck('amp__set', schema).check(args)

function faultsOf(args: Arguments, schema: JsonSchema = SCHEMA): readonly ErrorDetail[] {
  const fault = check(args, schema)
  if (!(fault instanceof GatewayError)) throw new Error('the arguments were taken')
  expect(fault.code).toBe('invalid_arguments')
  return fault.details as readonly ErrorDetail[]
}

describe('arguments that fit', () => {
  it('are handed on as they are', () => {
    const args = { level: 5, mode: 'heat', zones: [{ name: 'bath' }] }
    expect(check(args)).toBe(args)
  })

  it('may spell a boolean as text, and only that one is another value', () => {
    const given = { level: 5, on: 'true' }
    expect(check(given)).toEqual({ level: 5, on: true })
    expect(check({ level: 5, on: 'false' })).toEqual({ level: 5, on: false })
    expect(given.on).toBe('true')
  })

  it('are never filled up: a default in the schema is no argument', () => {
    const schema = { type: 'object', properties: { level: { type: 'integer', default: 7 } } }
    expect(check({}, schema)).toEqual({})
  })
})

describe('arguments that do not fit', () => {
  it('have every fault named, each with a JSON pointer', () => {
    expect(faultsOf({ level: 99, on: 'yes', mode: 'warm', zones: [{ name: '' }, {}] })).toEqual([
      { field: '/level', message: '"level" must be <= 98' },
      { field: '/on', message: '"on" must be of type boolean, not string "yes"' },
      { field: '/mode', message: '"mode" must be one of heat, cool' },
      { field: '/zones/0/name', message: '"zones/0/name" must NOT have fewer than 1 characters' },
      { field: '/zones/1/name', message: '"name" is missing' },
    ])
  })

  it('show the first fault in the message, and how many there are besides', () => {
    const fault = check({ mode: 'warm' })
    expect(fault).toMatchObject({
      message: 'amp__set: "level" is missing (and 1 more)',
      field: '/level',
    })
    expect(check({})).toMatchObject({ message: 'amp__set: "level" is missing' })
  })

  it('may have names that nobody expects: each is named, with the one that may have been meant', () => {
    const args = JSON.parse('{"level": 1, "mod": "heat", "a/b~c": 1, "__proto__": 2}') as Arguments
    expect(faultsOf(args)).toEqual([
      { field: '/mod', message: '"mod" is not a parameter', hint: 'did you mean mode?' },
      { field: '/a~1b~0c', message: '"a/b~c" is not a parameter' },
      { field: '/__proto__', message: '"__proto__" is not a parameter' },
    ])
  })

  it('are not made to fit: no number of a text, no boolean of a number, nothing within another value', () => {
    const cases: readonly [Arguments, string, string][] = [
      [{ level: '5' }, '/level', '"level" must be of type integer, not string "5"'],
      [{ level: 5.5 }, '/level', '"level" must be of type integer, not number 5.5'],
      [{ level: null }, '/level', '"level" must be of type integer, not null'],
      [{ level: [5] }, '/level', '"level" must be of type integer, not an array'],
      [{ level: {} }, '/level', '"level" must be of type integer, not an object'],
      [{ level: 5, on: 1 }, '/on', '"on" must be of type boolean, not number 1'],
      [{ level: 5, on: 'TRUE' }, '/on', '"on" must be of type boolean, not string "TRUE"'],
      [
        { level: 5, options: { silent: 'true' } },
        '/options/silent',
        '"options/silent" must be of type boolean, not string "true"',
      ],
    ]
    for (const [args, field, message] of cases) {
      expect(faultsOf(args), JSON.stringify(args)).toEqual([{ field, message }])
    }
  })

  it('are cut short where they are shown', () => {
    expect(faultsOf({ level: 'x'.repeat(10_000) })[0]?.message.length).toBeLessThan(120)
  })

  it('may not be more than 64 KiB of JSON', () => {
    const schema = { type: 'object' }
    const text = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
    expect(check(text(65_536), schema)).not.toBeInstanceOf(GatewayError)
    expect(faultsOf(text(65_537), schema)).toEqual([
      { field: '', message: 'the arguments of amp__set are 65537 bytes of JSON, more than 65536' },
    ])
    // Three bytes each.
    expect(check({ text: '€'.repeat(30_000) }, schema)).toBeInstanceOf(GatewayError)
  })

  it('are a fault of the call also where a caller in the same process gives what no JSON can be', () => {
    const round: Record<string, unknown> = { level: 5 }
    round.self = round
    for (const args of [round, { level: 5n }]) {
      expect(faultsOf(args)).toEqual([{ field: '', message: 'the arguments of amp__set are no JSON data' }])
    }
    expect(faultsOf({ level: Number.NaN })).toMatchObject([{ field: '/level' }])
    expect(faultsOf({ level: () => 5 })).toMatchObject([{ field: '/level' }])
  })
})

describe('a schema', () => {
  it('may be used by several tools, of one gateway or of two, also where it has an id', () => {
    const schema = {
      $id: 'https://example.org/level',
      type: 'object',
      properties: { level: { type: 'integer' } },
    }
    for (const copy of [schema, schema, { ...schema }]) {
      expect(check({ level: 'x' }, copy)).toBeInstanceOf(GatewayError)
      expect(check({ level: 1 }, copy)).toEqual({ level: 1 })
    }
  })

  it('may say more than validation knows', () => {
    const level = { type: 'integer', unit: '%', format: 'percentage' }
    expect(check({ level: 1 }, { type: 'object', properties: { level } })).toEqual({ level: 1 })
  })
})
