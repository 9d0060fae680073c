/** A text with faults, and where and how each fault is told. */
import { expect } from 'vitest'
import { formatFault } from '../../src/config/fault.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

export interface InvalidFile {
  readonly what: string
  readonly text: string
  /** As `FILE:LINE:COLUMN: message`, counted by hand; without a message where the words are the YAML library's. */
  readonly faults: readonly string[]
}

export function expectFaults({ text, faults: expected }: InvalidFile): void {
  const { faults, configuration } = parseConfiguration(text, 'f', fakeTypes)
  const printed = faults.map((fault, index) => {
    const place = `${fault.file}:${fault.line}:${fault.column}`
    return expected[index] === place ? place : formatFault(fault)
  })
  expect(printed).toEqual(expected)
  expect(configuration).toBeUndefined()
}
