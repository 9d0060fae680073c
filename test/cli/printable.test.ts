import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable, printableJson } from '../../src/cli/printable.ts'

describe('printable text', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u009b31mred', 'red'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['bell\u0007 null\u0000 delete\u007f', 'bell null delete'],
    ['abc\u202edcba\u202c', 'abcdcba'],
    ['zero\u200bwidth\ufeff', 'zerowidth'],
    ['line\u2028separator', 'lineseparator'],
    ['half \ud800', 'half '],
    ['22.5 °C, 600 µg/m³, 温度 😀', '22.5 °C, 600 µg/m³, 温度 😀'],
  ])('of %j is %j', (text, expected) => {
    expect(printable(text)).toBe(expected)
  })

  it('never holds a character that a terminal acts upon', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }),
    )
  })
})

describe('printable JSON', () => {
  it('is the same value, and holds nothing that a terminal acts upon but its own line ends', () => {
    const value = fc.jsonValue({ stringUnit: 'binary' })
    fc.assert(
      fc.property(value, (json) => {
        const text = printableJson(json)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(json)))
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }),
    )
  })

  it('escapes the controls that JSON itself lets through', () => {
    expect(printableJson('\u009b31m \u007f \u202e')).toBe('"\\u009b31m \\u007f \\u202e"')
  })
})
