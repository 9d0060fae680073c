import { describe, expect, it } from 'vitest'
import { readArgumentObject, readArguments } from '../../src/cli/tool-arguments.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    channel: { type: 'integer', minimum: 0, maximum: 7 },
    level: { type: 'number' },
    on: { type: 'boolean' },
    text: { type: 'string' },
    mode: { enum: ['heating', 'off', 2, true, null] },
    side: { anyOf: [{ const: 'left' }, { const: 'right' }] },
    fixed: { const: 9600 },
    limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    pair: { type: ['number', 'boolean'] },
    list: { type: 'array' },
    settings: { type: 'object' },
    free: {},
  },
  additionalProperties: false,
}

const read = (...pairs: string[]) => readArguments(pairs, SCHEMA)

describe('an argument of the command line', () => {
  it.each([
    ['channel=3', 3],
    ['channel=-3', -3],
    ['channel=+3', 3],
    ['level=0.5', 0.5],
    ['level=-1e3', -1000],
    ['level=5', 5],
    ['on=true', true],
    ['on=false', false],
    ['text=true', 'true'],
    ['text=12', '12'],
    ['text=', ''],
    ['text=a=b c', 'a=b c'],
    ['mode=off', 'off'],
    ['mode=2', 2],
    ['mode=true', true],
    ['mode=null', null],
    ['side=right', 'right'],
    ['fixed=9600', 9600],
    ['limit=12', 12],
    ['limit=null', null],
    ['pair=false', false],
    ['pair=1.5', 1.5],
    ['list=[1,"a"]', [1, 'a']],
    ['settings={"a":{"b":1}}', { a: { b: 1 } }],
    ['free=17', 17],
    ['free=plain text', 'plain text'],
  ])('%s is %j', (pair, expected) => {
    expect(read(pair)).toEqual({ arguments: { [pair.slice(0, pair.indexOf('='))]: expected } })
  })

  it.each([
    ['channel=3.5', 'channel: "3.5" is not an integer'],
    ['channel=', 'channel: "" is not an integer'],
    ['channel=0x10', 'channel: "0x10" is not an integer'],
    ['channel=9007199254740993', 'channel: "9007199254740993" is not an integer'],
    ['level=ten', 'level: "ten" is not a number'],
    ['level=Infinity', 'level: "Infinity" is not a number'],
    ['level=1e999', 'level: "1e999" is not a number'],
    ['on=1', 'on: "1" is neither true nor false'],
    ['on=True', 'on: "True" is neither true nor false'],
    ['mode=warm', 'mode: "warm" is none of heating, off, 2, true, null'],
    ['side=up', 'side: "up" is none of left, right'],
    ['limit=x', 'limit: "x" is not an integer, or "x" is not null'],
    ['list={"a":1}', 'list: "{"a":1}" is not a JSON array'],
    ['settings=[]', 'settings: "[]" is not a JSON object'],
    [
      'settings={"a":1,"a":2}',
      'settings: "{"a":1,"a":2}" is not JSON: line 1, column 8: the name is given twice',
    ],
    ['channle=1', expect.stringContaining('channle: the tool has no such parameter; did you mean channel?')],
    ['toString=1', expect.stringContaining('toString: the tool has no such parameter')],
    ['channel', '"channel" is not of the form name=value'],
    ['=1', '"=1" is not of the form name=value'],
  ])('%s is named as wrong', (pair, fault) => {
    expect(read(pair)).toEqual({ faults: [fault] })
  })

  it('names every fault of a line', () => {
    expect(read('channel=x', 'on=maybe', 'oops', 'level=1')).toEqual({
      faults: [
        'channel: "x" is not an integer',
        'on: "maybe" is neither true nor false',
        '"oops" is not of the form name=value',
      ],
    })
  })

  it('is not given twice', () => {
    expect(read('channel=1', 'channel=2')).toEqual({ faults: ['channel is given twice'] })
  })

  it('is text for a tool that nobody knows, and anything where a tool takes anything', () => {
    expect(readArguments(['a=1', 'b=x'], undefined)).toEqual({ arguments: { a: '1', b: 'x' } })
    expect(readArguments(['a=1', 'b=x'], { type: 'object' })).toEqual({ arguments: { a: 1, b: 'x' } })
  })

  it('of a tool without parameters is told so', () => {
    const none = { type: 'object', properties: {}, additionalProperties: false }
    expect(readArguments(['a=1'], none)).toEqual({ faults: ['a: the tool takes no arguments'] })
  })
})

describe('the arguments as JSON', () => {
  it('are an object, as the gateway takes it', () => {
    expect(readArgumentObject('{"a":[1]}')).toEqual({ arguments: { a: [1] } })
    expect(readArgumentObject('[1]')).toEqual({ faults: ['--args: "[1]" is not a JSON object'] })
    expect(readArgumentObject('{a:1}')).toEqual({
      faults: ['--args: "{a:1}" is not JSON: line 1, column 2: expected a name in double quotes'],
    })
  })
})
