/**
 * The invariants, held against mistakes: each bug that is planted into the gateway has to be found by the invariant that
 * is there for it, within so many seeds. A checker that finds nothing in a broken gateway proves nothing of a sound one.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { PlantedBug } from './bundle.ts'
import { type Find, hunt, plantedBugs, SEEDS_MAX } from './hunt.ts'
import { INVARIANTS } from './invariants/index.ts'

/** As many processes as run at one time. */
const HUNTS_AT_ONCE = 2
const HUNT_MS = 300_000
/** For the whole file, on a machine that does other things too. */
const PATIENCE_MS = 900_000
const BUGS_PER_INVARIANT = 2

const bugs = await plantedBugs()
const hunts = new Map(bugs.map((bug) => [bug.name, huntOf(bug)]))

interface Hunt {
  readonly bug: PlantedBug
  readonly found: Promise<Find>
  readonly begin: () => Promise<void>
}

function huntOf(bug: PlantedBug): Hunt {
  let resolve: (find: Find) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const found = new Promise<Find>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // Its own test awaits it, and perhaps later than it fails.
  found.catch(() => {})
  const begin = () => hunt(bug, bug.from ?? 1, HUNT_MS).then(resolve, reject)
  return { bug, found, begin }
}

describe('The invariants of the simulator', () => {
  beforeAll(() => {
    const waiting = [...hunts.values()]
    const huntOn = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await next.begin()
    }
    for (let index = 0; index < HUNTS_AT_ONCE; index += 1) void huntOn()
  })

  it.each(INVARIANTS.map(({ name }) => name))('have at least two planted bugs to find by %s', (invariant) => {
    const own = bugs.filter((bug) => bug.invariant === invariant)
    expect(own.length).toBeGreaterThanOrEqual(BUGS_PER_INVARIANT)
  })

  it('are the ones that the planted bugs name', () => {
    const named = new Set(bugs.map(({ invariant }) => invariant))
    expect([...named].sort()).toEqual(INVARIANTS.map(({ name }) => name).sort())
  })

  it.each(bugs.map(({ name, invariant }) => [invariant, name]))(
    'find by %s: %s',
    async (invariant, name) => {
      const find = await hunts.get(name)?.found
      expect(find?.message, `${invariant} found nothing in ${SEEDS_MAX} seeds`).toBeTypeOf('string')
    },
    PATIENCE_MS,
  )
})
