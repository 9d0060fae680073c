/**
 * The short run; `npm run soak:fuzz` is the long one. FUZZ_TIMES=10 tries ten times as many inputs. A failure prints
 * its seed and path, which `fc.assert` takes.
 */
import { afterAll, describe, it } from 'vitest'
import { CHECK_MS_MAX } from './fuzz-property.ts'
import { fuzzProperties } from './properties.ts'

const times = Number(process.env.FUZZ_TIMES ?? '1')
if (!(times > 0)) throw new Error('FUZZ_TIMES takes a number above 0')
const { properties, close } = await fuzzProperties()

afterAll(close)

describe('whatever comes', { timeout: 60_000 * times }, () => {
  for (const { name, runs, check } of properties) {
    it(`${name} keeps its promises`, () =>
      check({ numRuns: Math.ceil(runs * times), interruptAfterTimeLimit: CHECK_MS_MAX * times }))
  }
})
