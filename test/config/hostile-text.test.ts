/** Texts made to hurt: the gateway takes configurations over HTTP too, and must live through each of them. */
import { describe, expect, it } from 'vitest'
import { formatFault } from '../../src/config/fault.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

function printed(text: string): string[] {
  return parseConfiguration(text, 'f', fakeTypes).faults.map(formatFault)
}

describe('a hostile text', () => {
  // Deep flow mappings end the whole process inside the YAML library, with an error that nothing can catch.
  it.each(['[', '{', '{a: ', '- ', '? ', '- [', '[a: ['])('is refused at level 33 of %j', (opening) => {
    const faults = printed(opening.repeat(20_000))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(/^f:1:\d+: nested more than 32 levels deep$/)
  })

  it('is refused at level 33 of indentation', () => {
    const levels = Array.from({ length: 500 }, (_, level) => `${' '.repeat(level)}a:`)
    expect(printed(levels.join('\n'))).toEqual(['f:34:34: nested more than 32 levels deep'])
  })

  it('may be 32 levels deep, where it is then only wrong', () => {
    expect(printed(`a: ${'['.repeat(31)}${']'.repeat(31)}`)).toEqual(['f:1:1: unknown key "a"'])
  })

  it('is refused where its aliases stand for more than 200000 values', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level <= 9; level += 1) {
      const aliases = Array.from({ length: 9 }, () => `*a${level - 1}`)
      lines.push(`a${level}: &a${level} [${aliases.join(', ')}]`)
    }
    const faults = printed(lines.join('\n')).filter((fault) => fault.includes('aliases stand for'))
    // The aliases of lines 2 to 5 stand for 90 + 819 + 7380 + 66429 values, and each of line 6 for 66430.
    expect(faults[0]).toBe('f:6:15: with "*a4" the aliases stand for more than 200000 values')
  })

  it('is refused where aliases make it deeper than it is written', () => {
    const lines = ['a0: &a0 [x]']
    for (let level = 1; level <= 40; level += 1) lines.push(`a${level}: &a${level} [*a${level - 1}]`)
    // a31 is a list in 31 others, all in a mapping: 33 levels.
    expect(printed(lines.join('\n'))).toContain(
      'f:32:12: with "*a30" the nesting is more than 32 levels deep',
    )
  })

  it('is refused unread at more than 1 MiB', () => {
    const faults = ['f:1:1: the file is larger than 1048576 bytes']
    expect(printed('x'.repeat(10_000_000))).toEqual(faults)
    // Two bytes each in UTF-8.
    expect(printed('ü'.repeat(600_000))).toEqual(faults)
  })

  it('has at most 20 faults of syntax told, since most follow from the first', () => {
    const faults = printed(`a: 1\n${'\tb: 2\n'.repeat(100)}`)
    expect(faults).toHaveLength(21)
    expect(faults[0]).toBe('f:2:1: a tab does not indent in YAML (use spaces)')
    expect(faults[20]).toMatch(/^f:\d+:\d+: and more from here on$/)
    expect(printed(']'.repeat(900_000)).slice(19)).toEqual([
      expect.stringMatching(/^f:1:20: not valid YAML: Unexpected flow-seq-end/),
      'f:1:21: and more from here on',
    ])
  })

  it('has all its other faults told', () => {
    const devices = Array.from({ length: 1000 }, (_, index) => `- { id: D${index}, type: nix, port: no }`)
    expect(printed(`devices:\n${devices.join('\n')}`)).toHaveLength(3000)
  })

  it('cannot put a control character into a sentence', () => {
    const [fault] = printed('ports: { "\\e[2Jbus\\n": { path: simulated } }')
    expect(fault).toMatch(/^f:1:10: the key "\\u001b\[2Jbus\\n" must be/)
  })

  // U+009B is ESC [ in one character, and DEL deletes; JSON leaves both as they are.
  it('cannot put a control character into a sentence that JSON does not escape either', () => {
    expect(printed('"\\u009b2J\\u007f": 1')).toEqual(['f:1:1: unknown key "\\u009b2J\\u007f"'])
  })

  it('cannot put one into a sentence of the YAML library', () => {
    expect(printed('%\u009b2J\n---\n')).toEqual(['f:1:1: not valid YAML: Unknown directive %\\u009b2J'])
  })
})
