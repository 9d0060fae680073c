/** What the tests of all new device files have in common. */

export interface TestWords {
  readonly name: string
  /** The device file, as the test imports it. */
  readonly deviceFile: string
  /** Where the rules for every type are, as the test imports them; undefined: outside of a checkout. */
  readonly contract: string | undefined
}

/** How a test of vitest begins, in a checkout. */
export function contractTest({ name, deviceFile, contract }: TestWords): string {
  return `import { expect, test } from 'vitest'
import device from '${deviceFile}'
import { gradeOf, obstaclesTo } from '${contract}'

// bronze, silver, gold or platinum: what the type passes of docs/adding-a-device.md, "The rules of the grades". A type
// may well have a lower one, as long as the reason is the device and not the file: then say so here.
const GRADE = 'platinum'

test('${name} keeps every rule of its grade, and of those below it', async () => {
  expect(await obstaclesTo(GRADE, device)).toEqual([])
  expect(await gradeOf(device)).toBe(GRADE)
})
`
}
