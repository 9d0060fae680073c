import { describe, expect, it } from 'vitest'
import { labelled, wrapped } from '../../src/cli/wrapped.ts'

const screen = { colour: true, columns: 20 }

describe('sentences on a terminal', () => {
  it('are lines of whole words, the later ones indented a little more', () => {
    expect(wrapped('one two three four five six', '  ', screen)).toEqual([
      '  one two three four',
      '    five six',
    ])
  })

  it('never break a word that is longer than a line', () => {
    const path = '/dev/serial/by-id/usb-FTDI'
    expect(wrapped(`at ${path}`, '', screen)).toEqual(['at', `  ${path}`])
  })

  it('have a label in colour, which takes up no room', () => {
    const plain = { ...screen, colour: false }
    const lines = labelled('in use', 'by process 12 34', '  ', plain, 'red')
    expect(lines).toEqual(['  in use: by process', '    12 34'])
    expect(labelled('in use', 'by process 12 34', '  ', screen, 'red')).toEqual([
      '  \u001b[31min use\u001b[0m: by process',
      '    12 34',
    ])
  })

  it('lose nothing where the label itself is broken', () => {
    const narrow = { colour: true, columns: 8 }
    expect(labelled('no device node', 'x', '', narrow, 'red')).toEqual(['no', '  device', '  node:', '  x'])
  })
})
