/** The short run; `npm run soak:fuzz` is the long one. */
import { afterAll, describe, it } from 'vitest'
import { configurations } from './configuration.ts'
import { decoders } from './decoders.ts'
import { FRAMERS } from './framers.ts'
import { httpBodies } from './http-bodies.ts'

const http = await httpBodies()
const properties = [...FRAMERS, ...(await decoders()), ...(await configurations()), ...http.properties]

afterAll(() => http.bench.gateway.close())

describe('whatever comes', { timeout: 60_000 }, () => {
  it.each(properties)('$name keeps its promises', ({ runs, check }) => check({ numRuns: runs }))
})
